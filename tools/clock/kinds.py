#!/usr/bin/env python3
"""kinds.py ASTRA DEVICE [TASK ...] >TIMES.csv: times of kinds of kernels that the clock was not settled with (kinds.tsv).

With DEVICE sim they are the clock's, with cuda a GPU's, three tasks (JOBS) at a time, for more wait for each other's times; fit.py
compares the two. What does not pass is left out, and said. Rows are written as a task ends. With DEVICE predict ASTRA is
build/tools/predict: the clock's times alone, nothing judged."""
import concurrent.futures
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from points import points, writer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def kinds():
    with open(os.path.join(ROOT, "tools/clock/kinds.tsv"), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                task, workloads, files = line.rstrip("\n").split("\t")
                yield task, workloads.split() if workloads != "-" else [], files.split()


def larger(folder, task, workloads):
    """The task at other workloads."""
    copy = os.path.join(folder, os.path.basename(task))
    shutil.copytree(os.path.join(ROOT, task if "/" in task else os.path.join("tests/tasks", task)), copy)
    path = os.path.join(copy, "task.yaml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if workloads:
        rows = "".join(f"  - [{', '.join(w.split('x'))}]\n" for w in workloads)
        text = re.sub(r"^workloads:\n(?:[ #].*\n|\n)*", lambda _: "workloads:\n" + rows, text, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return copy


def found(task, name):
    """The file of a version: beside a task of its own folder, else below tests/."""
    return os.path.join(ROOT, task if "/" in task else "tests", name)


def predicted(predict, copy, files):
    """Rows of the CSV, and what was left out, by the clock alone."""
    done = subprocess.run([predict, copy, os.path.join(copy, "kernel.cu"), *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    rows = [row for row in csv.reader(done.stdout.splitlines()) if len(row) >= 6 and row[0] not in ("task", "# task")]
    return rows, done.stderr.splitlines()


def times(astra, device, folder, kind):
    """Rows of the CSV, and what was left out."""
    task, workloads, files = kind
    copy, rows, left = larger(folder, task, workloads), [], []
    if device == "predict":
        return predicted(astra, copy, [found(task, name) for name in files])
    for name in files:
        done = subprocess.run([astra, "bench", copy, found(task, name), "--device", device, "--json", "--quiet"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        result = json.loads(done.stdout) if done.stdout else {"verdict": "no answer", "words": done.stderr.strip()}
        if result["verdict"] not in ("passed", "slower"):
            left.append(f"{task} {name}: {result['verdict']}: {result['words']}")
            continue
        versions = {} if rows else {"kernel": "baseline_us"}
        versions[os.path.splitext(os.path.basename(name))[0]] = "best_us"
        rows += points(os.path.basename(task), result, versions)
    return rows, left


def main():
    astra, device, only = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    out = writer(sys.stdout)
    chosen = [kind for kind in kinds() if not only or os.path.basename(kind[0]) in only]
    jobs = int(os.environ.get("JOBS") or (3 if device == "cuda" else os.cpu_count()))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(times, astra, device, folder, kind) for kind in chosen]):
            rows, left = done.result()
            out.writerows(rows)
            sys.stdout.flush()
            for line in left:
                print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
