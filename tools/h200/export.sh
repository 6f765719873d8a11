#!/bin/bash
# Takes the paper's three kernels home to PyTorch on this machine: tools/h200/export.sh OUT_DIR [RUN]...
# Each RUN is a finished run's folder; without one the three are optimised here first, two rounds each (DEVICE: cuda, or
# sim). Then `astra export --to torch`, the extension and its original built side by side, its test on the GPU, and the
# .cu file compiled alone. Prints a row for each; OUT_DIR/NAME.log has what was said. Without a GPU the tests are not
# run, and the row says so. No network is needed, and no ninja. ASTRA: the binary; PYTHON: one that has PyTorch; ARCH:
# of the .cu file's own compile (sm_90).
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
astra=${ASTRA:-$here/build/astra}
python=${PYTHON:-python3}
[ $# -ge 1 ] || { echo "usage: tools/h200/export.sh OUT_DIR [RUN]..." >&2; exit 2; }
mkdir -p "$1" || exit 1
out=$(cd "$1" && pwd)
shift
[ -n "${CUDA_HOME:-}" ] || [ ! -d /usr/local/cuda ] || export CUDA_HOME=/usr/local/cuda
PATH=${CUDA_HOME:+$CUDA_HOME/bin:}$PATH
gpu=$("$python" -c 'import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else "")') ||
    { echo "export.sh: $python has no PyTorch; PYTHON names one that has" >&2; exit 1; }
"$python" -c 'import sys, torch; print(f"Python {sys.version.split()[0]}, PyTorch {torch.__version__},", sys.argv[1] or "no GPU")' "$gpu"

if [ $# = 0 ]; then
    for name in silu_and_mul fused_add_rmsnorm merge_attn_states; do
        rm -rf "$out/run-$name"
        "$astra" optimize "$here/examples/$name" --no-memory --device "${DEVICE:-cuda}" --rounds 2 --quiet --out "$out/run-$name" \
            >"$out/run-$name.log" 2>&1 || { echo "$name was not optimised:"; tail -5 "$out/run-$name.log"; }
        set -- "$@" "$out/run-$name"
    done
fi

# build NAME RUN: everything that needs no GPU; its words in NAME.log, its seconds in NAME.built when all went well.
build()
{
    local start=$SECONDS
    rm -rf "${out:?}/$1" "$out/$1.built" "$out/$1.cu"
    "$astra" export "$2" --to torch --out "$out/$1" && "$astra" export "$2" --to cuda --out "$out/$1.cu" &&
        [ -f "$out/$1.cu" ] && nvcc -arch="${ARCH:-sm_90}" -c -o "$out/$1.o" "$out/$1.cu" && cd "$out/$1" &&
        ASTRA_WITH_ORIGINAL=1 timeout 500 "$python" setup.py build_ext --inplace && echo $((SECONDS - start)) >"$out/$1.built"
}

names=()
for run in "$@"; do
    name=$(basename "$run")
    name=${name#run-}
    names+=("$name")
    (build "$name" "$run") >"$out/$name.log" 2>&1 &
done
wait

status=0
printf '%-24s %-14s %s\n' kernel build test
for name in "${names[@]}"; do
    built=failed test='not run'
    if [ -f "$out/$name.built" ]; then
        built="$(cat "$out/$name.built") s"
        if [ -z "$gpu" ]; then
            test='not run: no GPU'
        elif (cd "$out/$name" && timeout 600 "$python" test/test_op.py -v) >>"$out/$name.log" 2>&1; then
            test="passed: $(grep -E '^Ran [0-9]+ tests? in' "$out/$name.log" | tail -1)"
        else
            test="FAILED: $(grep -E '^(FAILED|Ran) ' "$out/$name.log" | tail -1)" status=1
        fi
    else
        status=1
    fi
    printf '%-24s %-14s %s\n' "$name" "$built" "$test"
done
[ $status = 0 ] || echo "the words are in $out/NAME.log"
exit $status
