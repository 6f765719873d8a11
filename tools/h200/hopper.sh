#!/bin/bash
# CUTLASS's kernels for Hopper on this machine's GPU: tools/h200/hopper.sh OUT_DIR [FOLDER]
#
# FOLDER (default: build/hopper) has the programs that tests/hopper/check.sh compiled, each beside its PTX. They need
# the driver alone. A folder a case comes into OUT_DIR: its launches with their parameters, and what every buffer held
# before and after. Prints the hashes that tests/hopper/gpu.txt keeps; `tests/hopper/check.sh BUILD OUT_DIR` compares.
# It takes some seconds.
set -u
[ $# -ge 1 ] || { echo "usage: tools/h200/hopper.sh OUT_DIR [FOLDER]" >&2; exit 2; }
mkdir -p "$1" || exit 2
status=0
for ptx in "${2:-build/hopper}"/*.ptx; do
    log=$1/$(basename "$ptx" .ptx).log
    timeout 50 "${ptx%.ptx}" "$ptx" "$1" >"$log" 2>&1 || { cat "$log"; status=1; }
    grep -q '^on a GPU' "$log" || { echo "$ptx: nothing ran on a GPU"; status=1; }
done
for want in "$1"/*/*.want; do
    after=${want%.want}.after
    [ -f "$after" ] || continue
    hash=$(sha256sum <"$after" | cut -d' ' -f1)
    echo "$(basename "$(dirname "$want")") $(basename "$want" .want) $hash"
done | tee "$1/gpu.txt"
exit $status
