#!/bin/sh
# The three kernels of Astra's paper, five rounds each, on the simulated H200 with the built-in rules:
# tools/demo.sh ASTRA [OUT]. No GPU, no network, no key; every time it prints is modelled.
set -eu
astra=$(realpath -- "${1:?usage: tools/demo.sh ASTRA [OUT]}")
out=${2:-astra-runs/demo}
cd -- "$(dirname -- "$0")/.."

start=$(date +%s)
for task in silu_and_mul fused_add_rmsnorm merge_attn_states; do
    printf '\n== %s\n' "$task"
    rm -rf "${out:?}/$task"
    "$astra" optimize "examples/$task" --device sim --agents rules --rounds 5 --no-memory --out "$out/$task"
done
printf '\nall three in %d s; kernels, differences and result.json are in %s\n' $(($(date +%s) - start)) "$out"
