#!/bin/bash
# Candidates a second of a campaign by runs at a time and GPUs: tools/h200/campaign.sh ASTRA OUT_DIR
#
# The same campaign of examples (TASKS), each time alone on the machine and with the same seeds: on one GPU one run after the
# other and two together, and where there are more GPUs on all of them, with TOGETHER (default: one and two a GPU) runs. All
# counts, confirmations too. LIMIT: seconds for each. OUT_DIR/NAME.jsonl has the events. Prints a table.
set -u
[ $# = 2 ] || { echo "usage: tools/h200/campaign.sh ASTRA OUT_DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd)
astra=$(realpath "$1")
mkdir -p "$2" || exit 1
out=$(cd "$2" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1

one() { # NAME DEVICE TOGETHER
    local tasks=()
    for task in ${TASKS:-silu_and_mul fused_add_rmsnorm softmax merge_attn_states histogram transpose}; do
        tasks+=("$here/examples/$task")
    done
    local begin=$SECONDS
    timeout "${LIMIT:-300}" "$astra" optimize "${tasks[@]}" --out "$work/$1" --device "$2" --together "$3" --no-memory --seed 7 \
        --hidden-seed 11 --min-mutation 0 --rounds "${ROUNDS:-1}" --candidates "${CANDIDATES:-24}" --tune-budget "${TUNE:-0}" \
        --quiet --trace "$out/$1.jsonl" >"$out/$1.txt" 2>"$out/$1.log"
    echo "$? $((SECONDS - begin)) $2 $3" >"$out/$1.end"
    cp "$work/$1/campaign.json" "$out/$1.json"
}

one one cuda:0 1
one two-together cuda:0 2
if [ "$gpus" -gt 1 ]; then
    for n in ${TOGETHER:-$gpus $((2 * gpus))}; do
        one "all-$n" cuda:all "$n"
    done
fi
python3 - "$out" <<'PY'
import glob, json, os, sys

rows = []
for path in glob.glob(sys.argv[1] + "/*.end"):
    name = path[:-4]
    status, wall, device, together = open(path, encoding="utf-8").read().split()
    trials, best = 0, []
    for line in open(name + ".jsonl", encoding="utf-8"):
        e = json.loads(line)
        trials += e["event"] == "trial" and e.get("id", 0) > 0
    for k in json.load(open(name + ".json", encoding="utf-8"))["kernels"]:
        best.append(f"{k['name'][:8]} {k['speedup'] or 0:.2f}")
    rows.append((int(wall), f"| {device} | {together} | {trials} | {wall} s | {trials / int(wall):.2f} | {', '.join(best)} | {status} |"))
print("| device | together | versions | wall | a second | speed-ups | status |\n|---|---:|---:|---:|---:|---|---:|")
print("\n".join(r[1] for r in sorted(rows, reverse=True)))
PY
