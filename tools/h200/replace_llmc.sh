#!/bin/bash
# From a C program that is not ours to its kernels and back, on this machine's GPU: tools/h200/replace_llmc.sh OUT_DIR DIST
# FILE, where FILE is llm.c's train_gpt2_fp32.cu, its folder llmc/ beside it, and DIST the folder of `make dist`. Needs nvcc
# with cuBLAS, and no network: weights and tokens are made up. A few training steps are captured; kernels of the file become
# tasks by `astra init --capture`, are optimised by the rules, and are put back into the program together. Prints a table
# last; what each step said is in OUT_DIR. It ends by itself within eight minutes, or LIMIT seconds.
set -u
[ $# = 3 ] || { echo "usage: tools/h200/replace_llmc.sh OUT_DIR DIST train_gpt2_fp32.cu" >&2; exit 2; }
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
astra=$(cd "$2" && pwd)/bin/astra
[ -x "$astra" ] || { echo "there is no $astra" >&2; exit 2; }
source=$(readlink -f "$3")
[ -e "$(dirname "$source")/llmc/utils.h" ] || { echo "there is no llmc/utils.h beside $3" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
left() { echo $((${LIMIT:-470} - SECONDS)); }

# try NAME SECONDS COMMAND...: its output in OUT_DIR/NAME.txt
try() {
    local name=$1 seconds=$2 status
    shift 2
    [ "$(left)" -gt 5 ] || { echo "$name: no time left"; return 1; }
    timeout "$(($(left) < seconds ? $(left) : seconds))" "$@" >"$out/$name.txt" 2>&1
    status=$?
    printf '%-34s status %d, %3d s: %s\n' "$name" $status $SECONDS "$(tail -1 "$out/$name.txt" | cut -c1-130)"
    return $status
}

# A model of 6 layers and 81 million numbers, and tokens for 20 steps, in the program's own formats.
python3 - <<'PY' || exit 1
import array, random
random.seed(1)
layers, heads, channels, vocabulary, padded, length = 6, 12, 768, 50257, 50304, 1024
numbers = padded * channels + length * channels + layers * (12 * channels * channels + 13 * channels) + 2 * channels
with open("gpt2_124M.bin", "wb") as file:
    array.array("i", [20240326, 3, length, vocabulary, layers, heads, channels, padded] + [0] * 248).tofile(file)
    some = array.array("f", (random.gauss(0, 0.02) for _ in range(65537)))
    for _ in range(numbers // len(some)):
        some.tofile(file)
    some[: numbers % len(some)].tofile(file)
for name in ("train.bin", "val.bin"):
    n = 4 * 1024 * 20 + 1
    with open(name, "wb") as file:
        array.array("i", [20240520, 1, n] + [0] * 253).tofile(file)
        array.array("H", (random.randrange(vocabulary) for _ in range(n))).tofile(file)
PY
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
try nvcc 100 "$nvcc" -O3 --use_fast_math -std=c++17 -arch=native "$source" -lcublas -lcublasLt -o train || exit 1
program=(./train -i train.bin -j val.bin -b 4 -t 1024 -v 1000 -m 1 -s 1000 -g 8)
kernels=(layernorm_forward_kernel3 softmax_forward_kernel5 residual_forward_kernel gelu_forward_kernel)
try alone 60 "${program[@]}" || exit 1
try capture 60 "$astra" capture --keep "$(IFS=,; echo "${kernels[*]}")" --out seen -- "${program[@]}" || exit 1
cp seen/ranking.json "$out"
results=()
for name in "${kernels[@]}"; do
    try "init-$name" 30 "$astra" init "$source:$name" --capture seen --out "$name"
    printf 'flags: [--use_fast_math]\n' >>"$name/task.yaml" && cp "$name/task.yaml" "$out/$name.yaml"
    try "optimize-$name" 75 "$astra" optimize "$name" --no-memory --device cuda --out "run-$name" --rounds 2 --budget-time 30s --min-mutation 0 --quiet
    cp "run-$name/result.json" "$out/$name.json" 2>/dev/null
    cp "run-$name/best.cu" "$out/$name-best.cu" 2>/dev/null
    [ -e "run-$name/result.json" ] && grep -q '"outcome": "improved"' "run-$name/result.json" && results+=("run-$name")
done
[ ${#results[@]} -gt 0 ] || { echo "no kernel was improved"; exit 1; }
try once 60 "$astra" replace "${results[@]}" --capture seen -- "${program[@]}"
try pairs 400 "$astra" replace "${results[@]}" --capture seen --pairs 8 --metric 'total average iteration time: ([0-9.]+)' --quiet -- "${program[@]}"
{
    echo
    head -12 "$out/capture.txt" | cut -c1-150
    for name in "${kernels[@]}"; do
        printf '%-28s %s\n' "$name" "$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
s = r["speedup"]
print("%.3fx alone (%s to %s), %s" % (s["geomean"], s["low"], s["high"], r["outcome"]))' "$out/$name.json" 2>/dev/null || echo "no result")"
    done
    grep -h 'launches: \|not prepared\|^[a-z_0-9]*:$' "$out/once.txt"
    grep -h 'median of\|no difference' "$out/pairs.txt"
    echo "last step: $(grep -h '^step' "$out/alone.txt" | tail -1 | cut -c1-50) as it is; $(grep -h '^step' "$out/once.txt" | tail -1 | cut -c1-50) replaced"
    echo "$SECONDS s"
} | tee "$out/table.txt"
