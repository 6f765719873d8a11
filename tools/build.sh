#!/bin/bash
# Sets a build folder up where there is none, and builds in it: tools/build.sh BUILD [MESON OPTION]... [-- TARGET...]
#
# A folder that was copied or moved with its checkout names files of its old place, its tests among them: it is set up
# anew, with the options that it had. On a terminal ninja keeps one line of progress; a log gets one every ten percent.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

build=${1:?usage: tools/build.sh BUILD [MESON OPTION]... [-- TARGET...]}
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
[ $# -eq 0 ] || shift

set_up() {
    meson setup "$@" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
    mv "$build.log" "$build/setup.log"
}

# Where meson says that it was set up.
place() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directories"]["source"])' "$build/meson-info/meson-info.json"; }

if [ ! -f "$build/build.ninja" ]; then
    set_up "$build" --buildtype=debugoptimized "${options[@]}"
elif [ "$(place)" != "$(pwd -P)" ]; then
    echo "$build was set up in $(place): it is set up here anew" >&2
    set_up --wipe "$build"
fi

[ ! -t 1 ] || exec ninja -C "$build" "$@"
ninja -C "$build" "$@" | awk '
    /^ninja: (Entering|no work)/ { next }
    /^\[[0-9]+\/[0-9]+\] / {
        split(substr($1, 2, length($1) - 2), n, "/")
        percent = int(10 * n[1] / n[2]) * 10
        if (percent > said && n[2] > 20) {
            print "building: " percent " % of " n[2] " steps"
            fflush()
        }
        if (percent > said) said = percent
        next
    }
    { print; fflush() }'
