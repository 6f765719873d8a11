#!/bin/bash
# The clock's error over measured points of the H200: tools/clock/error.sh [made|blind] [fit.py's options ...]
# Without a set: every version that tools/h200/run.sh measures (examples, production versions, tools/h200/points), the
# points with which the clock was settled. made: versions that the rules made (points/made), measured after the clock's
# parameters; later changes to it were checked against them. blind: versions that the rules made (points/blind), measured
# after the last change.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
set=bench
case ${1:-} in made | blind)
    set=$1
    shift
    ;;
esac
points=tools/clock/points/h200-$set.csv
ninja -C "$build" tools/predict >/dev/null
predicted=$(mktemp)
trap 'rm -f "$predicted"' EXIT
for task in examples/*/; do
    name=$(basename "$task")
    versions=()
    if [ "$set" = bench ]; then
        files=("$task"kernel.cu "$task"production.cu tools/h200/points/"$name"/*.cu)
    else
        files=(tools/clock/points/"$set"/"$name"-*.cu)
    fi
    for file in "${files[@]}"; do
        [ -f "$file" ] && versions+=("$file")
    done
    [ ${#versions[@]} -eq 0 ] || "$build/tools/predict" "$task" "${versions[@]}" >>"$predicted"
done
python3 tools/clock/fit.py "$points" "$predicted" "$@"
