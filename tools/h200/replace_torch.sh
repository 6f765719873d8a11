#!/bin/bash
# From a program to its kernels and back, on this machine's GPU: tools/h200/replace_torch.sh OUT_DIR DIST [FILE.cu], where
# DIST is the folder of `make dist`. Needs PyTorch and nvcc, no network. A transformer whose norm, activation and rotary
# embedding are kernels of examples/ is captured; each of the three becomes a task by `astra init --capture`, is optimised by
# the rules, and all are put back into the running program together. Prints a table last; what each step said is in OUT_DIR.
# It ends by itself within eight minutes. FILE.cu, llm.c's train_gpt2_fp32.cu beside its llmc/: replace_llmc.sh with it instead.
set -u
[ $# = 2 ] || [ $# = 3 ] || { echo "usage: tools/h200/replace_torch.sh OUT_DIR DIST [train_gpt2_fp32.cu]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || exec "$here/replace_llmc.sh" "$@"
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
astra=$(cd "$2" && pwd)/bin/astra
[ -x "$astra" ] || { echo "there is no $astra" >&2; exit 2; }
python=${PYTHON:-$(command -v python3)}
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' ||
    { echo "replace_torch.sh: $python has no PyTorch that sees a GPU; PYTHON names one that has" >&2; exit 1; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
left() { echo $((470 - SECONDS)); }

# try NAME SECONDS COMMAND...: its output in OUT_DIR/NAME.txt
try() {
    local name=$1 seconds=$2 status
    shift 2
    [ "$(left)" -gt 5 ] || { echo "$name: no time left"; return 1; }
    timeout "$(($(left) < seconds ? $(left) : seconds))" "$@" >"$out/$name.txt" 2>&1
    status=$?
    printf '%-16s status %d, %3d s: %s\n' "$name" $status $SECONDS "$(tail -1 "$out/$name.txt" | cut -c1-150)"
    return $status
}

cp "$here/../../examples/silu_and_mul_bf16/kernel.cu" silu.cu && cp "$here/../../examples/fused_add_rmsnorm_bf16/kernel.cu" rms.cu &&
    sed -e 's/__half2float/__bfloat162float/g; s/__float2half/__float2bfloat16/g; s/__half/__nv_bfloat16/g; s/cuda_fp16/cuda_bf16/' \
        "$here/../../examples/rotary_embedding/kernel.cu" >rotary.cu || exit 2
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
for name in rms silu rotary; do
    "$nvcc" -arch=native -std=c++17 -O3 -shared -Xcompiler -fPIC -o $name.so $name.cu >"$out/nvcc-$name.txt" 2>&1 &
done
wait
try alone 90 "$python" "$here/replace_torch.py" program "$work" || exit 1
try capture 90 "$astra" capture --keep silu_and_mul_kernel,rotary_embedding_kernel --contents fused_add_rmsnorm_kernel --out seen -- \
    "$python" "$here/replace_torch.py" program "$work" || exit 1
cp seen/ranking.json "$out"
results=()
for name in silu rms rotary; do
    try init-$name 30 "$astra" init $name.cu:"$(grep -o '[a-z_]*_kernel' $name.cu | head -1)" --capture seen --out $name
    cp $name/task.yaml "$out/$name.yaml"
    try optimize-$name 110 "$astra" optimize $name --no-memory --device cuda --out run-$name --rounds 2 --budget-time 50s --min-mutation 0 --quiet
    cp run-$name/result.json "$out/$name.json" 2>/dev/null
    cp run-$name/best.cu "$out/$name-best.cu" 2>/dev/null
    [ -e run-$name/result.json ] && grep -q '"outcome": "improved"' run-$name/result.json && results+=("run-$name")
done
[ ${#results[@]} -gt 0 ] || { echo "no kernel was improved"; exit 1; }
try once 60 "$astra" replace "${results[@]}" --capture seen -- "$python" "$here/replace_torch.py" program "$work"
pairs=$(($(left) / 30)) # two runs each
[ $pairs -lt 6 ] && pairs=6
[ $pairs -gt 10 ] && pairs=10
try pairs 400 "$astra" replace "${results[@]}" --capture seen --pairs $pairs --metric 'tokens/s: ([0-9.]+)' --json --quiet -- \
    "$python" "$here/replace_torch.py" program "$work" && sed -n '/^{/,$p' "$out/pairs.txt" >"$out/replace.json"
echo
"$python" "$here/replace_torch.py" table "$out" | tee "$out/table.txt"
echo "$SECONDS s"
