#!/usr/bin/env bash
# build.sh [OBJECT]: compiles the program of the kernel, by default into src/ebpf/control.bpf.o, and writes the hashes of all its sources
# beside it. Needs clang and llvm-strip 14 or later. A test compares the hashes, so that no changed source is forgotten.
set -euo pipefail
object=$(realpath "${1:-$(dirname "$0")/../src/ebpf/control.bpf.o}")
cd "$(dirname "$0")"

# The types (BTF) come from the debug information, which then goes. Paths in it must not depend on the machine.
clang -O2 -g -target bpf -mcpu=v3 -fdebug-compilation-dir=. -Wall -Werror -Wno-unused-function -c control.bpf.c -o "$object"
llvm-strip -g "$object"
{
    echo "# $(clang --version | head -n 1)"
    clang -MM -target bpf control.bpf.c | sed 's/^[^:]*://; s/\\$//' | tr -s ' ' '\n' | sed '/^$/d' | LC_ALL=C sort | xargs sha256sum
    echo "$(sha256sum <"$object" | cut -d ' ' -f 1)  ../src/ebpf/control.bpf.o"
} >"$object.sha256"
