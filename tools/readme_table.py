#!/usr/bin/env python3
"""Write the table of README.md from the results that `make demo` left: tools/readme_table.py [RUNS]"""

import json
import os
import sys

TASKS = ["silu_and_mul", "fused_add_rmsnorm", "merge_attn_states"]
BEGIN, END = "<!-- made by tools/readme_table.py -->\n", "<!-- end -->\n"


def rows(name, result):
    for n, w in enumerate(result["workloads"]):
        dims = " ".join(f"{k}={v}" for k, v in w["dims"].items())
        yield (f"| {name if n == 0 else ''} | {dims} | {w['baseline_us']:.2f} | {w['best_us']:.2f} | {w['speedup']:.2f} "
               f"| {100 * w['light_us'] / w['best_us']:.0f} % | {w['bound_by']} |")
    yield f"| | **geometric mean** | | | **{result['speedup']['geomean']:.2f}** | | |"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    runs = sys.argv[1] if len(sys.argv) > 1 else "astra-runs/demo"
    lines = ["| kernel | workload | original us | best us | speed-up | of copy | bound by |",
             "|---|---|---:|---:|---:|---:|---|"]
    for name in TASKS:
        with open(os.path.join(runs, name, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        if result["status"] != "done" or result["device"]["basis"] != "modelled":
            sys.exit(f"{name}: not a finished, modelled run")
        lines += rows(name, result)
    with open("README.md", encoding="utf-8") as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    with open("README.md", "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1])


main()
