#!/bin/sh
# Non-blank lines of the C files and headers of src/ by folder and in all, now or at a commit: tools/count.sh [COMMIT]
set -eu
cd -- "$(dirname -- "$0")/.."
git grep -c '[^[:space:]]' "$@" -- 'src/*.c' 'src/*.h' | awk -F : '
    { n = split($(NF - 1), part, "/"); lines[n > 2 ? part[1] "/" part[2] : part[1]] += $NF; all += $NF }
    END { for (folder in lines) printf "%7d %s\n", lines[folder], folder | "sort -k 2"; close("sort -k 2"); printf "%7d in all\n", all }'
