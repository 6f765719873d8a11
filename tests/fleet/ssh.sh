#!/bin/sh
# A run whose workers are reached over ssh to this machine (docs/campaign.md); one of them is killed in the middle.
# `make check-ssh`; needs Debian's openssh-server, of which it starts one of its own on a port of loopback.
set -eu
astra=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
PATH=$PATH:/usr/sbin
command -v sshd >/dev/null || {
    echo "check-ssh: sshd is missing: apt-get install openssh-server" >&2
    exit 2
}
here=$(mktemp -d /tmp/astra-ssh-XXXXXX)
stop() {
    [ -e "$here/pid" ] && kill "$(cat "$here/pid")"
    rm -rf "$here"
}
trap stop EXIT
ssh-keygen -q -t ed25519 -N '' -f "$here/host"
ssh-keygen -q -t ed25519 -N '' -f "$here/user"
cat >"$here/config" <<END
Port 17899
ListenAddress 127.0.0.1
HostKey $here/host
AuthorizedKeysFile $here/user.pub
PidFile $here/pid
StrictModes no
UsePAM no
END
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
"$(command -v sshd)" -f "$here/config"

cd "$here"
cp -r "$root/examples/silu_and_mul" task
cat >workers.yaml <<END
workers:
  - name: ssh
    command: [ssh, -F, /dev/null, -i, "$here/user", -p, "17899", -oStrictHostKeyChecking=no, -oUserKnownHostsFile=/dev/null,
              -oLogLevel=ERROR, -oBatchMode=yes, 127.0.0.1, env, XDG_CACHE_HOME=$here/cache, "$astra", node]
    count: 3
END
options="--rounds 3 --tune-budget 6 --seed 7 --hidden-seed 11 --no-memory --quiet"
"$astra" optimize task $options --out alone >/dev/null
"$astra" optimize task $options --out run --workers workers.yaml --trace trace.jsonl >/dev/null &
run=$!
for _ in $(seq 600); do
    [ "$(grep -c '"event":"judged"' trace.jsonl 2>/dev/null)" -gt 2 ] 2>/dev/null && break
    sleep 0.1
done
# A node of theirs, by the lock that it holds.
node=$(fuser "$here"/cache/astra/node/runs/*/lock 2>/dev/null | awk '{print $1}')
[ -z "$node" ] || kill -9 "$node"
wait $run
grep -o '"event":"\(left_out\|worker_lost\)".*' trace.jsonl || true
cmp alone/best.cu run/best.cu
echo "check-ssh: the same best version as alone"
