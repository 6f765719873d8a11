#!/bin/bash
# astra capture on this machine's GPU beside torch.profiler: tools/h200/capture.sh OUT_DIR DIST, where DIST is the folder of
# `make dist`. Needs PyTorch; nvcc for the program of the CUDA runtime. Prints a table last; everything else is in OUT_DIR.
# HOWS (eager graphs compiled), STEPS (of decoding) and WAYS change what is run. It ends by itself after LIMIT (225) seconds.
# A third word, replace: `astra replace` instead (replace.sh), without PyTorch.
set -u
[ $# = 2 ] || [ "$#/${3-}" = 3/replace ] || { echo "usage: tools/h200/capture.sh OUT_DIR DIST [replace]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 2 ] || exec "$here/replace.sh" "$1" "$2"
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
astra=$(cd "$2" && pwd)/bin/astra
[ -x "$astra" ] || { echo "there is no $astra" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export TORCHINDUCTOR_CACHE_DIR=$work/inductor
cd "$work" || exit 2
left() { echo $((${LIMIT:-225} - SECONDS)); }

# try NAME COMMAND...: its output in OUT_DIR/NAME.txt
try() {
    local name=$1
    shift
    [ "$(left)" -gt 10 ] || { echo "no time left" >"$out/$name.txt"; return; }
    timeout "$(( $(left) < 70 ? $(left) : 70 ))" "$@" >"$out/$name.txt" 2>&1 || echo "status $?" >>"$out/$name.txt"
}

# The runtime, linked statically and not, by nvcc.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
"$nvcc" -arch=native -std=c++17 -o static "$here/capture.cu" 2>"$out/nvcc.txt" &
"$nvcc" -arch=native -std=c++17 -cudart shared -o shared "$here/capture.cu" -Xlinker "-rpath,$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64" 2>>"$out/nvcc.txt" &
wait
for kind in static shared; do
    try "$kind-alone" "./$kind"
    for times in auto events; do
        try "$kind-$times" "$astra" capture --times $times --out "$kind-$times" -- "./$kind"
        cp "$kind-$times/ranking.json" "$out/$kind-$times.json" 2>/dev/null
    done
done

# Threads without a moment between their calls, while windows of times begin and end all the time.
"$nvcc" -arch=native -std=c++17 -o threads "$here/threads.cu" 2>>"$out/nvcc.txt"
for i in 1 2 3; do
    ASTRA_CAPTURE_BUDGET=1 try threads-$i "$astra" capture --out threads-$i -- ./threads 8 &
done
wait
for i in 1 2 3; do cp threads-$i/ranking.json "$out/threads-$i.json" 2>/dev/null; done

python=$(command -v python3)
for how in ${HOWS-eager graphs compiled}; do
    steps=${STEPS-$([ $how = graphs ] && echo 3000 || echo 1200)}
    [ $how != compiled ] || try compiled-warm "$python" "$here/transformer.py" compiled --steps 20 # fills the compiler's cache
    program=("$python" "$here/transformer.py" "$how" --steps "$steps" --prefills 250)
    for way in ${WAYS-alone-1 auto alone-2 auto-2 profile}; do
        case $way in
        alone-*) try $how-$way "${program[@]}" ;;
        profile) try $how-$way "${program[@]}" --profile "$out/$how-$way.json" ;;
        *)
            try $how-$way "$astra" capture --out $how-$way -- "${program[@]}"
            cp $how-$way/ranking.json "$out/$how-$way.json" 2>/dev/null
            ;;
        esac
    done
done
"$python" "$here/captures.py" "$out" | tee "$out/table.txt"
# What is brought back is a table and one file.
tar -C "$out" -czf "$work/all.tgz" . && find "$out" -type f ! -name table.txt -delete && mv "$work/all.tgz" "$out/all.tgz"
echo "$SECONDS s"
