#!/bin/sh
# Every case file must be PTX that the toolkit's assembler takes: check_ptxas.sh FOLDER. Exit 77 (skipped) where
# there is no ptxas. A file is one case of the count at the end.
cd "${1:?usage: check_ptxas.sh FOLDER}" || exit 1
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
[ -x "$ptxas" ] || { echo "no ptxas here: skipped"; exit 77; }
good=0 bad=0
for f in *.ptx; do
    arch=$(sed -n 's/^\.target *//p' "$f")
    if "$ptxas" -arch="$arch" -o /dev/null "$f"; then good=$((good + 1)); else bad=$((bad + 1)); fi
done
echo "$good cases passed, $bad failed"
[ "$bad" = 0 ] && [ "$good" -gt 0 ]
