#!/bin/bash
# The clock's error over measured points of the H200: tools/clock/error.sh [made] [fit.py's options ...]
# Without `made`: every version that tools/h200/run.sh measures (examples, production versions, tools/h200/points), the
# points with which the clock was settled. With it: versions that the rules made (points/made), measured afterwards.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
points=tools/clock/points/h200-bench.csv
if [ "${1:-}" = made ]; then
    points=tools/clock/points/h200-made.csv
    shift
fi
ninja -C "$build" tools/predict >/dev/null
predicted=$(mktemp)
trap 'rm -f "$predicted"' EXIT
for task in examples/*/; do
    name=$(basename "$task")
    versions=()
    if [ "$points" = tools/clock/points/h200-made.csv ]; then
        for file in tools/clock/points/made/"$name"-*.cu; do
            [ -f "$file" ] && versions+=("$file")
        done
    else
        for file in "$task"kernel.cu "$task"production.cu tools/h200/points/"$name"/*.cu; do
            [ -f "$file" ] && versions+=("$file")
        done
    fi
    [ ${#versions[@]} -eq 0 ] || "$build/tools/predict" "$task" "${versions[@]}" >>"$predicted"
done
python3 tools/clock/fit.py "$points" "$predicted" "$@"
