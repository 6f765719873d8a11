#!/usr/bin/env python3
"""fit.py MEASURED.csv PREDICTED.csv: how far the clock's modelled times lie from measured ones.

MEASURED.csv is what tools/h200/run.sh writes, PREDICTED.csv what tools/clock/predict prints. Points are halved by a hash of
their version and shape: parameters were chosen on the first half alone, the second half tests them. Pairs are two versions
of one task at one shape and regime whose measured times differ by at least 20 % (--differ)."""
import argparse
import csv
import itertools
import math
import statistics
import sys
import zlib

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("measured")
parser.add_argument("predicted")
parser.add_argument("--all", action="store_true", help="print every point")
parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N worst points")
parser.add_argument("--by", choices=["task", "version", "regime"], help="errors by this column")
parser.add_argument("--half", choices=["fit", "test"], help="only these points")
parser.add_argument("--late", default="0,0", metavar="COLD,HOT", help="us that each measured launch took too long")
parser.add_argument("--differ", type=float, default=20, metavar="PERCENT", help="pairs that differ by this much count")
options = parser.parse_args()


def half(point):
    return "fit" if zlib.crc32("/".join(point[:3]).encode()) & 1 else "test"


late = dict(zip(("cold", "hot"), map(float, options.late.split(","))))
measured = {}
with open(options.measured, newline="") as file:
    for row in csv.DictReader(file):
        if row["median_us"] and row["status"] == "ok" and row["task"] != "empty":
            us = float(row["median_us"]) - late[row["regime"]] * int(row.get("launches") or 1)
            measured[row["task"], row["version"], row["dims"], row["regime"]] = us
predicted = {}
with open(options.predicted, newline="") as file:
    for row in csv.reader(line for line in file if not line.startswith("#")):
        if len(row) >= 6 and row[0] != "task":
            predicted[tuple(row[:4])] = (float(row[4]), row[5])

points = {p: (measured[p], *predicted[p]) for p in measured if p in predicted}
if options.half:
    points = {p: v for p, v in points.items() if half(p) == options.half}
if not points:
    sys.exit("fit: no point is in both files")


def error(p):
    return points[p][1] / points[p][0] - 1


def table(name, keys):
    errors = sorted(abs(error(p)) for p in keys)
    bias = statistics.median(error(p) for p in keys)
    print(
        f"{name:34} {len(errors):5} points  median {100 * statistics.median(errors):5.1f} %  "
        f"90th {100 * errors[int(0.9 * (len(errors) - 1))]:5.1f} %  worst {100 * errors[-1]:5.1f} %  "
        f"bias {100 * bias:+5.1f} %"
    )


def ratio_errors(keys):
    """By how much the modelled ratio of two versions' times is off, where the measured one is within --differ."""
    groups = {}
    for p in keys:
        groups.setdefault((p[0], p[2], p[3]), []).append(p)
    errors = []
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            measured_ratio, modelled_ratio = (points[a][i] / points[b][i] for i in (0, 1))
            if max(measured_ratio, 1 / measured_ratio) < 1 + options.differ / 100:
                errors.append(abs(math.log(modelled_ratio / measured_ratio)))
    return sorted(errors)


def pairs(keys):
    groups = {}
    for p in keys:
        groups.setdefault((p[0], p[2], p[3]), []).append(p)
    right, wrong = 0, []
    for group in groups.values():
        for a, b in itertools.combinations(group, 2):
            if max(points[a][0], points[b][0]) < (1 + options.differ / 100) * min(points[a][0], points[b][0]):
                continue
            if (points[a][0] < points[b][0]) == (points[a][1] < points[b][1]):
                right += 1
            else:
                wrong.append((a, b))
    return right, wrong


if options.all or options.worst:
    order = sorted(points) if options.all else sorted(points, key=lambda p: -abs(error(p)))[: options.worst]
    for p in order:
        us, model, bound = points[p]
        print(f"{p[0]:24} {p[1]:18} {p[2]:14} {p[3]:4} {us:9.2f} {model:9.2f} {100 * error(p):+7.1f} %  {bound}")
if options.by:
    column = {"task": 0, "version": 1, "regime": 3}[options.by]
    for name in sorted({p[column] if column != 1 else f"{p[0]} {p[1]}" for p in points}):
        table(name, [p for p in points if (p[column] if column != 1 else f"{p[0]} {p[1]}") == name])
for name in ("fit", "test"):
    keys = [p for p in points if half(p) == name]
    if keys:
        table("fitted on" if name == "fit" else "not fitted on", keys)
table("all", list(points))
right, wrong = pairs(points)
if right + len(wrong):
    print(f"pairs that differ by {options.differ:g} % or more: {right} of {right + len(wrong)} in the right order "
          f"({100 * right / (right + len(wrong)):.1f} %)")
ratios = ratio_errors(points)
if ratios:
    half, three_quarters, most = (100 * math.expm1(ratios[int(q * (len(ratios) - 1))]) for q in (0.5, 0.75, 0.9))
    print(f"ratios of the {len(ratios)} pairs that differ by less: half are off by at most {half:.1f} %, "
          f"three quarters by {three_quarters:.1f} %, nine tenths by {most:.1f} %")
if options.all or options.worst:
    for a, b in wrong[: options.worst or None]:
        print(f"wrong: {a[0]} {a[2]} {a[3]}: {a[1]} {points[a][0]:.2f} ({points[a][1]:.2f}), "
              f"{b[1]} {points[b][0]:.2f} ({points[b][1]:.2f})")
