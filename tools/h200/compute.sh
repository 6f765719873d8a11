#!/bin/bash
# Products and attention by whole runs of the rules, beside torch's: tools/h200/compute.sh OUT_DIR [LIMIT]
#
# All at once on one GPU, which one of them uses at a time: compiling and the simulator fill the cores meanwhile. What has
# not ended after LIMIT seconds (default 480) has no row. PRODUCTS (TYPE-MxNxK), ATTENTION (MASK-HxDxN) and JOBS change what
# is run. ASTRA and APPLY: the binaries. Needs PyTorch for the last columns.
set -u
[ $# -ge 1 ] || { echo "usage: tools/h200/compute.sh OUT_DIR [LIMIT]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) limit=${2:-480}
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
for p in ${PRODUCTS-f16-4096x4096x4096 f16-8192x8192x8192 f16-1024x1024x1024 f16-4096x4096x512 f16-128x4096x4096 f32-4096x4096x4096}; do
    timeout "$limit" python3 "$here/products.py" "$out/$p" --types "${p%%-*}" --sizes "${p#*-}" --rounds 2 --candidates 6 \
        --jobs "${JOBS:-2}" >"$out/$p.txt" 2>&1 &
done
for p in ${ATTENTION-all-16x128x4096 causal-16x128x4096 all-16x64x4096 causal-16x64x4096}; do
    timeout "$limit" python3 "$here/attention.py" "$out/$p" --masks "${p%%-*}" --shapes "${p#*-}" --jobs "${JOBS:-2}" \
        >"$out/$p.txt" 2>&1 &
done
wait
for p in "$out"/*.txt; do
    row=$(grep '^| f' "$p" | grep -v '|---')
    echo "${row:-| $(basename "$p" .txt) | no row: $(tail -n 1 "$p" | cut -c 1-200) |}"
done
# When each run came how far, and what did not pass.
python3 - "$out" <<'PY'
import glob, json, os, sys
for path in sorted(glob.glob(sys.argv[1] + "/*/run-*.jsonl")):
    told, last = [], 0
    for line in open(path):
        try:
            e = json.loads(line)
        except ValueError:
            continue
        last = e.get("t_s", last)
        if e["event"] == "judged" and e.get("verdict") != "passed":
            told.append(f"{last:.0f} s: {e.get('label')}: {e.get('verdict')}: {str(e.get('words'))[:300]}")
        elif e["event"] == "doing":
            told.append(f"{last:.0f} s: {e.get('text')}")
    print(os.path.basename(path), f"ended after {last:.0f} s")
    print("\n".join("    " + t for t in told[-12:]))
PY
echo "$SECONDS s"
