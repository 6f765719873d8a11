#!/bin/bash
# Each target of tests/fuzz under libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, for some seconds:
# tools/fuzz.sh [SECONDS [TARGET]...]. The first inputs are files of the project; the words in them are the
# dictionary. What crashes a target is left in build-fuzz/crashes; once it is mended it moves to
# tests/fuzz/found/TARGET, from where it is tried first, here and by `meson test --suite fuzz` (docs/testing.md).
set -eu
cd -- "$(dirname -- "$0")/.."

seconds=${1:-20}
[ $# -gt 0 ] && shift
build="build-fuzz"
# shellcheck disable=SC2046  # one word a target
[ $# -gt 0 ] || set -- $(find tests/fuzz -name 'fuzz_*.c' -exec basename {} .c \; | sort)
CC=clang-19 tools/build.sh $build -Dfuzz=true -Db_lundef=false -Db_sanitize=address,undefined \
    -Dc_args='-fsanitize=fuzzer-no-link -Wno-unknown-pragmas' -- "${@/#/tests/fuzz/}"
mkdir -p $build/crashes
if [ -w /dev/shm ]; then # targets that write files do it in memory
    TMPDIR=/dev/shm
    export TMPDIR
fi

seed() { # seed TARGET CORPUS
    seeds=
    case $1 in
    fuzz_source | fuzz_kernel | fuzz_page) seeds='examples/*/*.cu tests/launcher/*.cu' ;;
    fuzz_task) seeds='examples/*/task.yaml' ;;
    fuzz_capture | fuzz_llm | fuzz_mcp | fuzz_memory | fuzz_object | fuzz_origin | fuzz_pool | fuzz_recorded | fuzz_same | fuzz_worker) seeds="tests/fuzz/${1#fuzz_}/*" ;;
    fuzz_recording) seeds='examples/*/*/*.json' ;;
    fuzz_ptx)
        python3 tests/ptx/generate $build/cases
        awk -v to="$2" '/^\/\/ case: / { close(file); file = to "/" ++n; print ".version 8.7\n.target sm_90a\n.address_size 64" > file }
                        file && !/^\/\// { print > file }' $build/cases/*.ptx
        ;;
    fuzz_result | fuzz_run) python3 tests/fuzz/seeds.py "${1#fuzz_}" "$2" ;;
    fuzz_tester | fuzz_profiler | fuzz_planner | fuzz_coder)
        awk -v to="$2" '/^=== / { close(file); file = to "/" ++n } !/^=== / { print > file }' \
            "tests/agent/${1#fuzz_}.replies"
        ;;
    esac
    for seed in $seeds; do
        cp "$seed" "$2/$(printf %s "$seed" | tr / -)"
    done
}

passed=0 failed=0
for target in "$@"; do
    corpus=$build/corpus/$target
    if [ ! -d "$corpus" ]; then
        mkdir -p "$corpus"
        seed "$target" "$corpus"
    fi
    for found in "tests/fuzz/found/$target"/*; do
        [ -f "$found" ] && cp "$found" "$corpus"
    done
    cat "$corpus"/* 2>/dev/null | grep -aoE '[%._A-Za-z][A-Za-z0-9_.:]{1,30}' | sort | uniq -c | sort -rn |
        awk 'NR <= 1500 { printf "\"%s\"\n", $2 }' >"$build/$target.dict"
    printf '== %s for %s s\n' "$target" "$seconds"
    if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
        -max_len=32768 -dict="$build/$target.dict" -artifact_prefix="$build/crashes/$target-" "$corpus" \
        >"$build/$target.log" 2>&1; then
        grep -E 'number_of_executed_units|peak_rss_mb' "$build/$target.log" | sed 's/stat:://'
        passed=$((passed + 1))
    else
        tail -n 40 "$build/$target.log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
