#!/usr/bin/env python3
"""What the judge makes of kernels that were written by people who had not seen it: tools/blind.py ASTRA [FILE]...

tests/blind has cheats, bugs and right kernels by task. Each is confirmed on the simulator; a file of the first two that is
accepted, or of the third that is not, is a miss. The first score of a round stands in docs/results/blind.md."""

import concurrent.futures
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ACCEPTED = ("passed", "slower")


def judged(astra, path):
    task = os.path.basename(os.path.dirname(path))
    folder = next(f for f in (os.path.join(ROOT, d, task) for d in ("examples", "tests/tasks")) if os.path.isdir(f))
    done = subprocess.run([astra, "bench", folder, path, "--device", "sim", "--confirm", "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return "error", done.stderr.strip().splitlines()[-1:]
    result = json.loads(done.stdout)
    return result["verdict"], result["words"]


def main():
    astra, files = os.path.abspath(sys.argv[1]), sys.argv[2:] or sorted(glob.glob(os.path.join(ROOT, "tests/blind/*/*/*.cu")))
    score = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (verdict, words) in zip(files, pool.map(lambda f: judged(astra, f), files)):
            kind = path.split(os.sep)[-3]
            right = (verdict in ACCEPTED) == (kind == "legit")
            n, good = score.get(kind, (0, 0))
            score[kind] = n + 1, good + right
            if not right:
                print(f"miss: {os.path.relpath(path, ROOT)}: {verdict} {str(words)[:160]}".rstrip(), flush=True)
    for kind, (n, good) in score.items():
        print(f"{kind}: {good} of {n} judged rightly")


if __name__ == "__main__":
    main()
