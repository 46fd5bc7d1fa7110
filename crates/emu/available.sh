#!/bin/sh
# available.sh [vendored]: prints the feature `ebpf` if this machine can compile it, and otherwise what is missing on the standard error.
# With `vendored` it is `ebpf-vendored`, which compiles libelf and zlib, too.
[ "$(uname -s)" = Linux ] || exit 0
compiler=${CC:-cc}
if [ "$1" = vendored ]; then
    feature=ebpf-vendored
    programs="autoreconf aclocal autopoint bison flex gawk"
    libraries=
    headers=
    packages="gcc make pkg-config autoconf automake autopoint bison flex gawk"
else
    feature=ebpf
    programs=
    libraries="libelf.a libz.a"
    headers="gelf.h zlib.h"
    packages="gcc make pkg-config libelf-dev zlib1g-dev"
fi
missing=
for program in "$compiler" make pkg-config $programs; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
for library in $libraries; do
    case $("$compiler" -print-file-name="$library" 2>/dev/null) in /*) ;; *) missing="$missing $library" ;; esac
done
for header in $headers; do
    echo "#include <$header>" | "$compiler" -E - >/dev/null 2>&1 || missing="$missing $header"
done
if [ -z "$missing" ]; then
    echo "$feature"
else
    echo "skipped: eBPF controls need$missing (Debian: $packages)" >&2
fi
