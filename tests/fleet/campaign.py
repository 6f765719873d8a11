#!/usr/bin/env python3
"""A campaign of many small kernels over eight nodes of this machine, three of them killed in the middle, against an
undisturbed one: every best version must be the same, byte for byte. tests/fleet/campaign.py ASTRA [TASKS] [NODES];
`make check-fleet` takes 100 tasks.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KERNEL = """#include <cuda_fp16.h>

__global__ void mix_kernel(const __half *in, __half *out, int rows, int d, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * d) {
        float x = __half2float(in[i]) * factor;
        out[i] = __float2half(%s);
    }
}

extern "C" void mix(__half *out, const __half *in, int rows, int d, float factor, cudaStream_t stream)
{
    int n = rows * d;
    mix_kernel<<<(n + %d) / %d, %d, 0, stream>>>(in, out, rows, d, factor);
}
"""
TASK = """name: mix
source: kernel.cu
entry: mix
args:
  - {name: out,    type: f16, shape: [rows, d], role: out}
  - {name: in,     type: f16, shape: [rows, d], role: in}
  - {name: rows,   type: i32, value: rows}
  - {name: d,      type: i32, value: d}
  - {name: factor, type: f32, value: %g}
dims: [rows, d]
domain: [rows >= 1, rows <= 8192, d >= 1, d <= 4096]
workloads:
  - [%d, %d]
"""
BODIES = ("x", "x + 1.0f", "x / (1.0f + fabsf(x))", "fmaxf(x, 0.0f)", "fminf(fmaxf(x, -1.0f), 1.0f)")
OPTIONS = ("--device", "sim", "--rounds", "1", "--candidates", "3", "--tune-budget", "0", "--min-mutation", "0", "--no-memory",
           "--seed", "7", "--hidden-seed", "11")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def make_tasks(folder, n):
    for i in range(n):
        block = 64 << i % 3
        name = os.path.join(folder, "tasks", f"mix{i:03}")
        write(os.path.join(name, "kernel.cu"), KERNEL % (BODIES[i % len(BODIES)], block - 1, block, block))
        write(os.path.join(name, "task.yaml"), TASK % (0.5 + i / 256, 2048 << i % 2, 2048 << i // 2 % 2))
    write(os.path.join(folder, "list"), "".join(f"tasks/mix{i:03}\n" for i in range(n)))


def nodes_below(pid):
    """The campaign's run, and the nodes of that."""
    out = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = [line.split(None, 2) for line in out.splitlines()]
    runs = {row[0] for row in rows if row[1] == str(pid)}
    return [int(row[0]) for row in rows if row[1] in runs and row[2].endswith(" node")]


def ended(folder, out):
    try:
        with open(os.path.join(folder, out, "campaign.json")) as file:
            return sum(k["status"] in ("done", "failed") for k in json.load(file)["kernels"])
    except (OSError, ValueError):
        return 0


def kill_one(folder, out, campaign, at):
    """When so many kernels are done, a node that has begun."""
    while campaign.poll() is None and ended(folder, out) < at:
        time.sleep(0.05)
    while campaign.poll() is None:
        nodes = nodes_below(campaign.pid)
        if len(nodes) > 1:
            time.sleep(0.3)  # it may be opening the task, or judge
            os.kill(nodes[0], signal.SIGKILL)
            return True
        time.sleep(0.02)
    return False


def run(astra, folder, out, kills):
    start = time.monotonic()
    with open(os.path.join(folder, out + ".err"), "wb") as err:
        campaign = subprocess.Popen([astra, "optimize", "--list", "list", "--out", out, "--workers", "workers.yaml", *OPTIONS, "--quiet",
                                     "--trace", out + ".jsonl"], cwd=folder, stdout=subprocess.DEVNULL, stderr=err)
    killed = sum([kill_one(folder, out, campaign, at) for at in kills])
    status = campaign.wait()
    if status != 0:
        with open(os.path.join(folder, out + ".err")) as err:
            sys.exit(f"check-fleet: the campaign ended with {status}: {err.read()[-600:]}")
    lost = 0
    with open(os.path.join(folder, out + ".jsonl")) as lines:
        lost = sum('"worker_lost"' in line.replace(" ", "") or '"left_out"' in line.replace(" ", "") for line in lines)
    return time.monotonic() - start, killed, lost


def best(folder, out, kernel):
    with open(os.path.join(folder, out, kernel["run"], "best.cu"), "rb") as file:
        return file.read()


def main():
    astra, n = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    folder = tempfile.mkdtemp(prefix="astra-fleet-")
    try:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        make_tasks(folder, n)
        write(os.path.join(folder, "workers.yaml"), json.dumps({"workers": [{"name": "node", "command": [astra, "node"], "count": count}]}))
        still_s, _, _ = run(astra, folder, "still", ())
        shot_s, killed, lost = run(astra, folder, "shot", [n * (i + 1) // 5 for i in range(3)])
        with open(os.path.join(folder, "still", "campaign.json")) as file:
            kernels = json.load(file)["kernels"]
        differ = [k["name"] for k in kernels if best(folder, "still", k) != best(folder, "shot", k)]
        improved = sum(k["outcome"] == "improved" for k in kernels)
        print(f"check-fleet: {n} tasks over {count} nodes, {improved} faster: {still_s:.0f} s undisturbed; with {killed} nodes killed "
              f"({lost} told of) {shot_s:.0f} s, {n - len(differ)} of {n} best versions the same")
        if killed != 3 or differ:
            sys.exit("check-fleet: " + (f"they differ: {' '.join(differ[:9])}" if differ else f"only {killed} nodes could be killed"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
