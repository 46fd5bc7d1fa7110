#!/usr/bin/env bash
# Compiles the program of the kernel into src/ebpf/control.bpf.o, with the hashes of all its sources beside it. Needs clang and llvm-strip,
# of LLVM 14 or later; a test compares the hashes, so that a changed source is not forgotten.
set -euo pipefail
cd "$(dirname "$0")"

object=../src/ebpf/control.bpf.o
clang -O2 -g -target bpf -mcpu=v3 -Wall -Werror -Wno-unused-function -c control.bpf.c -o "$object"
# Debug information goes; the types (BTF) stay.
llvm-strip -g "$object"
{
    clang -MM -target bpf control.bpf.c | sed 's/^[^:]*://; s/\\$//' | tr -s ' ' '\n' | sed '/^$/d' | sort
    echo "$object"
} | xargs sha256sum >"$object.sha256"
