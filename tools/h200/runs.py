#!/usr/bin/env python3
"""Tables of what tools/h200/optimize.sh left in DIR, beside the best times known: tools/h200/runs.py DIR"""
import csv
import json
import math
import os
import sys

folder = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "../../docs/results/best-known.csv"), newline="") as file:
    known = {(r["task"], r["dims"]): float(r["best_us"]) for r in csv.DictReader(file) if r["best_us"]}


def geomean(x):
    return math.exp(sum(map(math.log, x)) / len(x))


def number(x, form):
    return "-" if x is None else form % x


summary = ["| from | geomean | 95 % interval | least | share of the copy | of best known, least | candidates | run |",
           "|---|---|---|---|---|---|---|---|"]
details = []
for name in sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".json")):
    with open(os.path.join(folder, name + ".json")) as file:
        r = json.load(file)
    task, shares = name.replace("-production", ""), []
    details += [f"\n### {name}\n", "| shape | original us | best us | speed-up | 95 % interval | copy us | of copy | best known us | of best known |",
                "|---|---|---|---|---|---|---|---|---|"]
    for w in r["workloads"]:
        shape = "x".join(str(v) for v in w["dims"].values())
        best = known.get((task, shape))
        if best:
            shares.append(100 * best / w["best_us"])
        interval = "-" if w["low"] is None else f"{w['low']:.3f} to {w['high']:.3f}"
        details.append(f"| {shape} | {w['baseline_us']:.2f} | {w['best_us']:.2f} | {w['speedup']:.3f}x | {interval} | {w['light_us']:.2f} | "
                       f"{100 * w['light_us'] / w['best_us']:.0f} % | {number(best, '%.2f')} | {number(best and shares[-1], '%.0f %%')} |")
    s, w = r["speedup"], r["workloads"]
    interval = "-" if s["low"] is None else f"{s['low']:.3f} to {s['high']:.3f}"
    copies = [100 * x["light_us"] / x["best_us"] for x in w]
    summary.append(f"| {name} | {s['geomean']:.3f}x | {interval} | {min(x['speedup'] for x in w):.3f}x | {min(copies):.0f} to {max(copies):.0f} % | "
                   f"{number(min(shares) if shares else None, '%.0f %%')} | {r['candidates']['total']} | {r['wall_s']:.0f} s |")
print("\n".join(summary + details))
