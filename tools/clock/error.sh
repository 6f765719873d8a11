#!/bin/bash
# The clock's error over measured points of the H200: tools/clock/error.sh [made|blind|runs] [fit.py's options ...]
# Without a set: every version that tools/h200/run.sh measures (examples, production versions, tools/h200/points), the
# points with which the clock was settled. made: versions that the rules made (points/made), measured after the clock's
# parameters; later changes to it were checked against them. blind: versions that the rules made (points/blind), measured
# after the last change. runs: originals and results of runs on a GPU (docs/results/optimize), as those runs timed them.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
set=bench
case ${1:-} in made | blind | runs)
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
    elif [ "$set" = runs ]; then
        files=("$task"kernel.cu "$task"production.cu docs/results/optimize/"$name"{,-production}.cu)
    else
        files=(tools/clock/points/"$set"/"$name"-*.cu)
    fi
    for file in "${files[@]}"; do
        [ -f "$file" ] && versions+=("$file")
    done
    [ ${#versions[@]} -eq 0 ] || "$build/tools/predict" "$task" "${versions[@]}" >>"$predicted"
done
# The older sets were measured in processes where each launch took longer: docs/simulator.md.
late=0.37,0.17
[ "$set" = runs ] && late=0,0
python3 tools/clock/fit.py "$points" "$predicted" --late "$late" "$@"
