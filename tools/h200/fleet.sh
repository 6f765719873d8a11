#!/bin/bash
# Candidates an hour by number of workers: tools/h200/fleet.sh ASTRA OUT_DIR cores|gpus
#
# cores: 1 and 4 workers on the simulator, as --jobs and as commands (--workers), each run alone on the machine and
# with the same seed: the same candidates; and how long `astra node` takes to greet. gpus: one GPU against all, as many
# workers a GPU. Runs end before their confirmation, which is of one candidate. OUT_DIR/NAME.jsonl has the events of each run. TASKS, CANDIDATES, TUNE, ROUNDS, LIMIT (seconds a run,
# of gpus) and MANY (workers) change what is run. About four minutes a mode.
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
    each=$((each > 8 ? 8 : each))
    for task in ${TASKS:-fused_add_rmsnorm}; do
        one "$task-gpus-1" "$task" --device cuda:0 --jobs "$each" --budget-time "${LIMIT:-60}"
        one "$task-gpus-$gpus" "$task" --device cuda:all --jobs $((each * gpus)) --budget-time "${LIMIT:-60}"
    done
fi

python3 - "$astra" "$out" "$mode" <<'PY'
import glob, json, os, subprocess, sys, time

astra, out, mode = sys.argv[1:]


def events(path):
    with open(path) as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # of a run that was killed


def phases(path):
    """Judged and the time of it, by phase; how busy workers were: (candidates, timed, seconds, busy seconds, serial seconds)."""
    at, busy, alone, first, last, judged, timed, whole = {}, 0.0, 0.0, None, None, 0, 0, 0.0
    full, under_way, before = {}, 0, None
    for e in events(path):
        name, t = e["event"], e["t_s"]
        whole = t
        if name == "doing" and "confirms" in e.get("text", ""):
            break
        if before is not None and first is not None:
            full[under_way] = full.get(under_way, 0.0) + t - before
        before = t
        if name == "submitted" and first is None:
            first = t
        elif name == "started":
            at[e["label"]] = t
            under_way += 1
        elif name == "judged":
            judged, last = judged + 1, t
            busy += t - at.pop(e["label"], t)
            under_way = max(0, under_way - 1)
        elif name == "tune_point":
            timed, last = timed + 1, t
    span = (last or 0) - (first or 0)
    return judged, timed, span, busy, whole, full


rows = {}
print("%-34s %10s %8s %8s %14s %9s %9s" % ("run", "judged", "timed", "s", "candidates/h", "times one", "end at s"))
for path in sorted(glob.glob(os.path.join(out, f"*-{'gpus' if mode == 'gpus' else '[jw]*'}-*.jsonl"))):
    name = os.path.basename(path)[:-6]
    what, n = name.rsplit("-", 1)
    judged, timed, span, busy, whole, full = phases(path)
    rows[(what, int(n))] = (judged + timed) / span if span > 0 else 0
    base = rows.get((what, 1))
    print("%-34s %10d %8d %8.1f %14.0f %9s %9.1f" % (
        name, judged, timed, span, 3600 * (judged + timed) / span if span > 0 else 0,
        "%.2f" % (rows[(what, int(n))] / base) if base else "-", whole))
    print("    seconds with so many candidates at workers: " + ", ".join("%d: %.1f" % x for x in sorted(full.items())))

if mode == "cores":
    took = []
    for _ in range(11):
        start = time.monotonic()
        node = subprocess.Popen([astra, "node"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        node.stdout.readline()
        took.append(time.monotonic() - start)
        node.stdin.close()
        node.wait()
    took.sort()
    print("a node greets after %.0f ms (median of 11, at most %.0f ms)" % (1e3 * took[5], 1e3 * took[-1]))
PY
