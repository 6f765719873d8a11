#!/usr/bin/env python3
"""Astra's own processor time in a round with models: prompts, replies, store, search; without the model's time (a
server of the tests answers at once) and without trials (they run in workers).

    bench_loop.py ASTRA [ROUNDS]
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "llm"))
from server import Server  # pylint: disable=wrong-import-position

EXAMPLES = ["silu_and_mul", "fused_add_rmsnorm", "merge_attn_states"]
TARGET_MS = 20


def scenario(example, rounds):
    """Every round another idea and another file: the example's production kernel, told apart by a constant."""
    with open(os.path.join(ROOT, "examples", example, "production.cu"), encoding="utf-8") as file:
        text = file.read()
    after = [m.end() for m in re.finditer(r"^#include.*\n", text, re.M)][-1]
    files = [f"{text[:after]}\nconstexpr int version_{i} = {i};\n{text[after:]}" for i in range(rounds)]
    ideas = [json.dumps({"strategies": [{"name": f"idea {i}", "move": None, "reason": "to be timed", "plan": "as it is",
                                         "expected_gain": 1.1, "confidence": 0.5}]}) for i in range(rounds)]
    return {"rules": [{"match": {"role": "planner"}, "replies": ideas},
                      {"match": {"role": "coder"}, "replies": [f"```cuda\n{f}```\n" for f in files]}]}


def rounds_of(astra, example, rounds, folder):
    trace = os.path.join(folder, example + ".trace")
    with Server(scenario(example, rounds)) as server:
        subprocess.run([astra, "optimize", "--no-memory", os.path.join(ROOT, "examples", example), "--agents", "planner=llm,coder=llm",
                        "--provider", "openai", "--base-url", server.url, "--model", "m", "--rounds", str(rounds),
                        "--out", os.path.join(folder, example), "--trace", trace, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
    with open(trace, encoding="utf-8") as file:
        return [e["cpu_ms"] for e in map(json.loads, file) if e["event"] == "round_end"]


def main():
    astra, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    worst = 0
    print(f"{'task':<20} {'rounds':>6} {'median ms':>10} {'largest ms':>11}")
    with tempfile.TemporaryDirectory(prefix="astra-bench-") as folder:
        for example in EXAMPLES:
            ms = rounds_of(astra, example, rounds, folder)
            worst = max(worst, statistics.median(ms))
            print(f"{example:<20} {len(ms):>6} {statistics.median(ms):>10.1f} {max(ms):>11.1f}", flush=True)
    print(f"processor time of a round, models and trials excluded; the target is below {TARGET_MS} ms: "
          f"{'met' if worst < TARGET_MS else 'missed'}")


main()
