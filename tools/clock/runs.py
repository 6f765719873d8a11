#!/usr/bin/env python3
"""runs.py RESULT.json...: the measured times of `astra optimize` on a GPU as points for fit.py, on stdout.

A result NAME.json is of examples/TASK/kernel.cu, or with NAME ending in -production of production.cu; its best version lies
beside it as NAME.cu."""
import csv
import json
import pathlib
import sys

out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["task", "version", "dims", "regime", "median_us", "status"])
for path in map(pathlib.Path, sys.argv[1:]):
    result = json.loads(path.read_text())
    if result["device"]["basis"] != "measured":
        sys.exit(f"runs: {path} is modelled")
    original = "production" if path.stem.endswith("-production") else "kernel"
    for row in result["workloads"] + result["other_regime"]:
        dims = "x".join(str(x) for x in row["dims"].values())
        times = {original: row["baseline_us"]}
        if result["outcome"] == "improved":
            times[path.stem] = row["best_us"]
        for version, us in times.items():
            if us is not None:
                out.writerow([result["task"], version, dims, row["regime"], f"{us:.4f}", "ok"])
