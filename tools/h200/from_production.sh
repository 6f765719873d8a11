#!/bin/sh
# Task folders that start from the production version of each example that has one: tools/h200/from_production.sh OUT
# `astra optimize OUT/NAME` then works on it; tools/h200/run.sh times what comes out as NAME=.../from_production.cu.
set -eu
out=${1:?usage: tools/h200/from_production.sh OUT}
for source in "$(dirname "$0")"/../../examples/*/production.cu; do
    folder=$(dirname "$source")
    to=$out/$(basename "$folder")
    mkdir -p "$to"
    cp "$folder/production.cu" "$folder/reference.cu" "$to/"
    sed 's/^source: .*/source: production.cu/' "$folder/task.yaml" >"$to/task.yaml"
done
