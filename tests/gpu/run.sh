#!/bin/sh
# Runs the conformance cases on this machine's GPU: tests/gpu/run.sh OUT_DIR [CASES], anywhere with gcc and a CUDA driver.
# CASES: their folder, tests/ptx/cases of a `make dist` folder; without it, python3 writes them.
# OUT_DIR/cases.txt: every failure and the counts. OUT_DIR/open.txt: the bits where a case names none.
set -u
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: tests/gpu/run.sh OUT_DIR [CASES]" >&2; exit 2; }
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
bin=$(mktemp -d) || exit 2
trap 'rm -rf "$bin"' EXIT
cases=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")/../.." || exit 2
if [ -z "$cases" ]; then
    cases=$bin/cases
    python3 tests/ptx/generate "$cases" || exit 2
fi
# The program uses neither JSON nor traces: without them it needs no library.
${CC:-gcc} -std=gnu11 -O2 -D_GNU_SOURCE -DBASE_JSON_H -DBASE_TRACE_H -DBASE_MEMBER_H -Wall -Wextra -Wno-missing-field-initializers \
    -Wno-format-truncation -fno-strict-aliasing -ffp-contract=off -Isrc -o "$bin/run_cases" tests/gpu/run_cases.c \
    tests/ptx/case.c src/base/arena.c src/base/bug.c src/base/err.c src/base/fs.c src/base/str.c -ldl -lm || exit 2
"$bin/run_cases" -o "$out/open.txt" "$cases"/*.ptx >"$out/cases.txt" 2>&1
status=$?
tail -n 150 "$out/cases.txt"
exit $status
