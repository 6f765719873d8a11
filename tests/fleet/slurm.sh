#!/bin/sh
# A run inside one allocation of a real Slurm on this machine (docs/campaign.md): three nodes, of which one is killed and one
# drained in the middle; then the job is requeued, and resumes. `make check-slurm`; needs root, and Debian's slurmctld,
# slurmd, slurm-client and munge.
set -eu
astra=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
for program in slurmctld slurmd srun sbatch munged; do
    command -v $program >/dev/null || PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
        echo "check-slurm: $program is missing: apt-get install slurmctld slurmd slurm-client munge" >&2
        exit 2
    }
done
PATH=$PATH:/usr/sbin
here=$(mktemp -d /tmp/astra-slurm-XXXXXX)
chmod 755 "$here"
stop() {
    for pid in "$here"/*.pid; do
        [ -e "$pid" ] && kill "$(cat "$pid")" 2>/dev/null || true
    done
    sleep 1
    [ -n "${KEEP:-}" ] || rm -rf "$here"
}
trap stop EXIT

mkdir "$here/munge" "$here/state" "$here/spool" "$here/log"
head -c 1024 /dev/urandom >"$here/munge/key"
chmod 600 "$here/munge/key"
munged --force --key-file="$here/munge/key" --socket="$here/munge/socket" --pid-file="$here/munge.pid" \
    --seed-file="$here/munge/seed" --log-file="$here/log/munge"

export SLURM_CONF="$here/slurm.conf"
cat >"$SLURM_CONF" <<END
ClusterName=astra
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$here/munge/socket
SlurmctldPort=17817
SlurmctldPidFile=$here/ctld.pid
SlurmdPidFile=$here/%n.pid
SlurmdSpoolDir=$here/spool/%n
StateSaveLocation=$here/state
SlurmctldLogFile=$here/log/ctld
SlurmdLogFile=$here/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
JobRequeue=1
NodeName=n[1-4] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[17821-17824] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
slurmctld -c
for node in n1 n2 n3 n4; do
    slurmd -N $node
done
for i in $(seq 50); do
    [ "$(sinfo -h -t idle -o %D | head -1)" = 4 ] && break
    sleep 0.2
done
sinfo

mkdir "$here/work"
cd "$here/work"
cp -r "$root/examples/silu_and_mul" task
cat >workers.yaml <<END
workers:
  - name: slurm
    command: [srun, --overlap, -N1, -n1, -c1, "$astra", node]
    count: 8
  - name: here
    command: ["$astra", node]
    trusted: true
silence_s: 10
END
sed -n '/^    #!.bin.sh/,/^$/s/^    //p' "$root/docs/campaign.md" | sed "s|^astra=.*|astra=$astra|" >batch.sh
options="--rounds 3 --tune-budget 6 --seed 7 --hidden-seed 11 --no-memory"
"$astra" optimize task $options --quiet --out alone >/dev/null

export ASTRA_OPTIONS="$options" ASTRA_MEMORY=
job=$(sbatch --parsable batch.sh task run)
judged() { grep -c "\"event\":\"judged\"" trace.jsonl 2>/dev/null || true; }
wait_judged() {
    for i in $(seq 600); do
        [ "$(judged)0" -ge "${1}0" ] && return
        sleep 0.1
    done
    cat slurm-*.out
    echo "check-slurm: no $1 candidates were judged" >&2
    exit 1
}
# What runs of our job on a node: its machine is gone.
kill_all_of() {
    for process in /proc/[0-9]*; do
        own=$({ tr '\0' '\n' <"$process/environ"; } 2>/dev/null | grep -cx "SLURMD_NODENAME=$1\|SLURM_CONF=$SLURM_CONF") || true
        [ "$own" != 2 ] || kill -9 "${process#/proc/}" 2>/dev/null || true
    done
}

wait_judged 3
echo "kill a node, drain another"
kill -9 "$(cat "$here/n2.pid")"
kill_all_of n2
scontrol update NodeName=n3 State=DRAIN Reason=test
wait_judged 8
echo "requeue the job"
scontrol requeue "$job"
slurmd -N n2
for i in $(seq 180); do
    grep -q '"status": "done"' run/result.json 2>/dev/null && break
    state=$(squeue -h -o %T -j "$job" 2>/dev/null) || true
    if [ "$state" = PENDING ]; then # Slurm lets a requeued job wait for two minutes
        scontrol update JobId="$job" StartTime=now 2>/dev/null || true
        scontrol update NodeName=n2,n3 State=RESUME 2>/dev/null || true
    fi
    [ $((i % 20)) != 0 ] || squeue -h -j "$job"
    sleep 1
done
cat slurm-*.out | tail -15
grep -o '"event":"\(left_out\|worker_lost\)".*' trace.jsonl || true
grep -q "resumed\":true" trace.jsonl || {
    echo "check-slurm: the job was not requeued" >&2
    exit 1
}
cmp alone/best.cu run/best.cu
echo "check-slurm: the same best version as alone"
