#!/bin/sh
# The tests in a build of their own under sanitizers: tools/sanitized.sh asan|tsan [argument of tools/check.py]...
set -eu
cd -- "$(dirname -- "$0")/.."

kind=${1-}
[ $# -gt 0 ] && shift
case $kind in
asan) flags=address,undefined ;;
tsan) flags=thread ;;
*) echo "usage: tools/sanitized.sh asan|tsan" >&2; exit 2 ;;
esac
build=build-$kind
# Between the sanitizer's checks little is left of what -O2 does, and it takes half as long again to compile.
tools/build.sh "$build" -Db_sanitize="$flags" -Db_lundef=false "-Dc_args=-O1 -g1" -- all meson-test-prereq
tools/build.sh build -- astra # makes the runs that only are material
PLAIN_ASTRA=$PWD/build/astra
export PLAIN_ASTRA
# NVRTC keeps memory until the end of the process; tools/lsan.supp names what is not ours.
ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:allocator_may_return_null=1
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
LSAN_OPTIONS=suppressions=$PWD/tools/lsan.supp:print_suppressions=0
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
export ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS
# A GPU that is played on the simulator takes long under either.
exec tools/check.py "$build" --timeout-multiplier 40 "$@"
