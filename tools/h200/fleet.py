"""The table of fleet.sh: python3 tools/h200/fleet.py ASTRA OUT_DIR cores|gpus"""

import contextlib
import glob
import json
import os
import sqlite3
import subprocess
import sys
import time


def events(path):
    with open(path) as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # of a run that was killed


class Phase:
    """Versions judged, or settings timed, from the first that was begun to the last that was done."""

    def __init__(self):
        self.n, self.first, self.last = 0, None, None

    def begun(self, t):
        self.first = t if self.first is None else self.first

    def done(self, t):
        self.n, self.last = self.n + 1, t

    def seconds(self):
        return (self.last or 0) - (self.first or 0)


def run_of(path):
    """(versions of rounds, settings, second of the confirmation or the end, {n: seconds with n versions at workers})"""
    judged, timed, whole, under_way, before, full = Phase(), Phase(), 0.0, 0, None, {}
    for e in events(path):
        name, t = e["event"], e["t_s"]
        whole = t
        if name == "doing" and "confirms" in e.get("text", ""):
            break
        if before is not None:
            full[under_way] = full.get(under_way, 0.0) + t - before
        if name == "doing" and "tunes the" in e.get("text", ""):
            timed.begun(t)
        elif name == "submitted" and timed.first is None:
            judged.begun(t)
            before = t
        elif name == "started":
            under_way += 1
        elif name == "judged":
            under_way = max(0, under_way - 1)
            if timed.first is None:
                judged.done(t)
        elif name == "tune_point":
            timed.done(t)
        before = None if before is None else t
    return judged, timed, whole, full


def gpu_seconds(path):
    """What the trials of a run held a GPU for."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        trials = [json.loads(row[0]) for row in db.execute("SELECT trial FROM trial")]
    return sum(t.get(key) or 0 for t in trials for key in ("gpu_verify_s", "gpu_measure_s"))


def show(out, pattern):
    ones = {}
    print("%-30s %26s %26s %22s" % ("run", "versions in s, times one", "settings in s, times one", "whole s, times one"))
    for path in sorted(glob.glob(os.path.join(out, pattern))):
        name = os.path.basename(path)[:-6]
        what, n = name.rsplit("-", 1)
        judged, timed, whole, full = run_of(path)
        spans = (judged.seconds(), timed.seconds(), whole)
        one = ones.setdefault(what, spans) if n == "1" else ones.get(what, spans)
        times = ["%.2f" % (a / b) if b > 0 else "-" for a, b in zip(one, spans)]
        print("%-30s %26s %26s %22s" % (name, "%d in %.1f, %s" % (judged.n, spans[0], times[0]), "%d in %.1f, %s" % (timed.n, spans[1], times[1]),
                                        "%.1f, %s" % (whole, times[2])))
        print("    seconds with so many at workers: " + ", ".join("%d: %.1f" % x for x in sorted(full.items())))
        db = path[:-6] + ".db"
        if "gpus" in what and os.path.exists(db):
            print("    GPUs held for %.1f s in all" % gpu_seconds(db))


def greeting(astra):
    took = []
    for _ in range(11):
        start = time.monotonic()
        node = subprocess.Popen([astra, "node"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        node.stdout.readline()
        took.append(time.monotonic() - start)
        node.stdin.close()
        node.wait()
    took.sort()
    print("a node greets after %.0f ms (median of 11, at most %.0f ms)" % (1e3 * took[5], 1e3 * took[-1]))


def main():
    astra, out, mode = sys.argv[1:]
    show(out, "*-gpus-*.jsonl" if mode == "gpus" else "*-[jw]*-*.jsonl")
    if mode == "cores":
        greeting(astra)


main()
