#!/usr/bin/env python3
"""Write the table of README.md, and that of docs/results/demo.md, from the results that `make demo` left and the measured ones in
docs/results/optimize: tools/readme_table.py [RUNS]"""

import json
import os
import sys

TASKS = ["silu_and_mul", "fused_add_rmsnorm", "merge_attn_states"]
BEGIN, END = "<!-- made by tools/readme_table.py -->\n", "<!-- end -->\n"


def result_of(path, basis):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    if result["status"] != "done" or result["device"]["basis"] != basis:
        sys.exit(f"{path}: not a finished, {basis} run")
    return result


def short(name, modelled, measured):
    if [w["dims"] for w in modelled["workloads"]] != [w["dims"] for w in measured["workloads"]]:
        sys.exit(f"{name}: other workloads were measured")
    ups = [w["speedup"] for w in modelled["workloads"]]
    real = measured["speedup"]
    return (f"| {name} | {len(ups)} | {modelled['speedup']['geomean']:.2f} | {min(ups):.2f} to {max(ups):.2f} "
            f"| {real['geomean']:.2f} | {real['low']:.3f} to {real['high']:.3f} |")


def rows(name, result):
    for n, w in enumerate(result["workloads"]):
        dims = " ".join(f"{k}={v}" for k, v in w["dims"].items())
        yield (f"| {name if n == 0 else ''} | {dims} | {w['baseline_us']:.2f} | {w['best_us']:.2f} | {w['speedup']:.2f} "
               f"| {100 * w['light_us'] / w['best_us']:.0f} % | {w['bound_by']} |")
    yield f"| | **geometric mean** | | | **{result['speedup']['geomean']:.2f}** | | |"


def put(path, lines):
    with open(path, encoding="utf-8") as file:
        head, rest = file.read().split(BEGIN)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1])


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    runs = sys.argv[1] if len(sys.argv) > 1 else "astra-runs/demo"
    brief = ["| kernel | workloads | modelled | least to most | measured on an H200 | 95 % interval |", "|---|---:|---:|---:|---:|---:|"]
    long = ["| kernel | workload | original us | best us | speed-up | of copy | bound by |", "|---|---|---:|---:|---:|---:|---|"]
    for name in TASKS:
        modelled = result_of(os.path.join(runs, name, "result.json"), "modelled")
        brief.append(short(name, modelled, result_of(f"docs/results/optimize/{name}.json", "measured")))
        long += rows(name, modelled)
    put("README.md", brief)
    put("docs/results/demo.md", long)


main()
