#!/usr/bin/env bash
# Fuzzes the scenario reader with the engine, and the reader of scripts, each for SECONDS, 60 by default: fuzz/run.sh [SECONDS]
# Coverage guides cargo-fuzz with a nightly toolchain; otherwise the examples are mutated at random.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

# Fuzzes a target: fuzz TARGET SEED...
fuzz() {
    local target=$1
    shift
    if cargo fuzz --version >/dev/null 2>&1 && cargo +nightly --version >/dev/null 2>&1; then
        mkdir -p "fuzz/corpus/$target"
        cp --update "$@" "fuzz/corpus/$target/"
        # The dictionary of libFuzzer: every word of the examples.
        grep -ohE '[A-Za-z_]+' "$@" | sort -u | sed 's/.*/"&"/' >"fuzz/corpus/$target.dict"
        cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -max_len=4096 -timeout=20 "-dict=fuzz/corpus/$target.dict"
    else
        echo "cargo-fuzz or the nightly toolchain is missing: plain mutation"
        cargo run --quiet --release --manifest-path fuzz/Cargo.toml --bin "$target" -- "$seconds" "$@"
    fi
}

fuzz scenario scenarios/*.toml papers/*/scenario*.toml
fuzz script crates/script/scripts/*.pkt
