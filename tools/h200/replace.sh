#!/bin/bash
# astra replace on this machine's GPU, from a program to the program: tools/h200/replace.sh OUT_DIR DIST, where DIST is the
# folder of `make dist`. Needs nvcc. A program of the CUDA runtime is captured, its kernel optimised, and replaced while it
# runs. Prints a table last; what each step said is in OUT_DIR. It ends by itself within three minutes.
set -u
[ $# = 2 ] || { echo "usage: tools/h200/replace.sh OUT_DIR DIST" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
astra=$(cd "$2" && pwd)/bin/astra
[ -x "$astra" ] || { echo "there is no $astra" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# try NAME SECONDS COMMAND...: its output in OUT_DIR/NAME.txt
try() {
    local name=$1 seconds=$2
    shift 2
    timeout "$seconds" "$@" >"$out/$name.txt" 2>&1
    local status=$?
    printf '%-10s status %d: %s\n' "$name" $status "$(tail -1 "$out/$name.txt" | cut -c1-150)"
    return $status
}

cp -r "$here/../../examples/silu_and_mul" task || exit 2
# What the program launches; the last shape stays out of the task.
python3 - task/task.yaml <<'PY'
import re, sys
text = open(sys.argv[1]).read()
text = re.sub(r"workloads:\n(  - .*\n)+", "workloads:\n  - [16, 4096]\n  - [64, 8192]\n  - [4096, 14336]\n", text)
open(sys.argv[1], "w").write(text)
PY
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
try nvcc 60 "$nvcc" -arch=native -std=c++17 --use_fast_math "-DKERNEL=\"$work/task/kernel.cu\"" -o program "$here/replace.cu" || exit 1
{
    try alone 30 ./program
    try capture 30 "$astra" capture --keep silu_and_mul --out seen -- ./program
    try optimize 100 "$astra" optimize task --no-memory --device cuda --out run --rounds 2 --budget-time 60s --quiet
    try replace 30 "$astra" replace run --capture seen -- ./program
    try pairs 60 "$astra" replace run --capture seen --pairs 8 --metric 'layers/s: ([0-9.]+)' -- ./program 100
    try compare 30 "$astra" replace run --capture seen --pairs 1 --compare -- ./program 100 quiet
    cp run/result.json run/best.cu "$out" 2>/dev/null
    echo
    grep -h 'launches: ' "$out/replace.txt"
    grep -h 'not prepared' "$out/replace.txt"
    tail -3 "$out/pairs.txt" | grep -v '^pair\|launches'
    grep -h 'print' "$out/compare.txt"
    echo "$SECONDS s"
} | tee "$out/table.txt"
