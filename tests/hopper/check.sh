#!/bin/bash
# CUTLASS's kernels for Hopper on the simulator: tests/hopper/check.sh BUILD [RECORDS]
#
# Compiles gemm.cu and fmha.cu with nvcc against CUTLASS (tools/setup.sh hopper), where that was not done before, lets
# them write down their launches, and does these again on the simulator (run_recorded.c). RECORDS: what
# tools/h200/hopper.sh brought from a GPU; then those launches are done again, and their outputs compared. The last
# line is `N passed, N failed`.
set -u
[ $# -ge 1 ] || { echo "usage: tests/hopper/check.sh BUILD [RECORDS]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
records=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")" || exit 2
source=../../.deps/cutlass-4.2.0/cutlass_library/source
out=$build/hopper
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "no nvcc here: nothing is compiled" >&2; exit 1; }
mkdir -p "$out/cases" || exit 2
kept=$(mktemp -d) || exit 2
trap 'rm -rf "$kept"' EXIT

# What record.cu stands before.
wrapped="__cudaRegisterFunction __cudaGetKernel __cudaLaunchKernel cudaLaunchKernel cudaLaunchKernelExC
    cudaDeviceGetAttribute cudaFuncSetAttribute cudaGetLastError cudaPeekAtLastError cudaDeviceSynchronize
    cudaStreamSynchronize cudaGetDevice cudaMemsetAsync"

compile() { # NAME
    [ "$out/$1" -nt "$1.cu" ] && [ "$out/$1" -nt record.cu ] && [ "$out/$1" -nt record.h ] && return
    echo "compiling $1.cu"
    local wraps=
    for f in $wrapped; do
        wraps="$wraps -Xlinker --wrap=$f"
    done
    # shellcheck disable=SC2086  # options are words
    "$nvcc" -std=c++17 -O3 -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' --expt-relaxed-constexpr -DNDEBUG \
        -DCUTLASS_ENABLE_DIRECT_CUDA_DRIVER_CALL=1 -I"$source/include" -I"$source/tools/util/include" \
        -I"$source/examples/88_hopper_fmha" -I. -keep -keep-dir "$kept" -o "$out/$1.new" "$1.cu" record.cu $wraps \
        -Xcompiler -static-libstdc++,-static-libgcc -ldl >"$out/$1.log" 2>&1 || return
    cp "$kept/$1.ptx" "$out" && mv "$out/$1.new" "$out/$1"
}

passed=0 failed=0
for name in gemm fmha; do
    if ! compile $name ||
        ! { [ -n "$records" ] || "$out/$name" "$out/$name.ptx" "$out/cases" >>"$out/$name.log"; }; then
        tail -n 5 "$out/$name.log" >&2
        failed=$((failed + 1))
        continue
    fi
    "$build/tests/hopper/run_recorded" -g gpu.txt "$out/$name.ptx" "${records:-$out/cases}/${name}"_* >"$out/$name.txt"
    count='^[0-9]+ passed, [0-9]+ failed$'
    grep -vE "$count" "$out/$name.txt"
    read -r p _ f _ <<<"$(grep -E "$count" "$out/$name.txt" || echo "0 passed, 1 failed")"
    passed=$((passed + p)) failed=$((failed + f))
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
