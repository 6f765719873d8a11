#!/bin/sh
# The tests in a build that counts, then gcovr's table of lines and branches a file.
set -eu
cd -- "$(dirname -- "$0")/.."

build="build-cover"
if [ ! -f $build/build.ninja ]; then
    meson setup $build --buildtype=debugoptimized -Db_coverage=true >$build.log 2>&1 || { cat $build.log; exit 1; }
    mv $build.log $build/setup.log
fi
find $build -name '*.gcda' -delete
# Shut-in workers could not write their counts. A failed test is make check's affair.
ASTRA_SANDBOX=off tools/check.py $build || true
gcovr --root . --filter src/ --exclude-throw-branches --print-summary --sort-percentage $build
