#!/bin/bash
# The clock's error over all measured points of the H200: tools/clock/error.sh [fit.py's options ...]
# Predicts every version that tools/h200/run.sh measured (examples, production versions, tools/h200/points).
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
ninja -C "$build" tools/predict >/dev/null
predicted=$(mktemp)
trap 'rm -f "$predicted"' EXIT
for task in examples/*/; do
    name=$(basename "$task")
    grep -q "^$name," tools/clock/points/h200-bench.csv || continue
    versions=("$task"kernel.cu)
    for file in "$task"production.cu tools/h200/points/"$name"/*.cu; do
        [ -f "$file" ] && versions+=("$file")
    done
    "$build/tools/predict" "$task" "${versions[@]}" >>"$predicted"
done
python3 tools/clock/fit.py tools/clock/points/h200-bench.csv "$predicted" "$@"
