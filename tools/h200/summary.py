#!/usr/bin/env python3
"""A short table of OUT_DIR/bench.csv: per task and version the times, and the gain over the original."""
import csv
import math
import sys

with open(f"{sys.argv[1]}/bench.csv", newline="") as file:
    rows = list(csv.DictReader(file))

times = {(r["task"], r["version"], r["dims"], r["regime"]): float(r["median_us"]) for r in rows if r["median_us"]}
versions = list(dict.fromkeys((r["task"], r["version"]) for r in rows))
for regime in ("cold", "hot"):
    print(f"\n{regime}: microseconds per workload; geomean of original / version")
    for task, version in versions:
        dims = [d for (t, v, d, g) in times if (t, v, g) == (task, version, regime)]
        gains = [times[task, "kernel", d, regime] / times[task, version, d, regime]
                 for d in dims if (task, "kernel", d, regime) in times]
        if not dims:
            continue
        gain = f"{math.exp(sum(map(math.log, gains)) / len(gains)):6.2f}x" if gains else "      -"
        cells = " ".join(f"{times[task, version, d, regime]:.4g}" for d in dims)
        print(f"{task:22.22} {version:22.22} {gain}  {cells}")
bad = [r for r in rows if r["correct"] == "no" or (r["status"] or "").strip() != "ok"]
for r in bad:
    print(f"NOT RIGHT: {r['task']} {r['version']} {r['dims']} {r['regime']}: correct {r['correct']}, {r['status']}")
print(f"\n{len(times)} times, {len(bad)} rows that are not right")
