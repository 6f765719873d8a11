"""Runs stopped in every way and resumed: the result is that of an undisturbed run, and nothing is left running."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import (ASTRA, ROUNDS, astra, case, cases, environment, expect, finished, main, read, rest, said, same, skip,
                     small_task, start, without_nvcc)

without_nvcc()


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
        time.sleep(0.05)
    return True


def text_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def stopped(folder, act, least=2):
    """A run on which `act(process)` is done once it has judged some candidates; None when it was too quick."""
    finished(folder, "undisturbed")
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run")
    if not until(lambda: judged(folder) >= least, run):
        return None
    act(run)
    return run.wait(120)


def workers_in(folder, program=ASTRA):
    """Workers of this program that this case started: they go to folders of their own, but keep its environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as file:
                mine = f"CASE_FOLDER={folder}".encode() in file.read().split(b"\0")
            if words[:2] == [program.encode(), b"worker"] and mine:
                yield pid
        except OSError:
            pass


def no_children_left(folder, program=ASTRA):
    for _ in range(200):
        if not list(workers_in(folder, program)):
            return
        time.sleep(0.02)
    expect(False, "workers outlive the run")


def signalled(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), number)


@rest
def a_worker_that_dies_changes_nothing(folder):
    """Workers are shot while they judge: another judges the same once more, and the run ends as an undisturbed one."""
    def told():
        return "once more" in text_of(folder, "stderr")

    def shoot(run):
        for _ in range(20): # until one had a candidate
            signalled(workers_in(folder), signal.SIGSEGV)
            time.sleep(1)
            if told() or run.poll() is not None:
                return

    status = stopped(folder, shoot)
    if status is None or not told():
        skip("the run was over before a worker could be shot")
    expect(status == 0, text_of(folder, "stderr"))
    same(folder, "undisturbed", "run")


@case
def a_long_wait_is_told(folder):
    """Workers are held: the run says what it waits for. Then they go on, and so does the run."""
    small_task(folder)
    run = start(folder, "optimize", "task", "--rounds", "1", "--candidates", "2", "--hidden-seed", "11", "--out", "run")
    expect(until(lambda: list(workers_in(folder)), run), "it was over before a worker was seen")
    held = list(workers_in(folder))
    try:
        signalled(held, signal.SIGSTOP)
        told = until(lambda: "still waiting for " in text_of(folder, "stderr"), run)
    finally:
        signalled(held, signal.SIGCONT)
    err = text_of(folder, "stderr")
    expect(told and re.search(r"^\d\d:\d\d:\d\d    still waiting for \w+: \S.* \(\d+ s\)$", err, re.M), err)
    expect(run.wait(240) == 0, text_of(folder, "stderr"))


@cases([("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM)], every=2)
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


@rest
def interrupted_as_a_group(folder):
    """A terminal sends the signal to the workers too."""
    status = stopped(folder, lambda run: os.killpg(run.pid, signal.SIGINT))
    if status in (None, 0):
        skip("the run was over before it could be stopped")
    expect(status == 130, status)
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


@rest
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


def tuned(folder, out):
    text = said(astra(folder, "show", out), 0).out
    expect("searched together: " in text, text)
    return text[text.index("The numbers of candidate"):text.index("Suite: ")]


@case
def killed_while_it_tunes(folder):
    """What was timed before is not timed again, and the search goes the same way."""
    finished(folder, "undisturbed")
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run", "--trace", "events")
    points = '"event":"tune_point"'
    if not until(lambda: os.path.exists(os.path.join(folder, "events")) and points in text_of(folder, "events"), run):
        skip("the run was over before it could be killed")
    run.kill()
    run.wait(120)
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")
    expect(tuned(folder, "run") == tuned(folder, "undisturbed"), tuned(folder, "run"))


@cases([("early", 1), ("later", 4)], every=2)
def killed_and_resumed(folder, row):
    status = stopped(folder, lambda run: run.kill(), row[1])
    if status in (None, 0):
        skip("the run was over before it could be killed")
    no_children_left(folder)
    said(astra(folder, "resume", "run"), 0)
    same(folder, "undisturbed", "run")


@rest
def resumed_while_it_runs(folder):
    """Two processes that write one run would lose what either found: the second is refused, the first goes on."""
    finished(folder, "undisturbed")
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run")
    expect(until(lambda: judged(folder) >= 1, run), "the run was over before it could be resumed")
    run.send_signal(signal.SIGSTOP)
    try:
        second = said(astra(folder, "resume", "run"), 2)
        expect(f"still running, in process {run.pid}" in second.err, second.err)
        expect(json.loads(astra(folder, "runs", ".", "--json").out)[0]["status"] == "running", "not listed as running")
    finally:
        run.send_signal(signal.SIGCONT)
    expect(run.wait(240) == 0, text_of(folder, "stderr"))
    same(folder, "undisturbed", "run")


@rest
def killed_workers(folder):
    """A worker that dies takes its candidate along, and nothing else."""
    small_task(folder)
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run")
    for least in (1, 3):
        if until(lambda n=least: judged(folder) >= n, run):
            for pid in workers_in(folder):
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
    expect(run.wait(240) == 0, text_of(folder, "stderr"))
    expect(json.loads(read(os.path.join(folder, "run", "result.json")))["schema"] == 1, "no result")
    no_children_left(folder)


@rest
def the_program_is_replaced_under_a_run(folder):
    """Workers that start later are of the program that was started, and have its name."""
    small_task(folder)
    program = os.path.join(folder, "astra")
    shutil.copy(ASTRA, program)
    with open(os.path.join(folder, "stderr"), "wb") as err:
        run = subprocess.Popen([program, "optimize", "task", *ROUNDS, "--out", "run"], cwd=folder, env=environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
    names = set()

    def named():
        for pid in workers_in(folder, program):
            try:
                names.add(read(f"/proc/{pid}/comm"))
            except OSError:
                pass
        return "astra\n" in names  # it begins as "exe"

    expect(until(named, run), f"workers are called {names}\n" + text_of(folder, "stderr"))
    os.remove(program)
    with open(program, "w", encoding="utf-8") as file:
        file.write("another program\n")
    expect(run.wait(240) == 0, text_of(folder, "stderr"))
    no_children_left(folder, program)


@case
def resumed_after_the_source_changed(folder):
    if stopped(folder, lambda run: run.kill()) in (None, 0):
        skip("the run was over before it could be killed")
    path = os.path.join(folder, "task", "kernel.cu")
    with open(path, "a", encoding="utf-8") as file:
        file.write("// changed\n")
    said(astra(folder, "resume", "run"), 2, r"kernel\.cu", "changed")


@case
def ctrl_c_in_a_real_terminal(folder):
    if not shutil.which("tmux"):
        skip("no tmux here")
    finished(folder, "undisturbed")
    server = ["tmux", "-L", f"astra-{os.getpid()}"]
    line = f"trap : INT; {ASTRA} optimize task {' '.join(ROUNDS)} --out run; echo $? >status"
    subprocess.run([*server, "new-session", "-d", "-x", "160", "-y", "50", "-c", folder, "sh", "-c", line], check=True,
                   env=environment(TERM="xterm", LC_ALL="C.UTF-8"))
    try:
        end = time.monotonic() + 240
        while judged(folder) < 2 and not os.path.exists(os.path.join(folder, "status")) and time.monotonic() < end:
            time.sleep(0.05)
        subprocess.run([*server, "send-keys", "C-c"], check=False, stderr=subprocess.DEVNULL)
        while not os.path.exists(os.path.join(folder, "status")) and time.monotonic() < end:
            time.sleep(0.05)
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
