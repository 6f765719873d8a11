#!/usr/bin/env python3
"""tools/h200/bench_table.py LINES: a row for each line that `astra bench --json` printed, the least speed-up first.

Times are original / version / plain copy of the compulsory bytes, in us, a workload each."""

import json
import sys

rows = []
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        try:
            r = json.loads(line)
            s = r["speedup"]
            times = "; ".join(f"{w['baseline_us'] or 0:.2f} / {w['best_us'] or 0:.2f} / {w['light_us'] or 0:.2f}" for w in r["workloads"])
            rows.append((s["geomean"] or 0, f"{r.get('name', r['task']):44} {r['verdict']:8} {s['geomean'] or 0:.3f} [{s['low'] or 0:.3f}, {s['high'] or 0:.3f}]  {times}  {r['words'][:60]}"))
        except (ValueError, KeyError, TypeError):
            print(line[:200].strip())
for _, text in sorted(rows):
    print(text)
