"""Whole runs: the result, the same again, stopped and resumed in every way, two at once."""

import json
import os
import shutil
import signal
import subprocess
import time

from harness import (ASTRA, TASK, astra, case, cases, environment, expect, load, main, read, said, skip, small_task,
                     start, without_times)

ROUNDS = ("--rounds", "3", "--seed", "7")


def optimize(folder, out="run", *more):
    return said(astra(folder, "optimize", "task", *ROUNDS, "--out", out, *more), 0)


def judged(folder, out="run"):
    """How many candidates the store of a run holds, 0 while there is no store."""
    done = astra(folder, "show", out, "--json")
    try:
        return json.loads(done.out)["candidates"]["total"] + 1
    except (ValueError, KeyError):
        return 0


def until(condition, process, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            return False
        expect(time.monotonic() < end, "it never came")
        time.sleep(0.01)
    return True


def text_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def same(folder, a, b):
    first, second = (without_times(load(os.path.join(folder, out, "result.json"))) for out in (a, b))
    expect(first == second, f"{a} and {b} differ:\n{json.dumps(first)}\n{json.dumps(second)}")
    for name in ("best.cu", "best.diff"):
        expect(read(os.path.join(folder, a, name)) == read(os.path.join(folder, b, name)), f"{name} differs")


@case
def a_run_from_end_to_end(folder):
    small_task(folder)
    done = optimize(folder, "run", "--json")
    result = json.loads(done.out)
    expect(result == load(os.path.join(folder, "run", "result.json")), "stdout is not result.json")
    expect(result["schema"] == 1 and result["task"] == "scale_rows", result)
    expect(result["outcome"] == "improved" and result["speedup"]["geomean"] > 1.03, result["speedup"])
    expect(result["speedup"]["low"] is None and result["device"]["basis"] == "modelled", result)
    expect([w["dims"] for w in result["workloads"]] == [{"rows": 64, "d": 512}, {"rows": 256, "d": 1024}], "dims")
    expect(all(w["speedup"] >= 0.995 for w in result["workloads"]), result["workloads"])
    expect(result["verification"]["cases"] >= 8 and result["verification"]["hidden"] >= 8, result["verification"])
    expect(sum(result["candidates"]["by_verdict"].values()) == result["candidates"]["total"] > 0, "candidates")
    expect("round 1" in done.err, "no progress on stderr")


@case
def quiet_is_quiet(folder):
    small_task(folder)
    expect(optimize(folder, "run", "--quiet").err == "", "words on stderr")


@case
def the_table_and_the_list(folder):
    small_task(folder)
    done = optimize(folder, "run")
    for word in ("workload", "original", "best", "speed-up", "of copy", "bound by", "modelled"):
        expect(word in done.out, f"no '{word}' in\n{done.out}")
    expect("\x1b" not in done.out + done.err, "colours where there is no terminal")
    expect(astra(folder, "show", "run").out == done.out, "show says something else")


@case
def the_patch_gives_the_best(folder):
    small_task(folder)
    optimize(folder)
    diff = said(astra(folder, "diff", "run"), 0).out
    expect(diff == read(os.path.join(folder, "run", "best.diff")), "diff is not best.diff")
    if not shutil.which("patch"):
        skip("no patch here")
    shutil.copy(os.path.join(folder, "task", "kernel.cu"), os.path.join(folder, "patched.cu"))
    subprocess.run(["patch", "-s", "patched.cu"], cwd=folder, input=diff, text=True, check=True)
    expect(read(os.path.join(folder, "patched.cu")) == read(os.path.join(folder, "run", "best.cu")), "not best.cu")


@case
def the_best_compiles_with_nvcc(folder):
    nvcc = shutil.which("nvcc")
    if not nvcc:
        skip("no nvcc here")
    small_task(folder)
    optimize(folder)
    done = subprocess.run([nvcc, "-arch=sm_90", "-c", "-o", "/dev/null", "run/best.cu"], cwd=folder, check=False,
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)


@case
def bench_agrees_with_the_run(folder):
    small_task(folder)
    optimize(folder)
    result = load(os.path.join(folder, "run", "result.json"))
    bench = json.loads(said(astra(folder, "bench", "task", "run/best.cu", "--seed", "7", "--json"), 0).out)
    expect(bench["verdict"] == "passed" and bench["schema"] == 1, bench["verdict"])
    expect(abs(bench["speedup"]["geomean"] - result["speedup"]["geomean"]) < 1e-9, bench["speedup"])
    again = json.loads(said(astra(folder, "bench", "task", "task/kernel.cu", "--json"), 0).out)
    expect(again["verdict"] in ("slower", "passed") and abs(again["speedup"]["geomean"] - 1) < 1e-9, again["verdict"])


@cases([("wrong", "* factor", "+ factor", "wrong"), ("unsafe", "i < rows * d", "i <= rows * d", "unsafe"),
        ("broken", "* factor);", "* facter);", "compile-failed"),
        ("not understood", "int n = rows * d;", "int n = rows * d; printf(\"x\");", "not-understood")])
def bench_verdict(folder, row):
    path = os.path.join(small_task(folder), "other.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(read(os.path.join(folder, "task", "kernel.cu")).replace(row[1], row[2]))
    done = said(astra(folder, "bench", "task", path, "--json"), 0)
    bench = json.loads(done.out)
    expect(bench["verdict"] == row[3] and bench["words"], bench)
    expect(bench["line"] or row[3] == "wrong", bench)
    expect(row[3] in said(astra(folder, "bench", "task", path), 0).out, "the verdict is not in the text")


@case
def profile_names_lines(folder):
    small_task(folder)
    done = said(astra(folder, "profile", "task"), 0)
    expect("__half2float" in done.out and "modelled" in done.out and "registers" in done.out, done.out)
    expect(json.loads(said(astra(folder, "profile", "task", "--json"), 0).out)["bound_by"], "bound_by")


@case
def the_same_seed_the_same_run(folder):
    small_task(folder)
    optimize(folder, "a", "--jobs", "1")
    optimize(folder, "b", "--jobs", "2")
    same(folder, "a", "b")


@case
def two_at_once_do_not_meet(folder):
    small_task(folder)
    optimize(folder, "alone")
    os.mkdir(os.path.join(folder, "one"))
    os.mkdir(os.path.join(folder, "two"))
    # Default folders, same task, same moment: the names must differ too.
    runs = [subprocess.Popen([ASTRA, "optimize", "task", *ROUNDS, "--quiet"], cwd=folder, env=environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(2)]
    expect([run.wait(300) for run in runs] == [0, 0], "one of them failed")
    made = sorted(os.listdir(os.path.join(folder, "astra-runs")))
    expect(len(made) == 2, made)
    for name in made:
        same(folder, "alone", os.path.join("astra-runs", name))
    listed = json.loads(astra(folder, "runs", "--json").out)
    expect(len(listed) == 2 and all(run["status"] == "done" for run in listed), listed)


@case
def show_and_diff_of_a_candidate(folder):
    small_task(folder)
    optimize(folder)
    expect("scale_rows_kernel" in said(astra(folder, "show", "run", "1"), 0).out, "no source")
    said(astra(folder, "diff", "run", "1"), 0)
    said(astra(folder, "show", "run", "9999"), 2, "9999")
    said(astra(folder, "show", "run", "one"), 2, "one")


def stopped(folder, act, least=2):
    """A run on which `act(process)` is done once it has judged some candidates; None when it was too quick."""
    small_task(folder)
    optimize(folder, "undisturbed")
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run")
    if not until(lambda: judged(folder) >= least, run):
        return None
    act(run)
    return run.wait(120)


def no_children_left(folder):
    for _ in range(200):
        out = subprocess.run(["pgrep", "-f", "^" + ASTRA + " worker"], capture_output=True, text=True, check=False).stdout
        mine = [pid for pid in out.split() if os.path.exists(f"/proc/{pid}/cwd") and
                os.path.realpath(f"/proc/{pid}/cwd") == os.path.realpath(folder)]
        if not mine:
            return
        time.sleep(0.02)
    expect(False, f"workers outlive the run: {mine}")


@cases([("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM)])
def interrupted_and_resumed(folder, row):
    status = stopped(folder, lambda run: run.send_signal(row[1]))
    if status in (None, 0):
        skip("the run was over before it could be stopped")
    err = text_of(folder, "stderr")
    expect(status == 130 and "astra resume" in err, f"status {status}\n{err}")
    no_children_left(folder)
    expect(json.loads(astra(folder, "runs", ".", "--json").out), "the stopped run is not listed")
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")
    said(astra(folder, "resume", "run"), 0, "finished")


@case
def interrupted_as_a_group(folder):
    """A terminal sends the signal to the workers too."""
    status = stopped(folder, lambda run: os.killpg(run.pid, signal.SIGINT))
    if status in (None, 0):
        skip("the run was over before it could be stopped")
    expect(status == 130, status)
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


@case
def interrupted_twice(folder):
    def twice(run):
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGINT)

    status = stopped(folder, twice)
    if status in (None, 0):
        skip("the run was over before it could be stopped")
    expect(status == 130, status)
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


@case
def interrupted_at_once(folder):
    small_task(folder)
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run")
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    expect(run.wait(120) == 130, text_of(folder, "stderr"))
    no_children_left(folder)
    err = text_of(folder, "stderr")
    expect("(null)" not in err and "BUG" not in err, err)


@cases([("early", 1), ("later", 4)])
def killed_and_resumed(folder, row):
    status = stopped(folder, lambda run: run.kill(), row[1])
    if status in (None, 0):
        skip("the run was over before it could be killed")
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


@case
def resumed_after_the_source_changed(folder):
    if stopped(folder, lambda run: run.kill()) in (None, 0):
        skip("the run was over before it could be killed")
    path = os.path.join(folder, "task", "kernel.cu")
    with open(path, "a", encoding="utf-8") as file:
        file.write("// changed\n")
    said(astra(folder, "resume", "run"), 2, r"kernel\.cu", "changed")


@case
def budget_ends_it(folder):
    small_task(folder)
    done = astra(folder, "optimize", "task", "--out", "run", "--budget-time", "0.001s")
    said(done, 3)
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["outcome"] == "unchanged" and result["status"] == "budget", result)
    expect(read(os.path.join(folder, "run", "best.cu")) == read(os.path.join(folder, "task", "kernel.cu")), "best.cu")


@case
def nothing_better_is_said(folder):
    small_task(folder)
    optimize(folder, "first")
    shutil.copy(os.path.join(folder, "first", "best.cu"), os.path.join(folder, "task", "kernel.cu"))
    done = astra(folder, "optimize", "task", "--rounds", "1", "--out", "second", "--json")
    result = json.loads(said(done, 0).out)
    expect(all(w["speedup"] >= 0.995 for w in result["workloads"]), result["workloads"])
    if result["outcome"] == "unchanged":
        expect(result["speedup"]["geomean"] == 1 and read(os.path.join(folder, "second", "best.diff")) == "", result)


@case
def other_device(folder):
    small_task(folder)
    result = json.loads(optimize(folder, "run", "--device", "sim:rtx4090", "--json").out)
    expect("4090" in result["device"]["name"], result["device"])
    expect("not validated" in astra(folder, "show", "run").out, "nothing says that the device is not validated")


@case
def hot_regime(folder):
    small_task(folder, TASK.replace("dims:", "regime: hot\ndims:"))
    result = json.loads(optimize(folder, "run", "--json").out)
    expect({w["regime"] for w in result["workloads"]} == {"hot"}, result["workloads"])
    expect({w["regime"] for w in result["other_regime"]} == {"cold"}, result["other_regime"])


@case
def ctrl_c_in_a_real_terminal(folder):
    if not shutil.which("tmux"):
        skip("no tmux here")
    small_task(folder)
    optimize(folder, "undisturbed")
    server = ["tmux", "-L", f"astra-{os.getpid()}"]
    line = f"trap : INT; {ASTRA} optimize task {' '.join(ROUNDS)} --out run; echo $? >status"
    subprocess.run([*server, "new-session", "-d", "-x", "160", "-y", "50", "-c", folder, "sh", "-c", line], check=True,
                   env=environment(TERM="xterm", LC_ALL="C.UTF-8"))
    try:
        end = time.monotonic() + 240
        while judged(folder) < 2 and not os.path.exists(os.path.join(folder, "status")) and time.monotonic() < end:
            time.sleep(0.01)
        subprocess.run([*server, "send-keys", "C-c"], check=False, stderr=subprocess.DEVNULL)
        while not os.path.exists(os.path.join(folder, "status")) and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        subprocess.run([*server, "kill-server"], check=False, stderr=subprocess.DEVNULL)
    time.sleep(0.05)
    status = read(os.path.join(folder, "status")).strip()
    if status == "0":
        skip("the run was over before it could be stopped")
    expect(status == "130", status)
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


main()
