#!/bin/sh
# Each target of tests/fuzz under libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, for some seconds:
# tools/fuzz.sh [SECONDS [TARGET]...]. What crashes one is left in build-fuzz/crashes.
set -eu
cd -- "$(dirname -- "$0")/.."

seconds=${1:-20}
[ $# -gt 0 ] && shift
build="build-fuzz"
if [ ! -f $build/build.ninja ]; then
    CC=clang-19 meson setup $build --buildtype=debugoptimized -Dfuzz=true -Db_lundef=false \
        -Db_sanitize=address,undefined -Dc_args='-fsanitize=fuzzer-no-link -Wno-unknown-pragmas' >$build.log 2>&1 || { cat $build.log; exit 1; }
    mv $build.log $build/setup.log
fi
mkdir -p $build/crashes
# shellcheck disable=SC2046  # one word a target
[ $# -gt 0 ] || set -- $(find tests/fuzz -name 'fuzz_*.c' -exec basename {} .c \; | sort)
passed=0 failed=0
for target in "$@"; do
    ninja -C $build --quiet "tests/fuzz/$target"
    corpus=$build/corpus/$target
    if [ ! -d "$corpus" ]; then
        mkdir -p "$corpus"
        case $target in
        fuzz_source | fuzz_kernel) seeds='examples/*/*.cu' ;;
        fuzz_task) seeds='examples/*/task.yaml' ;;
        fuzz_llm) seeds='tests/fuzz/llm/*' ;;
        fuzz_recording) seeds='examples/*/*/*.json' ;;
        fuzz_ptx) seeds='tests/ptx/*/*.ptx tests/ptx/*.ptx' ;;
        fuzz_tester | fuzz_profiler | fuzz_planner | fuzz_coder)
            seeds=
            awk -v to="$corpus" '/^=== / { close(file); file = to "/" ++n } !/^=== / { print > file }' \
                "tests/agent/${target#fuzz_}.replies"
            ;;
        *) seeds= ;;
        esac
        for seed in $seeds; do
            [ -f "$seed" ] && cp "$seed" "$corpus/$(printf %s "$seed" | tr / -)"
        done
    fi
    printf '== %s for %s s\n' "$target" "$seconds"
    if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/crashes/$target-" "$corpus" >"$build/$target.log" 2>&1; then
        grep -E 'number_of_executed_units|peak_rss_mb' "$build/$target.log" | sed 's/stat:://'
        passed=$((passed + 1))
    else
        tail -n 40 "$build/$target.log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
