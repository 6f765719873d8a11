#!/bin/bash
# Measures launcher files on the GPU of this machine: tools/h200/run.sh OUT_DIR [TASK=FILE.cu ...]
# Writes OUT_DIR/bench.csv (examples, production versions, points, the given files), OUT_DIR/micro.csv and clocks.
# Changes no setting of the GPU. BUILD_ONLY=1 stops after the build; SKIP_MICRO=1 leaves the micro-benchmarks out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ]; then
    echo "usage: tools/h200/run.sh OUT_DIR [TASK=FILE.cu ...]" >&2
    exit 2
fi
out=$1
shift
mkdir -p "$out" || exit 1
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
export nvcc build

python3 "$here/manifest.py" "$here/../../examples" "$here/../../docs/results/versions" "$build" "$@" || exit 2

# One CUDA runtime for the program and all the libraries that it loads. A version that does not build gets no
# library, and a row that says so.
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
shared=(-arch=sm_90 -std=c++17 -cudart shared -Xlinker "-rpath,$toolkit/lib64:$toolkit/targets/x86_64-linux/lib")
export shared_flags="${shared[*]}"
build_library() {
    read -r library source flags <<<"$1"
    # shellcheck disable=SC2086
    "$nvcc" $shared_flags $flags -shared -Xcompiler -fPIC -o "$library" "$source" 2>"$library.log" ||
        { echo "does not build: $source" >&2; head -5 "$library.log" >&2; rm -f "$library"; }
}
export -f build_library
start=$SECONDS
"$nvcc" "${shared[@]}" -o "$build/micro" "$here/micro.cu" &
micro=$!
"$nvcc" "${shared[@]}" -o "$build/bench" "$here/bench.cu" -ldl &
bench=$!
xargs -P "$(nproc)" -d '\n' -I{} bash -c 'build_library "$1"' _ {} <"$build/commands"
wait "$bench" || exit 1
wait "$micro" || exit 1
echo "built $(find "$build" -name '*.so' | wc -l) of $(wc -l <"$build/commands") versions in $((SECONDS - start)) s" >&2
[ -n "${BUILD_ONLY:-}" ] && exit 0

nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE >"$out/clocks-before.txt" 2>&1
"$build/bench" "$build/manifest" "$out/bench.csv" || exit 1
nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE >"$out/clocks-after.txt" 2>&1
echo "timed in $((SECONDS - start)) s since the build began" >&2
[ -n "${SKIP_MICRO:-}" ] || "$build/micro" "$out/micro.csv" || echo "micro-benchmarks stopped early" >&2
python3 "$here/summary.py" "$out"
