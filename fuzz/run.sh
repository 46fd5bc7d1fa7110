#!/usr/bin/env bash
# Fuzzes every target, or those named, each for SECONDS, 60 by default: fuzz/run.sh [SECONDS [TARGET...]]
# libFuzzer guides by coverage, on the stable toolchain. It is written in C++; without a C++ compiler the examples are mutated at random.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift $(($# > 0))
[ $# -gt 0 ] || set -- scenario script har frames host
# A folder of its own, so that neither these flags nor this workspace touch other builds.
target_dir=$PWD/target/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
# As `cargo fuzz` sets them, without the sanitizers, which need a nightly toolchain.
coverage="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1"
for option in level=4 inline-8bit-counters pc-table trace-compares; do coverage+=" -Cllvm-args=-sanitizer-coverage-$option"; done

# The example files of a target.
examples() {
    case $1 in
    scenario) grep -l '^duration' scenarios/*.toml papers/*/*.toml python/ackclock/data/paths/*.toml ;;
    script) ls crates/script/scripts/*.pkt ;;
    har) ls fuzz/examples/*.har ;;
    esac
}

guided() {
    local target=$1 corpus=fuzz/corpus/$1 words=fuzz/corpus/$1.dict
    mkdir -p "$corpus" "fuzz/artifacts/$target"
    # The dictionary of libFuzzer: every word of the examples.
    examples "$target" | xargs -r grep -ohE '[A-Za-z_]{2,40}' | sort -u | sed 's/.*/"&"/' >"$words"
    examples "$target" | tr '\n' '\0' | xargs -0 -r cp --update --parents --target-directory="$corpus"
    # libFuzzer refuses an empty dictionary.
    local dictionary=()
    [ ! -s "$words" ] || dictionary=("-dict=$words")
    echo "fuzz: $target"
    "$target_dir/$host/release/$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 "${dictionary[@]}" -artifact_prefix="fuzz/artifacts/$target/" "$corpus"
}

case $host in *-linux-*) linux=1 ;; *) linux= ;; esac
# An explicit target keeps the flags away from build scripts.
if [ "$linux" ] && command -v "${CXX:-c++}" >/dev/null; then
    RUSTFLAGS=$coverage CARGO_TARGET_DIR=$target_dir cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target "$host"
    for target; do guided "$target"; done
else
    echo "no C++ compiler for libFuzzer, or not Linux: plain mutation"
    for target; do
        case $target in frames | host)
            echo "skipped: the target $target needs libFuzzer"
            continue ;;
        esac
        examples "$target" | tr '\n' '\0' |
            CARGO_TARGET_DIR=$target_dir xargs -0 cargo run --quiet --release --manifest-path fuzz/Cargo.toml --bin "$target" -- "$seconds"
    done
fi
