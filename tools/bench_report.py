#!/usr/bin/env python3
"""How long the report of a run of over 50 candidates takes: to be written, and to be opened in a browser.

    bench_report.py ASTRA [RUN]       RUN: a run that is there; else one is made
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
from browser import Browser  # pylint: disable=wrong-import-position

EXAMPLE = "silu_and_mul"
TARGET_MS, TARGET_OPEN_MS, TIMES = 200, 1000, 11


def make(astra, out):
    """The rules, then a model's recorded answers."""
    subprocess.run([astra, "optimize", "--no-memory", os.path.join(ROOT, "examples", EXAMPLE), "--device", "sim", "--agents", "llm", "--provider",
                    "replay", "--replay", os.path.join(ROOT, "examples", "recordings", EXAMPLE), "--rounds", "3", "--candidates",
                    "24", "--seed", "7", "--hidden-seed", "1", "--quiet", "--out", out], check=True, stdout=subprocess.DEVNULL)


def written(astra, run, page):
    """Milliseconds of the whole program, from its start to its end."""
    all_ms = []
    for _ in range(TIMES):
        start = time.perf_counter()
        subprocess.run([astra, "report", run, "--out", page], check=True, stdout=subprocess.DEVNULL)
        all_ms.append(1e3 * (time.perf_counter() - start))
    return all_ms


def opened(page):
    """Milliseconds from the navigation until it is loaded, and until something is painted."""
    loaded, painted = [], []
    with Browser() as b:
        for width in (1280, 360):
            b.show(width)
            for _ in range(TIMES):
                b.open(page)
                both = b.value("""new Promise((done) => requestAnimationFrame(() => setTimeout(() => done([
                    performance.getEntriesByType("navigation")[0].loadEventEnd,
                    performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()]))))""")
                loaded.append(both[0])
                painted.append(both[1])
    return loaded, painted


def line(what, all_ms, target):
    middle = statistics.median(all_ms)
    print(f"{what:<28} {middle:>8.1f} {max(all_ms):>8.1f}   below {target}: {'met' if middle < target else 'missed'}")


def main():
    astra = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="astra-bench-") as folder:
        run, page = os.path.join(folder, "run"), os.path.join(folder, "report.html")
        if len(sys.argv) > 2:
            run = sys.argv[2]
        else:
            make(astra, run)
        write_ms = written(astra, run, page)
        with open(page, encoding="utf-8") as file:
            candidates = file.read().count('<details class="candidate"') - 1
        load_ms, paint_ms = opened(page)
        print(f"{candidates} candidates, {os.path.getsize(page) / 1024:.0f} KiB\n{'ms':<28} {'median':>8} {'largest':>8}")
        line("written (whole program)", write_ms, TARGET_MS)
        line("opened: first paint", paint_ms, TARGET_OPEN_MS)
        line("opened: loaded", load_ms, TARGET_OPEN_MS)


main()
