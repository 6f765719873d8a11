#!/bin/bash
# Candidates an hour by number of workers: tools/h200/fleet.sh ASTRA OUT_DIR cores|gpus
#
# cores: 1 and 4 workers on the simulator, as --jobs and as commands (--workers), each run alone on the machine and
# with the same seed: the same candidates; and how long `astra node` takes to greet. gpus: one GPU against all, as many
# workers a GPU. Runs end before their confirmation, which is of one candidate. OUT_DIR/NAME.jsonl has the events of each
# run; fleet.py makes the table. TASKS, CANDIDATES, TUNE, ROUNDS, LIMIT (seconds a run, of gpus), EACH (workers a GPU)
# and MANY (workers) change what is run. About four minutes a mode.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
if [ $# != 3 ] || { [ "$3" != cores ] && [ "$3" != gpus ]; }; then
    echo "usage: tools/h200/fleet.sh ASTRA OUT_DIR cores|gpus" >&2
    exit 2
fi
astra=$(realpath "$1") mode=$3 many=${MANY:-4}
mkdir -p "$2" || exit 1
out=$(cd "$2" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

one() { # NAME TASK OPTION...
    local name=$1 task=$2
    shift 2
    rm -f "$out/$name.jsonl"
    "$astra" optimize "$here/examples/$task" --no-memory --seed 7 --hidden-seed 11 --min-mutation 0 \
        --rounds "${ROUNDS:-3}" --candidates "${CANDIDATES:-48}" --tune-budget "${TUNE:-96}" --quiet \
        --out "$work/$name" --trace "$out/$name.jsonl" "$@" >"$out/$name.txt" 2>"$out/$name.log" &
    local run=$! status=0
    while kill -0 $run 2>/dev/null; do # the confirmation is one candidate at one worker, whatever their number
        grep -q 'confirms candidate' "$out/$name.jsonl" 2>/dev/null && { kill -INT $run; break; }
        sleep 0.2
    done
    wait $run || status=$?
    case $status in 0 | 3 | 130) ;; *) echo "$name: exit status $status"; tail -3 "$out/$name.log" ;; esac
    cp "$work/$name/best.cu" "$out/$name.cu" 2>/dev/null
    cp "$work/$name/run.db" "$out/$name.db" 2>/dev/null
}

commands() { # COUNT
    printf 'workers: [{name: here, command: ["%s", node], count: %d}]\n' "$astra" "$1" >"$work/$1.yaml"
    echo "$work/$1.yaml"
}

if [ "$mode" = cores ]; then
    for task in ${TASKS:-fused_add_rmsnorm silu_and_mul}; do
        for n in 1 "$many"; do
            one "$task-jobs-$n" "$task" --device sim --jobs "$n"
            one "$task-workers-$n" "$task" --device sim --workers "$(commands "$n")"
        done
        for run in "jobs-$many" workers-1 "workers-$many"; do
            cmp "$out/$task-jobs-1.cu" "$out/$task-$run.cu" || echo "$task: the best versions differ"
        done
    done
else
    gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)
    each=$(($(nproc) / (gpus > 1 ? gpus : 1)))
    each=${EACH:-$((each > 8 ? 8 : each))}
    for task in ${TASKS:-fused_add_rmsnorm}; do
        one "$task-gpus-1" "$task" --device cuda:0 --jobs "$each" --budget-time "${LIMIT:-60}"
        one "$task-gpus-$gpus" "$task" --device cuda:all --jobs $((each * gpus)) --budget-time "${LIMIT:-60}"
    done
fi

python3 "$here/tools/h200/fleet.py" "$astra" "$out" "$mode"
