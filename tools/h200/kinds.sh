#!/bin/bash
# Times on this machine's GPU, beside each other, with a table last: [LOT=4] tools/h200/kinds.sh ASTRA OUT [BOARD]
# - the kinds of tools/clock/kinds.tsv, against what was predicted (docs/results/clock/kinds-modelled.csv); with LOT=N those
#   of docs/results/clock/kinds-N against kinds-N-modelled.csv; ONLY="NAME ..." some of them;
# - BOARD/NAME: a task with a best.cu of it, timed against its original, one JSON object each in OUT/board.jsonl.
set -u
cd "$(dirname "$0")/../.." || exit
astra=$(realpath "$1") out=$(realpath "$2") board=${3:-}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
lot=kinds${LOT:+-$LOT}
tasks=${ONLY:-${LOT:+$(ls "docs/results/clock/$lot")}}
# shellcheck disable=SC2086 # one word a task
timeout "${LIMIT:-360}" python3 tools/clock/kinds.py "$astra" "${DEVICE:-cuda}" $tasks >"$out/$lot.csv" 2>"$out/kinds.err" &
if [ -n "$board" ]; then
    find "$board" -mindepth 1 -maxdepth 1 -type d | sort | ASTRA=$astra xargs -P 4 -I{} timeout 120 sh -c \
        '"$ASTRA" bench {} {}/best.cu --device cuda --json --quiet 2>&1 | tr "\n" " "; echo' >"$out/board.jsonl"
fi
wait
cat "$out/kinds.err"
for differ in 5 10 20; do
    python3 tools/clock/fit.py "$out/$lot.csv" "docs/results/clock/$lot-modelled.csv" --by task --differ "$differ"
done
[ -z "$board" ] || python3 tools/h200/bench_table.py "$out/board.jsonl"
