"""Runs beside each other: the list, two results, several on a page, and a speed-up that a build insists on."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import time

from browser import started
from harness import (GAINS, GPU_TASK, KERNEL, ROOT, TASK, astra, case, cases, expect, gpu_environment, kept, main, read, rest, said, small_gpu_task,
                     small_task, start, without_nvcc, write)

without_nvcc()
QUICK = ("--rounds", "2", "--candidates", "4", "--seed", "7", "--hidden-seed", "11", "--quiet")
NOTHING = ("--rounds", "1", "--candidates", "1", "--quiet", "--budget-time", "0.01s")  # its time is up before anything was tried
# Runs that the cases share, made when first asked for: name, the task's text, options.
RUNS = {
    "better": (GAINS, KERNEL, QUICK),
    "less": (GAINS, KERNEL, (*NOTHING, "--seed", "7")),
    "other-device": (GAINS, KERNEL, (*NOTHING, "--device", "sim:rtx4090")),
    "other-task": (GAINS.replace("scale_rows\n", "scaled\n", 1), KERNEL.replace("* factor", "* factor * 2.0f"),
                   ("--rounds", "1", "--candidates", "1", "--quiet")),
    "asked": (GAINS, KERNEL, ("--rounds", "1", "--candidates", "1", "--quiet", "--seed", "7", "--agents", "llm", "--provider", "exec",
                             "--model", "nobody", "--command", "echo no")),
    "modelled": (GPU_TASK, KERNEL, ("--rounds", "1", "--candidates", "1", "--quiet")),
}


def runs(folder, *names):
    """Copies of these runs below folder/astra-runs."""

    def make(home):
        task, kernel, options = RUNS[name]
        small_task(home, task, kernel)
        said(astra(home, "optimize", "task", "--out", "run", *options), 3 if "--budget-time" in options else 0)

    for name in names:
        shutil.copytree(os.path.join(kept(name, make)[0], "run"), os.path.join(folder, "astra-runs", name))


def measured(folder, name, speedup, half_width):
    """A run on the GPU of the tests, which times everything alike; its confirmation then says these figures instead."""

    def make(home):
        small_gpu_task(home)
        said(astra(home, "optimize", "task", "--rounds", "1", "--candidates", "1", "--jobs", "1", "--quiet",
                   "--out", "run", env=gpu_environment()), 0)

    shutil.copytree(os.path.join(kept("measured", make)[0], "run"), os.path.join(folder, "astra-runs", name))
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "astra-runs", name, "run.db"))) as db, db:
        trial = json.loads(db.execute("SELECT value FROM meta WHERE key = 'confirmation'").fetchone()[0])
        figures = {"low": speedup - half_width, "high": speedup + half_width}
        trial.update(score=speedup, **figures)
        for workload in trial["workloads"]:
            for regime in ("cold", "hot"):
                workload[regime].update(speedup=speedup, **figures)
        db.execute("UPDATE meta SET value = ? WHERE key = 'confirmation'", (json.dumps(trial),))


def listed(folder, *options):
    return [row["run"] for row in json.loads(said(astra(folder, "runs", *options, "--json"), 0).out)]


# ---- the list ----


@case
def the_list_fits_a_terminal(folder):
    runs(folder, "better", "less", "other-device", "modelled")
    long = "scale_rows-20261121-205411-12345"
    os.rename(os.path.join(folder, "astra-runs", "less"), os.path.join(folder, "astra-runs", long))
    out = said(astra(folder, "runs"), 0).out
    expect(max(len(line) for line in out.splitlines()) <= 80, out)
    for word in ("run ", "outcome", "speed-up", "better", long, "improved", "budget", "unchanged", "modelled for", "4090", "4 runs"):
        expect(word in out, f"no {word} in\n{out}")


LISTED = {"better", "less", "other-device", "other-task"}


@cases([("task", ("--task", "scale*"), LISTED), ("other task", ("--task", "scaled"), {"other-task"}),
        ("improved", ("--outcome", "improved", "--task", "scale_rows"), {"better"}),
        ("done", ("--outcome", "done"), {"better", "other-task"}),
        ("budget", ("--outcome", "budget"), {"less", "other-device"}), ("running", ("--outcome", "running"), set()),
        ("cuda", ("--device", "cuda"), set()), ("rules", ("--agents", "rules", "--task", "scaled"), {"other-task"}),
        ("llm", ("--agents", "llm"), set()), ("since", ("--since", "2d"), LISTED),
        ("since a day to come", ("--since", "9999-01-01"), set())])
def chosen(folder, row):
    runs(folder, *LISTED)
    names = listed(folder, *row[1])
    expect(set(names) == row[2], names)
    out = said(astra(folder, "runs", *row[1]), 0).out
    expect(f"{len(names)} of 4 runs" in out or len(names) == 4 and "4 runs" in out, out)


@cases(["speedup", "date", "task", "cost", "time"])
def sorted_by(folder, key):
    runs(folder, "better", "less", "other-task")
    rows = json.loads(said(astra(folder, "runs", "--sort", key, "--json"), 0).out)
    field = {"speedup": "speedup", "date": "started", "task": "task", "cost": "usd", "time": "wall_s"}[key]
    values = [row[field] for row in rows]
    expect(values == sorted(values, reverse=key != "task"), values)
    turned = [row[field] for row in json.loads(said(astra(folder, "runs", f"--sort=-{key}", "--json"), 0).out)]
    expect(turned == values[::-1], turned)
    expect(listed(folder, "--sort", key, "--reverse") == listed(folder, "--sort", f"-{key}"), "--reverse is not -")


@cases([("sort", "--sort", "length"), ("outcome", "--outcome", "good"), ("device", "--device", "tpu"),
        ("since word", "--since", "yesterday"), ("since month", "--since", "2026-13-01"), ("since tail", "--since", "2026-11-20Txx")])
def bad_choice(folder, row):
    said(astra(folder, "runs", row[1], row[2]), 2, row[1], row[2])


@case
def broken_and_foreign_folders_are_named(folder):
    runs(folder, "less")
    below = os.path.join(folder, "astra-runs")
    os.mkdir(os.path.join(below, "foreign"))
    write(os.path.join(below, "broken", "run.db"), "this is no database, and it is long enough to be read as one" * 20)
    write(os.path.join(below, "empty", "run.db"), "")
    write(os.path.join(below, "notes.txt"), "a file is nobody's run")
    done = said(astra(folder, "runs"), 0, "left out: foreign: .*run.db", "left out: broken: .*not a", "left out: empty: ")
    expect("less" in done.out and "1 run\n" in done.out and "notes" not in done.out + done.err, done.out + done.err)
    expect(listed(folder) == ["less"], "they are in the JSON")


@case
def runs_in_folders_are_found(folder):
    runs(folder, "less", "better")
    os.mkdir(os.path.join(folder, "astra-runs", "demo"))
    shutil.move(os.path.join(folder, "astra-runs", "better"), os.path.join(folder, "astra-runs", "demo"))
    expect(set(listed(folder)) == {"less", "demo/better"}, listed(folder))
    said(astra(folder, "show", "demo/better"), 0)
    expect(listed(folder, "astra-runs/demo") == ["astra-runs/demo/better"], "as a folder of its own")
    expect(listed(folder, "astra-runs/less") == ["astra-runs/less"], "a run itself")


@case
def a_run_that_goes_on_and_one_that_was_killed(folder):
    small_task(folder)
    process = start(folder, "optimize", "task", "--out", "astra-runs/one", "--rounds", "50", "--candidates", "50")
    rows = []
    try:
        end = time.monotonic() + 60
        while not rows and time.monotonic() < end and process.poll() is None:
            time.sleep(0.1)
            rows = json.loads(said(astra(folder, "runs", "--outcome", "running", "--json"), 0).out or "[]")
        expect(rows and rows[0]["status"] == "running" and rows[0]["outcome"] is None, rows)
        expect("running" in said(astra(folder, "runs"), 0).out, "the table does not say it")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    rows = json.loads(said(astra(folder, "runs", "--json"), 0).out)
    expect(rows[0]["status"] == "interrupted" and rows[0]["wall_s"] is None, rows)


# ---- two results ----


def differences(folder, *names):
    """What diff says of two runs, as JSON; report says the same."""
    found = json.loads(said(astra(folder, "diff", *names, "--json"), 0).out)
    reported = json.loads(said(astra(folder, "report", *names, "--json"), 0).out)
    patch = found.pop("diff")
    expect(found == reported, "diff and report differ")
    return found, patch


@case
def two_runs(folder):
    runs(folder, "better", "less")
    found, patch = differences(folder, "less", "better")
    less, better = found["geomean"]
    expect(less["ratio"] is None and better["ratio"] == better["speedup"] / less["speedup"] > 1.03, found["geomean"])
    expect(better["differs"] == "faster" and differences(folder, "better", "less")[0]["geomean"][1]["differs"] == "slower", found)
    expect([row["dims"] for row in found["workloads"]] == ["rows=1024 d=1024", "rows=2048 d=1024"], found["workloads"])
    expect("3 %" in found["rule"] and not found["apart"], found)
    expect(found["options"] == {"rounds": ["1", "2"], "candidates": ["1", "4"], "tune_budget": ["2", "8"], "budget_s": ["0.01", "0"],
                                "hidden_seed": ["0", "11"]}, found["options"])
    progress = found["runs"][1]["progress"]
    expect(progress[0] == 1 and progress == sorted(progress) and len(progress) == found["runs"][1]["candidates"]["total"] + 1, progress)
    expect(found["runs"][1]["minds"] == dict.fromkeys(("tester", "profiler", "planner", "coder"), "rules"), found["runs"])
    out = said(astra(folder, "diff", "less", "better"), 0).out
    expect(out.endswith(patch) and "--- A/best.cu\n+++ B/best.cu\n" in patch, out)
    for words in ("A  astra-runs/less: scale_rows, rules, modelled for NVIDIA H200", "x faster", "differ by 3 % or more",
                  "passed", "USD", "Options that differ"):
        expect(words in out, f"no {words} in\n{out}")
    expect(max(len(line) for line in out[:out.index("--- A")].splitlines()) <= 80, out)
    expect("best files are the same" in said(astra(folder, "diff", "less", "less"), 0).out, "of a run and itself")


@case
def rules_against_a_model(folder):
    runs(folder, "less", "asked")
    found, _ = differences(folder, "less", "asked")
    minds = found["runs"][1]["minds"]
    expect(minds == {"tester": "nobody", "profiler": "rules", "planner": "rules, then nobody", "coder": "rules, then nobody"}, minds)
    expect(found["runs"][1]["cost"]["usd"] is None and found["runs"][1]["cost"]["calls"] > 0, found["runs"][1]["cost"])
    options = found["options"]
    expect(options["agents"] == ["rules", "llm"] and options["planner.model"] == [None, "nobody"], options)
    expect("planner.retry_s" not in options and "hidden_seed" not in options, options)
    expect(re.search(r"^USD +0.00 +-$", said(astra(folder, "diff", "less", "asked"), 0).out, re.M), "an unknown cost is a dash")


@cases([("task", "other-task", "another task \\(scaled, not scale_rows\\)"),
        ("device", "other-device", "another device \\(NVIDIA GeForce RTX 4090, not NVIDIA H200\\)")])
def apart(folder, row):
    runs(folder, "better", row[1])
    found, _ = differences(folder, "better", row[1])
    expect(len(found["apart"]) == 1 and re.search(row[2], found["apart"][0]), found["apart"])
    for cells in [found["geomean"], *(workload["runs"] for workload in found["workloads"])]:
        expect(all(cell["ratio"] is None and cell["differs"] is None for cell in cells), cells)
    expect(all(None in (a["speedup"], b["speedup"]) for a, b in (w["runs"] for w in found["workloads"])), "in one row")
    out = said(astra(folder, "diff", "better", row[1]), 0).out
    expect(out.startswith("B is not compared with A: ") and "faster" not in out and "slower " not in out.split("Candidates")[0], out)


@rest
def modelled_is_not_compared_with_measured(folder):
    runs(folder, "modelled")
    measured(folder, "measured", 1.5, 0.1)
    found, _ = differences(folder, "modelled", "measured")
    expect(found["apart"] == ["B is not compared with A: its times are measured, not modelled."], found["apart"])


@cases([("alike", 1.65, "alike"), ("faster", 1.75, "faster"), ("slower", 1.25, "slower")], every=0)
def intervals_decide(folder, row):
    measured(folder, "one", 1.5, 0.1)
    measured(folder, "other", row[1], 0.1)
    found, _ = differences(folder, "one", "other")
    expect(found["geomean"][1]["differs"] == row[2], found["geomean"])
    expect({w["runs"][1]["differs"] for w in found["workloads"]} == {row[2]}, found["workloads"])
    expect("do not touch" in found["rule"] and "3 %" not in found["rule"], found["rule"])


@case
def another_kernel_under_the_same_name(folder):
    runs(folder, "less")
    small_task(folder, GAINS, KERNEL.replace("* factor", "* factor * 1.0f"))
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--out", "astra-runs/other", "--quiet"), 0)
    found, _ = differences(folder, "less", "other")
    expect(found["apart"] == ["B is not compared with A: its task has the same name and another kernel.cu."], found["apart"])


@case
def what_cannot_be_compared(folder):
    runs(folder, "less")
    said(astra(folder, "diff", "less", "nowhere"), 2, "nowhere")
    said(astra(folder, "diff", "less", "--json"), 2, "--json")
    said(astra(folder, "report", *["less"] * 9), 2, "too much")


# ---- several on a page ----


@case
def several_runs_on_a_page(folder):
    runs(folder, "better", "less", "other-task")
    done = said(astra(folder, "report", "better", "less", "other-task"), 0)
    expect(done.out == "comparison.html\n", done.out)
    with open(os.path.join(folder, "comparison.html"), encoding="utf-8") as file:
        page = file.read()
    for words in ("C is not compared with A: another task", "scaled rows=1024 d=1024", 'id="progress-a"', 'id="progress-c"', "slower</small>"):
        expect(words in page, f"no {words}")
    expect(not re.search(r'(src|href)="(?!#|data:)', page) and "url(" not in page and "@import" not in page, "not self-contained")
    said(astra(folder, "report", "better", "less", "--out", "two.html", "--fail-under", "1.01"), 4, "the original stays")
    text = said(astra(folder, "report", "better", "less", "--markdown"), 0).out
    expect("| | A | B |\n|---|---:|---:|\n| rows=1024 d=1024 | " in text and "**geometric mean**" in text, text)


@case
def everybody_can_read_the_page(folder):
    runs(folder, "better", "less", "other-task")
    path = os.path.join(folder, "page.html")
    said(astra(folder, "report", "better", "less", "other-task", "--out", path), 0)
    with started() as browser:
        for width, dark in ((360, False), (360, True), (1280, False), (1280, True)):
            browser.show(width=width, dark=dark)
            browser.open(path)
            wrong = browser.value(read(os.path.join(ROOT, "tests", "cli", "access.js")))
            expect(not wrong and not browser.complaints, f"{width} {dark}: {wrong} {browser.complaints}")
        expect(browser.value("document.querySelectorAll('#progress path.lineage').length") == 3, "a curve a run")
        expect(browser.value("document.querySelectorAll('#speed-b .row .mark').length") == 4, "a mark a workload and run")
        expect(browser.value("document.querySelectorAll('#speed tbody tr').length") == 4, "a row a workload and task")
        expect(len(browser.requests) == 1, f"it fetched {browser.requests}")


# ---- a speed-up that a build insists on ----


@case
def fail_under(folder):
    runs(folder, "better", "less")
    for verb in ("show", "verify", "report"):
        run = "astra-runs/better"
        said(astra(folder, verb, run, "--fail-under", "1.01"), 0)
        said(astra(folder, verb, run, "--fail-under", "50"), 4, "under 50x: the modelled geometric mean is [1-9]\\.")
    said(astra(folder, "show", "less", "--fail-under", "1.01", "--json"), 4, "the original stays")
    said(astra(folder, "show", "better", "1", "--fail-under", "1.01"), 2, "--fail-under")
    said(astra(folder, "show", "better", "--fail-under", "fast"), 2, "--fail-under")
    small_task(folder, GPU_TASK)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--fail-under", "1.05"), 4, "under 1.05x")
    small_task(folder, GAINS)
    wrong = write(os.path.join(folder, "wrong.cu"), KERNEL.replace("* factor", "+ factor"))
    said(astra(folder, "bench", "task", wrong, "--fail-under", "0.01"), 4, "the version is wrong")
    said(astra(folder, "bench", "task", "astra-runs/better/best.cu", "--fail-under", "1.01"), 0)


@rest
def fail_under_of_a_measured_run_is_of_its_interval(folder):
    measured(folder, "run", 1.5, 0.1)
    said(astra(folder, "show", "run", "--fail-under", "1.39"), 0)
    said(astra(folder, "show", "run", "--fail-under", "1.41"), 4, "the lower end of the measured interval is 1\\.4000x")


main()
