#!/bin/bash
# Optimises on the GPU of this machine, with the rules alone: tools/h200/optimize.sh OUT_DIR [NAME[:production]]...
# NAME is a folder of examples; NAME:production starts from its production.cu. Default: the paper's three kernels from
# both starts. OUT_DIR/NAME[-production].json is result.json as the run wrote it, .cu the best version. ASTRA: the binary.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
astra=${ASTRA:-$here/build/astra}
[ $# -ge 1 ] || { echo "usage: tools/h200/optimize.sh OUT_DIR [NAME[:production]]..." >&2; exit 2; }
mkdir -p "$1" || exit 1
out=$(cd "$1" && pwd)
shift
if [ $# = 0 ]; then
    for name in silu_and_mul fused_add_rmsnorm merge_attn_states; do set -- "$@" "$name" "$name:production"; done
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0
for what in "$@"; do
    name=${what%%:*} label=${what/:/-}
    cp -r "$here/examples/$name" "$work/$label" || exit 1
    if [ "$what" != "$name" ]; then
        sed -i "s/^source:.*/source: ${what#*:}.cu/" "$work/$label/task.yaml"
    fi
    start=$(date +%s.%N)
    "$astra" optimize "$work/$label" --no-memory --device cuda --out "$work/run-$label" --json >"$out/$label.json" 2>"$out/$label.log" ||
        { status=1; tail -5 "$out/$label.log"; continue; }
    end=$(date +%s.%N)
    cp "$work/run-$label/best.cu" "$out/$label.cu"
    python3 - "$out/$label.json" "$label" "$start" "$end" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
s, w = r["speedup"], r["workloads"]
num = lambda x, f="%.3f": "-" if x is None else f % x
print("%-32s %sx [%s, %s], least %sx, copy %s %%..%s %%, %d candidates, %.0f s" % (
    sys.argv[2], num(s["geomean"]), num(s["low"]), num(s["high"]), num(min(x["speedup"] for x in w)),
    num(min(100 * x["light_us"] / x["best_us"] for x in w), "%.0f"),
    num(max(100 * x["light_us"] / x["best_us"] for x in w), "%.0f"),
    r["candidates"]["total"], float(sys.argv[4]) - float(sys.argv[3])))
PY
done
exit $status
