#!/bin/sh
# Prints the feature `ebpf` if this machine can compile it, and otherwise what is missing on the standard error.
[ "$(uname -s)" = Linux ] || exit 0
compiler=${CC:-cc}
missing=
for program in "$compiler" make pkg-config; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
for library in libelf.a libz.a; do
    case $("$compiler" -print-file-name=$library 2>/dev/null) in /*) ;; *) missing="$missing $library" ;; esac
done
for header in gelf.h zlib.h; do
    echo "#include <$header>" | "$compiler" -E - >/dev/null 2>&1 || missing="$missing $header"
done
if [ -z "$missing" ]; then
    echo ebpf
else
    echo "skipped: eBPF controls need$missing (Debian: gcc make pkg-config libelf-dev zlib1g-dev)" >&2
fi
