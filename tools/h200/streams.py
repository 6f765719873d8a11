#!/usr/bin/env python3
"""Decode sizes between neighbours: tools/h200/streams.py ASTRA OUT [--device cuda] [--rounds 5].

silu_and_mul, fused_add_rmsnorm and merge_attn_states from their production forms, at most 64 rows, scored by the regime
stream (the kernel ahead never triggers) and by stream-pdl (it triggers at its start). Prints a table of the best versions
and, of programmatic dependent launch, what it gained over the version it was applied to; writes OUT/streams.md.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TASKS = {"silu_and_mul": ["1, 14336", "16, 4096", "32, 8192", "64, 8192"],
         "fused_add_rmsnorm": ["1, 4096", "16, 4096", "64, 8192"],
         "merge_attn_states": ["1, 32, 128", "16, 32, 128", "64, 32, 128"]}


def make_task(name, regime, folder):
    os.makedirs(folder, exist_ok=True)
    example = os.path.join(ROOT, "examples", name)
    for file in ("production.cu", "reference.cu"):
        shutil.copy(os.path.join(example, file), folder)
    text = open(os.path.join(example, "task.yaml"), encoding="utf-8").read()
    text = re.sub(r"^source: .*$", "source: production.cu", text, flags=re.M)
    text = re.sub(r"^regime: .*\n", "", text, flags=re.M)
    text = re.sub(r"^workloads:\n(  - .*\n)+", "workloads:\n" + "".join(f"  - [{w}]\n" for w in TASKS[name]), text, flags=re.M)
    with open(os.path.join(folder, "task.yaml"), "w", encoding="utf-8") as out:
        out.write(text.rstrip("\n") + f"\nregime: {regime}\n")


def figure(value, form):
    return "-" if value is None else form % value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("astra")
    parser.add_argument("out")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", default="5")
    args = parser.parse_args()
    lines = ["| kernel | scored | last step | workload | neighbours us | original us | best us | speed-up | interval | |",
             "|---|---|---|---|---:|---:|---:|---:|---|---|"]
    for name in TASKS:
        for regime in ("stream", "stream-pdl"):
            task = os.path.join(args.out, f"{name}-{regime}", "task")
            make_task(name, regime, task)
            run = os.path.join(args.out, f"{name}-{regime}", "run")
            shutil.rmtree(run, ignore_errors=True)
            done = subprocess.run([args.astra, "optimize", task, "--device", args.device, "--rounds", args.rounds, "--no-memory",
                                   "--out", run, "--json"], capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name} {regime}: {done.stderr[-2000:]}")
            result = json.loads(done.stdout)
            shown = subprocess.run([args.astra, "report", run, "--json"], capture_output=True, text=True, check=True).stdout
            candidates = json.loads(shown)["report"]["candidates"]
            best = next(c["name"] for c in candidates if c["best"])
            pdl = [f"{c['verdict']}, {c['gain']:.3f}" if c["gain"] else c["verdict"] for c in candidates if c["name"] == "pdl"]
            total = dict(result["speedup"], speedup=result["speedup"]["geomean"], dims={})
            for row in result["workloads"] + [total]:
                dims = "x".join(str(n) for n in row["dims"].values()) or "geometric mean"
                interval = "-" if row.get("low") is None else f"{row['low']:.3f} to {row['high']:.3f}"
                lines.append(f"| {name} | {regime} | {best} | {dims} | {figure(row.get('neighbours_us'), '%.2f')} | "
                             f"{figure(row.get('baseline_us'), '%.3f')} | {figure(row.get('best_us'), '%.3f')} | "
                             f"{figure(row['speedup'], '%.3f')} | {interval} |" + (" |" if row is not total else ""))
            lines[-1] += f" pdl over its parent: {', '.join(pdl) or 'did not apply'} |"
            print("\n".join(lines[-len(result["workloads"]) - 1:]), flush=True)
    with open(os.path.join(args.out, "streams.md"), "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


main()
