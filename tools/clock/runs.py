#!/usr/bin/env python3
"""runs.py RESULT.json...: the measured times of `astra optimize` on a GPU as points for fit.py, on stdout.

A result NAME.json is of examples/TASK/kernel.cu, or with NAME ending in -production of production.cu; its best version lies
beside it as NAME.cu."""
import json
import pathlib
import sys

from points import points, writer

out = writer(sys.stdout)
for path in map(pathlib.Path, sys.argv[1:]):
    result = json.loads(path.read_text())
    if result["device"]["basis"] != "measured":
        sys.exit(f"runs: {path} is modelled")
    versions = {"production" if path.stem.endswith("-production") else "kernel": "baseline_us"}
    if result["outcome"] == "improved":
        versions[path.stem] = "best_us"
    out.writerows(points(result["task"], result, versions))
