#!/usr/bin/env python3
"""Do verdicts follow from the machine's load? The same kernels judged on this machine as it is, and again beside
processes that do nothing but take processor time (nice 0, as Astra's own); with nvcc's look at each, whose many
programs feel a load most. Every verdict, line and message must be the same.

    bench_busy.py VERDICTS [PROCESSES]        VERDICTS: build/tests/verdicts; 20 processes
"""

import os
import re
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
SUBSET = [
    "tests/legit/silu_and_mul/uint4_templates.cu",
    "tests/cheats/silu_and_mul/endless.cu",
    "tests/legit/matmul/wmma_cp_async.cu",
    "tests/bugs/matmul/mma_no_sync_after.cu",
    "tests/legit/scan/look_back.cu",
    "tests/bugs/sum/ticket_off_by_one.cu",
    "tests/legit/softmax/cuda_barrier_memcpy_async.cu",
]


def judged(verdicts):
    """Lines `FILE:LINE: VERDICT: WORDS`, without their times; and how long it took, by the clock and of a processor."""
    began = time.monotonic(), sum(os.times()[2:4])
    done = subprocess.run([verdicts, "-v", "-n", *SUBSET], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = [re.sub(r" +\[[\d.]+ s, score [^\]]*\]$", "", x) for x in done.stdout.decode("utf-8", "replace").splitlines()]
    lines = sorted(x for x in lines if x.startswith("tests/"))
    return done.returncode, lines, time.monotonic() - began[0], sum(os.times()[2:4]) - began[1]


def main():
    verdicts, processes = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    spinners = []
    print(f"{len(SUBSET)} kernels, {os.cpu_count()} processors")
    idle = judged(verdicts)
    print(f"as it is: {idle[2]:.0f} s by the clock, {idle[3]:.0f} s of a processor", flush=True)
    try:
        for _ in range(processes):
            spinners.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        busy = judged(verdicts)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    print(f"beside {processes} busy processes: {busy[2]:.0f} s by the clock, {busy[3]:.0f} s of a processor")
    for line in sorted(set(idle[1]) ^ set(busy[1])):
        print(f"{'as it is' if line in idle[1] else 'busy'}: {line}")
    ok = idle[0] == busy[0] == 0 and idle[1] == busy[1] and len(idle[1]) >= len(SUBSET)
    print("the same verdicts" if ok else "NOT the same verdicts, or not those expected")
    return 0 if ok else 1


sys.exit(main())
