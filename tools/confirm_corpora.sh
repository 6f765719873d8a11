#!/bin/sh
# Confirms every kernel of the corpora as a run's best version is confirmed, the file as nvcc compiles it included,
# and writes docs/results/confirmation.md. FOLDERs: instead of all. MINUTES in the environment: begins no task after so
# many; the next call of the same commit goes on from there.
#
#     [MINUTES=N] tools/confirm_corpora.sh BUILD [FOLDER or FILE]...
set -eu
build=$1
shift
made=$(mktemp)
trap 'rm -f "$made"' EXIT
commit=$(git rev-parse --short HEAD)
kept=$build/confirmed-$commit.jsonl
status=0
"$build/tests/verdicts" -c -n -m "$made" -k "$kept" ${MINUTES:+-b "$MINUTES"} "$@" || status=$?
[ -s "$made" ]
{
    printf '# The corpora, confirmed\n\n'
    printf '%s, commit %s, %s, NVRTC and nvcc of CUDA %s: `make confirm-corpora`' "$(date -u +%Y-%m-%d)" \
        "$commit" "$(nproc) cores" "$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')"
    [ $# -eq 0 ] || printf ',\nof `%s` only' "$*"
    printf '.\n'
    cat "$made"
} > docs/results/confirmation.md
exit "$status"
