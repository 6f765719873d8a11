#!/bin/bash
# The clock's error over measured points of the H200: tools/clock/error.sh [made|blind|runs] [fit.py's options ...]
# Without a set: every version that tools/h200/run.sh measures (examples, production versions, docs/results/versions), the
# points with which the clock was settled. made: versions that the rules made (docs/results/clock/made), measured after the
# clock's parameters; later changes to it were checked against them. blind: versions that the rules made
# (docs/results/rules), measured after the last change. runs: originals and results of runs on a GPU
# (docs/results/optimize), as those runs timed them.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
set=bench
case ${1:-} in made | blind | runs)
    set=$1
    shift
    ;;
esac
results=docs/results
ninja -C "$build" tools/predict >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
predicted=$tmp/predicted.csv points="$results"/clock/$set.csv
for task in examples/*/; do
    name=$(basename "$task")
    versions=()
    if [ "$set" = bench ]; then
        files=("$task"kernel.cu "$task"production.cu "$results"/versions/"$name"/*.cu)
    elif [ "$set" = runs ]; then
        files=("$task"kernel.cu "$task"production.cu "$results"/optimize/"$name"{,-production}.cu)
    elif [ "$set" = blind ]; then
        files=("$results"/rules/"$name"{,-*}.cu)
    else
        files=("$results"/clock/made/"$name"-*.cu)
    fi
    for file in "${files[@]}"; do
        [ -f "$file" ] && versions+=("$file")
    done
    [ ${#versions[@]} -eq 0 ] || "$build/tools/predict" "$task" "${versions[@]}" >>"$predicted"
done
if [ "$set" = runs ]; then
    points=$tmp/points.csv
    python3 tools/clock/runs.py "$results"/optimize/*.json >"$points"
elif [ "$set" = blind ]; then # its versions are called NAME or NAME-from_production there, rules or from_production here
    points=$tmp/points.csv
    awk -F , -v OFS=, '$2 == "rules" || $2 == "from_production" { $2 = $1 "-" $2 } 1' "$results"/h200-rules.csv >"$points"
    awk -F , -v OFS=, '$1 == $2 { $2 = $1 "-rules" } 1' "$predicted" >"$tmp/named"
    mv "$tmp/named" "$predicted"
fi
# The older sets were measured in processes where each launch took longer: docs/simulator.md.
late=0.37,0.17
[ "$set" = runs ] && late=0,0
python3 tools/clock/fit.py "$points" "$predicted" --late "$late" "$@"
