#!/bin/sh
# The pictures of README.md from a run on the simulated H200: tools/screenshots.sh ASTRA [OUT]. Needs tmux and chromium.
set -eu
astra=$(realpath -- "${1:?usage: tools/screenshots.sh ASTRA [OUT]}")
cd -- "$(dirname -- "$0")/.."
out=$(realpath -- "${2:-docs/images}")
mkdir -p "$out"
work=$(mktemp -d)
socket="$work/tmux"
trap 'tmux -S "$socket" kill-server 2>/dev/null || :; rm -rf "$work"' EXIT

screen() {
    tmux -S "$socket" capture-pane -e -p
}

# The last screen on which a candidate of the second round is being judged.
tmux -S "$socket" -f /dev/null new-session -d -x 110 -y 36 \
    "TERM=tmux-256color COLORTERM=truecolor '$astra' optimize examples/fused_add_rmsnorm --no-memory --device sim --rounds 3 --out '$work/run'; touch '$work/end'; sleep 60"
until [ -e "$work/end" ]; do
    screen >"$work/now" && grep -q 'round 2' "$work/now" && grep -q judging "$work/now" && mv "$work/now" "$work/screen"
    sleep 1
done
grep -q '"status": "done"' "$work/run/result.json"
tools/ansi_svg.py 'astra optimize, while it runs' <"$work/screen" >"$out/live.svg"

"$astra" report "$work/run" --out "$work/report.html" >/dev/null
shot() { # FILE, more of chromium's options
    file=$1
    shift
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1400 --user-data-dir="$work/chromium" \
        --screenshot="$file" "$@" "file://$work/report.html" 2>/dev/null
}
shot "$out/report-light.png"
shot "$out/report-dark.png" --blink-settings=preferredColorScheme=0
ls -l "$out"
