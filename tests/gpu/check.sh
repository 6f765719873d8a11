#!/bin/bash
# The simulator against this machine's GPU: make check-gpu, or tests/gpu/check.sh BIN_DIR [OUT_DIR].
# BIN_DIR holds astra, both and verdicts (build after `make check-gpu`, or bin of a `WITH_TESTS=1 make dist` folder).
# Conformance cases, the sanitizer's corpus, the hand-written candidates and the examples, on both devices.
# The last line counts them all.
set -u
[ $# -ge 1 ] || { echo "usage: tests/gpu/check.sh BIN_DIR [OUT_DIR]" >&2; exit 2; }
bin=$(cd "$1" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
gpu=${ASTRA_GPU:-0}
cd "$(dirname "$0")/../.." || exit 2
find_in() { for p in "$bin/$1" "$bin/tests/$1"; do [ -x "$p" ] && { echo "$p"; return; }; done; echo "$1"; }
astra=$(find_in astra)
if ! "$astra" doctor --json | grep -q '"uuid"'; then
    "$astra" doctor | grep -A 3 '^GPU'
    echo "no GPU: nothing is compared"
    exit 1
fi
passed=0 failed=0
count() { # of a log's line "N ... passed, N failed"
    local line
    line=$(grep -E '[0-9]+ [a-z ]*passed, [0-9]+ failed' "$1" | tail -1)
    [ -n "$line" ] || { echo "  $1 has no count: $(tail -1 "$1")"; failed=$((failed + 1)); return; }
    read -r p f <<<"$(echo "$line" | grep -oE "[0-9]+" | tr "\n" " ")"
    passed=$((passed + p)) failed=$((failed + f))
    echo "  $p passed, $f failed"
}

echo "conformance cases (tests/ptx) on the GPU:"
cases=$bin/../tests/ptx/cases # of the folder
[ -d "$cases" ] || cases=$bin/tests/ptx/cases # of the build
[ -d "$cases" ] || cases=
tests/gpu/run.sh "$out" ${cases:+"$cases"} >/dev/null 2>&1
count "$out/cases.txt"
grep -E '^(failed|FAIL)' "$out/cases.txt" | head -20

echo "right and broken kernels (tests/sanitizer) on both:"
"$(find_in both)" "$gpu" tests/sanitizer/right tests/sanitizer/broken >"$out/both.txt" 2>&1
count "$out/both.txt"
grep BAD "$out/both.txt"

echo "cheats, bugs and legitimate kernels (tests/cheats, tests/bugs, tests/legit) judged with the GPU:"
"$(find_in verdicts)" -d "cuda:$gpu" >"$out/verdicts.txt" 2>&1
count "$out/verdicts.txt"
grep 'FAILED' "$out/verdicts.txt"

echo "examples on both (largest error in ulp against the exact answer):"
for dir in examples/*/; do
    name=$(basename "$dir")
    [ -f "$dir/task.yaml" ] || continue
    "$astra" bench "$dir" --device sim --json >"$out/$name.sim.json" 2>"$out/$name.log" &&
        "$astra" bench "$dir" --device "cuda:$gpu" --json >"$out/$name.cuda.json" 2>>"$out/$name.log"
    if python3 - "$name" "$out/$name.sim.json" "$out/$name.cuda.json" <<'PY'
import json, sys
try:
    sim, gpu = (json.load(open(p)) for p in sys.argv[2:])
except Exception as e:
    sys.exit("  %-28s %s" % (sys.argv[1], e))
v, w = sim["verification"], gpu["verification"]
bad = gpu["verdict"] not in ("passed", "slower") or gpu["device"]["basis"] != "measured"
bad |= (w["max_error"] or 0) > max(w["allowed_error"] or 0, v["allowed_error"] or 0)
show = lambda x: "-" if x is None else "%.3f" % x
print("  %-28s simulator %s, GPU %s (allowed %s), %s" % (
    sys.argv[1], show(v["max_error"]), show(w["max_error"]), show(w["allowed_error"]), gpu["verdict"]))
sys.exit(bad)
PY
    then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
