#!/usr/bin/env python3
"""The tables of docs/results/h200.md out of a bench.csv: tools/h200/table.py BENCH.csv [VERSION]

VERSION is the label of the versions that the rules made (default: rules). Cold times. best-known.csv holds the best
times we know of, measured by another program under which every launch, the plain copy too, took about 0.35 us less
(the difference of both programs' copies, OFFSET_US below); a share of the best known adds that back."""
import csv
import math
import os
import sys

OFFSET_US = 0.35
PAPER = {
    "silu_and_mul": "16x4096 32x5120 32x8192 16x12288 64x8192",
    "silu_and_mul_bf16": "16x4096 32x5120 32x8192 16x12288 64x8192",
    "fused_add_rmsnorm": "256x4096 1024x4096 128x4096 2048x8192 256x13824 512x14336",
    "fused_add_rmsnorm_bf16": "256x4096 1024x4096 128x4096 2048x8192 256x13824 512x14336",
    "merge_attn_states": "512x32x256 512x40x128 768x32x256 768x40x128 512x64x128",
}

here = os.path.dirname(os.path.abspath(__file__))
best = {}
with open(os.path.join(here, "../../docs/results/best-known.csv"), newline="") as file:
    for row in csv.DictReader(file):
        best[row["task"], row["dims"]] = float(row["best_us"])
made = sys.argv[2] if len(sys.argv) > 2 else "rules"
rows = {}
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        if row["regime"] == "cold" and row["median_us"] and row["correct"] == "yes" and row["status"].strip() == "ok":
            rows[row["task"], row["version"], row["dims"]] = row


def us(task, version, dims, key="median_us"):
    row = rows.get((task, version, dims))
    return float(row[key]) if row else math.nan


def mean(values):
    values = [v for v in values if not math.isnan(v)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def text(value, form):
    return "-" if math.isnan(value) else form.format(value)


print("| task | shape | original us | rules us | speed-up | 10-90 % | production us | copy us | share of copy | of best known |")
print("|---|---|---|---|---|---|---|---|---|---|")
tasks = list(dict.fromkeys(t for t, v, _ in rows if v == made))
for task in tasks:
    for dims in [d for t, v, d in rows if (t, v) == (task, made)]:
        old, new, copy = us(task, "kernel", dims), us(task, made, dims), us(task, made, dims, "copy_us")
        low = us(task, "kernel", dims, "p10_us") / us(task, made, dims, "p90_us")
        high = us(task, "kernel", dims, "p90_us") / us(task, made, dims, "p10_us")
        of_best = (best.get((task, dims), math.nan) + OFFSET_US) / new
        print(f"| {task} | {dims} | {old:.2f} | {new:.2f} | {old / new:.2f}x | {low:.2f}-{high:.2f} | "
              f"{text(us(task, 'production', dims), '{:.2f}')} | {copy:.2f} | {100 * copy / new:.0f} % | "
              f"{text(100 * of_best, '{:.0f} %')} |")
print("\n| task | geomean | over the paper's shapes | rules over production | least | of best known, least |")
print("|---|---|---|---|---|---|")
for task in tasks:
    shapes = [d for t, v, d in rows if (t, v) == (task, made)]
    gain = {d: us(task, "kernel", d) / us(task, made, d) for d in shapes}
    over = mean([us(task, "production", d) / us(task, made, d) for d in shapes])
    paper = mean([gain[d] for d in PAPER.get(task, "").split() if d in gain])
    known = [(best[task, d] + OFFSET_US) / us(task, made, d) for d in shapes if (task, d) in best]
    print(f"| {task} | {mean(gain.values()):.2f}x | {text(paper, '{:.2f}x')} | {text(over, '{:.2f}x')} | "
          f"{min(gain.values()):.2f}x | {text(100 * min(known, default=math.nan), '{:.0f} %')} |")
for task in dict.fromkeys(t for t, v, _ in rows if v == "from_production"):
    shapes = [d for t, v, d in rows if (t, v) == (task, "from_production")]
    print(f"\nFrom `production.cu` of {task}:\n\n| shape | production us | rules us | speed-up |\n|---|---|---|---|")
    gain = {}
    for dims in shapes:
        gain[dims] = us(task, "production", dims) / us(task, "from_production", dims)
        print(f"| {dims} | {us(task, 'production', dims):.2f} | {us(task, 'from_production', dims):.2f} | {gain[dims]:.2f}x |")
    wanted = PAPER[task].split() + (["1x14336", "128x11008"] if task.startswith("silu") else [])
    print(f"| geomean | | | {mean(gain.values()):.2f}x |")
    print(f"| over the paper's shapes{', 1x14336 and 128x11008' if task.startswith('silu') else ''} | | | "
          f"{mean([gain[d] for d in wanted if d in gain]):.2f}x |")
