#!/usr/bin/env bash
# Fuzzes the scenario reader and the engine for SECONDS, 60 by default: fuzz/run.sh [SECONDS]
# Coverage guides cargo-fuzz with a nightly toolchain; otherwise the examples are mutated at random.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
seeds=(scenarios/*.toml papers/*/scenario*.toml)

if cargo fuzz --version >/dev/null 2>&1 && cargo +nightly --version >/dev/null 2>&1; then
    mkdir -p fuzz/corpus/scenario
    cp --update "${seeds[@]}" fuzz/corpus/scenario/
    # The dictionary of libFuzzer: every word of the examples.
    grep -ohE '[A-Za-z_]+' "${seeds[@]}" | sort -u | sed 's/.*/"&"/' >fuzz/corpus/words.dict
    exec cargo +nightly fuzz run scenario -- -max_total_time="$seconds" -max_len=4096 -timeout=20 -dict=fuzz/corpus/words.dict
fi
echo "cargo-fuzz or the nightly toolchain is missing: plain mutation"
exec cargo run --quiet --release --manifest-path fuzz/Cargo.toml -- "$seconds" "${seeds[@]}"
