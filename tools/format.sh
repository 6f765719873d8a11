#!/bin/sh
# clang-format 14 over the C files: in place, or with --check only asked whether it would change anything.
set -eu
cd -- "$(dirname -- "$0")/.."

mode=-i
[ "${1-}" = --check ] && mode='--dry-run -Werror'
# shellcheck disable=SC2086  # the mode is two words
find src tests tools \( -name '*.c' -o -name '*.h' \) -print0 | sort -z |
    xargs -0 -r -n 20 -P 2 clang-format-14 --style=file $mode
