#!/bin/bash
# Tasks made faster by the rules on the simulator, one on each core, and what they give back timed on this machine's GPU, at most
# three beside each other: [LIMIT=560] tools/h200/board.sh ASTRA BOARD OUT. BOARD/NAME/task is a task; OUT/board.jsonl gets a line of
# `bench` for each that is done within the limit, OUT/best.tar what came out, OUT/results.tar the result.json of each run or its
# error (tools/real/run --results), and OUT/same.txt the names of those that stay as they are. DEVICE=cuda makes them faster on
# the GPU itself. A table is last.
set -u
cd "$(dirname "$0")/../.." || exit
astra=$(realpath "$1") board=$(realpath "$2") out=$(realpath "$3")
export ASTRA=$astra BOARD=$board OUT=$out
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
one() {
    local run
    run=$(mktemp -d)
    "$ASTRA" optimize "$BOARD/$1/task" --device "${DEVICE:-sim:h200}" --rounds 2 --no-memory --seed 7 --jobs 1 --quiet --out "$run/run" >"$run/log" 2>&1 || {
        tail -n 1 "$run/log" >"$OUT/results/$1.err"
        echo "$1: $(cat "$OUT/results/$1.err")" >>"$OUT/failed.txt"
        return
    }
    cp "$run/run/result.json" "$OUT/results/$1.json"
    if cmp -s "$run/run/best.cu" "$run/run/task/kernel.cu"; then
        echo "$1" >>"$OUT/same.txt"
    else
        mkdir -p "$OUT/best" && cp "$run/run/best.cu" "$OUT/best/$1.cu"
        flock "$OUT/lock$((RANDOM % 3))" "$ASTRA" bench "$BOARD/$1/task" "$run/run/best.cu" --device cuda --json --quiet 2>&1 | tr '\n' ' ' | sed "s/^{/{\"name\": \"$1\", /" >"$run/line"
        (cat "$run/line" && echo) >>"$OUT/board.jsonl"
    fi
    rm -rf "$run"
}
export -f one
mkdir -p "$out/results"
find "$board" -mindepth 2 -maxdepth 2 -name task -printf '%P\n' | sort -R --random-source=<(yes) | sed 's,/task$,,' |
    timeout "${LIMIT:-560}" xargs -P "$(nproc)" -I{} bash -c 'one {}'
for part in best results; do
    [ ! -d "$out/$part" ] || (tar -C "$out/$part" -cf "$out/$part.tar" . && rm -r "${out:?}/$part")
done
sort "$out/failed.txt" 2>/dev/null
echo "as they are: $(sort "$out/same.txt" 2>/dev/null | tr '\n' ' ')"
python3 tools/h200/bench_table.py "$out/board.jsonl"
