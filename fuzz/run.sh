#!/usr/bin/env bash
# Fuzzes the scenario reader and the engine for some seconds, 60 unless told: fuzz/run.sh [SECONDS]
# With cargo-fuzz and a nightly toolchain by coverage, with plain mutation of the examples otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
seeds=(scenarios/*.toml papers/*/scenario*.toml)

if cargo fuzz --version >/dev/null 2>&1 && cargo +nightly --version >/dev/null 2>&1; then
    mkdir -p fuzz/corpus/scenario
    cp --update "${seeds[@]}" fuzz/corpus/scenario/
    # Every word of the examples, for libFuzzer to put together.
    grep -ohE '[A-Za-z_]+' "${seeds[@]}" | sort -u | sed 's/.*/"&"/' >fuzz/corpus/words.dict
    exec cargo +nightly fuzz run scenario -- -max_total_time="$seconds" -max_len=4096 -timeout=20 -dict=fuzz/corpus/words.dict
fi
echo "no cargo-fuzz with a nightly toolchain: plain mutation"
exec cargo run --quiet --release --manifest-path fuzz/Cargo.toml -- "$seconds" "${seeds[@]}"
