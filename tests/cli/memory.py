"""Memory across runs: written once, read as a snapshot, shared by runs, forgotten; broken ones cost nothing."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from harness import ASTRA, astra, case, cases, environment, expect, kept, load, main, read, said, same, small_task, without_nvcc, write

without_nvcc()


SHORT = ("--rounds", "1", "--candidates", "2", "--tune-budget", "0", "--min-mutation", "0")
ROUNDS = ("--rounds", "2", "--tune-budget", "0", "--seed", "7", "--hidden-seed", "11")


def memory_environment(folder, name="memory.db"):
    return environment(ASTRA_MEMORY=os.path.join(folder, name))


def run(folder, out, env, *more, status=0):
    return said(astra(folder, "optimize", "task", *ROUNDS, "--out", out, *more, env=env), status)


def learned(folder, env):
    return json.loads(said(astra(folder, "memory", "export", env=env), 0).out)["trials"]


def taught(folder):
    """The small task, a finished run with an empty memory, and what it learned; the cases share one."""

    def make(home):
        small_task(home)
        run(home, "first", memory_environment(home))

    home, _ = kept("taught", make)
    small_task(folder)
    shutil.copy(os.path.join(home, "memory.db"), folder)
    shutil.copytree(os.path.join(home, "first"), os.path.join(folder, "first"))
    return memory_environment(folder)


@case
def learned_once_and_used(folder):
    """An empty memory changes nothing; a run adds its trials once; what it learned orders the next one."""
    env = taught(folder)
    run(folder, "without", environment())
    same(folder, "without", "first")
    rows = learned(folder, env)
    expect(rows and all(r["device"] == "NVIDIA H200" and r["basis"] == "modelled" for r in rows), rows)
    expect(any(r["gain"] and r["gain"] > 1.02 for r in rows), "nothing gained")
    text = json.dumps(rows)
    for name in ("scale_rows", "rows", "factor", "__half", folder):
        expect(f'{name}' not in text.replace("warp-rows", ""), f"{name} is in the memory")
    second = run(folder, "second", env)
    expect("trials of earlier runs order" in second.err, second.err)
    result = load(os.path.join(folder, "second", "result.json"))
    expect(result["provenance"]["memory"] == len(rows), result["provenance"])
    best = load(os.path.join(folder, "first", "result.json"))
    expect(result["speedup"]["geomean"] >= 0.99 * best["speedup"]["geomean"], "it is slower with memory")
    again = learned(folder, env)
    keys = {(r["version"], r["candidate"]) for r in again}
    expect(len(keys) == len(again) and {(r["version"], r["candidate"]) for r in rows} <= keys, "a trial stands twice, or is lost")
    third = run(folder, "third", env, "--no-memory")
    expect("earlier runs" not in third.err and learned(folder, env) == again, "--no-memory used it")
    same(folder, "without", "third")
    said(astra(folder, "verify", "second", env=env), 0)


@case
def shown(folder):
    env = taught(folder)
    text = said(astra(folder, "memory", env=env), 0).out
    expect("NVIDIA H200" in text and "block-size" in text, text)
    o = json.loads(said(astra(folder, "memory", "--json", env=env), 0).out)
    expect(o["trials"] == len(learned(folder, env)) and len(o["kernels"]) == 1 and o["transforms"], o)
    said(astra(folder, "memory", "learn", env=env), 2, "does not learn")
    said(astra(folder, "memory", env=environment()), 2, "ASTRA_MEMORY is empty")
    said(astra(folder, "memory", env=memory_environment(folder, "none.db")), 0)
    expect(not os.path.exists(os.path.join(folder, "none.db")), "looking at a memory made one")


@case
def stands_in_the_data_folder(folder):
    """Without ASTRA_MEMORY it is in XDG_DATA_HOME, else below the home folder."""
    small_task(folder)
    more = (*SHORT, "--quiet")
    said(astra(folder, "optimize", "task", *more, "--out", "a", env=environment(ASTRA_MEMORY=None, XDG_DATA_HOME=folder + "/data")), 0)
    said(astra(folder, "optimize", "task", *more, "--out", "b", env=environment(ASTRA_MEMORY=None, XDG_DATA_HOME=None, HOME=folder + "/home")), 0)
    for path in ("data/astra/memory.db", "home/.local/share/astra/memory.db"):
        expect(os.path.exists(os.path.join(folder, path)), f"there is no {path}")


@case
def exported_and_imported(folder):
    env, other = taught(folder), memory_environment(folder, "other.db")
    said(astra(folder, "memory", "export", "--out", "learned.json", env=env), 0)
    for _ in range(2):
        said(astra(folder, "memory", "import", "learned.json", env=other), 0)
    expect(learned(folder, other) == learned(folder, env), "what was imported differs")
    rows = load(os.path.join(folder, "learned.json"))
    for broken in ([], {"astra_memory": 9, "trials": []}, {"astra_memory": 1}, {**rows, "trials": [{**rows["trials"][0], "steps": 3}]},
                   {**rows, "trials": [{**rows["trials"][0], "kernel": ""}]}, {**rows, "trials": [7]}):
        write(os.path.join(folder, "broken.json"), json.dumps(broken))
        said(astra(folder, "memory", "import", "broken.json", env=other), 2, "broken.json: (it|trial 1)")
    write(os.path.join(folder, "broken.json"), "{")
    said(astra(folder, "memory", "import", "broken.json", env=other), 2, "broken.json")
    said(astra(folder, "memory", "import", env=other), 2, "needs FILE")
    # Rows that make no sense here are no reason to fail: a newer astra's transforms, settings, verdicts.
    for row, change in zip(rows["trials"], ({"steps": [["teleport", 1]]}, {"steps": [[]]}, {"steps": [["tile", 1e99]]}, {"verdict": "?"},
                                            {"features": {"dram": "x", "forms": 3}}, {"gain": -1})):
        row.update(change)
    write(os.path.join(folder, "strange.json"), json.dumps(rows))
    said(astra(folder, "memory", "import", "strange.json", env=other), 0)
    said(astra(folder, "memory", env=other), 0)
    said(astra(folder, "optimize", "task", *SHORT, "--out", "strange", env=other), 0)


@case
def forgotten(folder):
    env = taught(folder)
    rows = learned(folder, env)
    for args in ((), ("--all", "--device", "x"), ("--before", "tomorrow"), ("--kernel", "what?")):
        said(astra(folder, "memory", "forget", *args, env=env), 2)
    said(astra(folder, "memory", "--all", env=env), 2, "forget")
    for args in (("--device", "NVIDIA A100"), ("--before", "3d"), ("--kernel", "0000")):
        expect("0 trials forgotten" in said(astra(folder, "memory", "forget", *args, env=env), 0).out, args)
    said(astra(folder, "memory", "export", "--out", "all.json", env=env), 0)
    for args in (("--kernel", "task"), ("--kernel", rows[0]["kernel"]), ("--device", "NVIDIA H200"), ("--before", "0m"), ("--all",)):
        time.sleep(1.1 if "--before" in args else 0)
        expect(f"{len(rows)} trials forgotten" in said(astra(folder, "memory", "forget", *args, env=env), 0).out, args)
        expect(not learned(folder, env), args)
        said(astra(folder, "memory", "import", "all.json", env=env), 0)


@case
def two_runs_at_once(folder):
    """They write into one memory that neither has made; nothing is lost and nothing is waited for in vain."""
    small_task(folder)
    write(os.path.join(folder, "other/task.yaml"), read(os.path.join(folder, "task/task.yaml")).replace("[64, 512]", "[32, 512]"))
    shutil.copy(os.path.join(folder, "task/kernel.cu"), os.path.join(folder, "other/kernel.cu"))
    env = memory_environment(folder, "new/memory.db")
    both = [subprocess.Popen([ASTRA, "optimize", task, *SHORT, "--out", f"run-{task}"], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for task in ("task", "other")]
    for process in both:
        _, err = process.communicate(timeout=240)
        expect(process.returncode == 0 and b"not used" not in err, err)
    expect(len({r["kernel"] for r in learned(folder, env)}) == 2, "one of the two was lost")


def judged(folder):
    try:
        with sqlite3.connect(f"file:{folder}/run/run.db?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM candidate").fetchone()[0]
    except sqlite3.Error:
        return 0


@cases([("killed", signal.SIGKILL), ("interrupted", signal.SIGINT)], every=0)
def resumed_by_its_snapshot(folder, row):
    """Stopped in the middle, resumed when the memory is another one: the run is what it would have been, and each trial stands once."""
    env = taught(folder)
    shutil.copy(os.path.join(folder, "memory.db"), os.path.join(folder, "before.db"))
    run(folder, "undisturbed", env)
    whole = learned(folder, env)
    shutil.copy(os.path.join(folder, "before.db"), os.path.join(folder, "memory.db"))
    process = subprocess.Popen([ASTRA, "optimize", "task", *ROUNDS, "--out", "run"], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and judged(folder) < 3:
        time.sleep(0.02)
    os.killpg(process.pid, row[1]) if process.poll() is None else None
    process.wait(120)
    if row[1] == signal.SIGKILL:
        os.remove(os.path.join(folder, "memory.db"))
        expect("earlier runs" in said(astra(folder, "resume", "run", env=env), 0).err, "the snapshot was not used")
        shutil.copy(os.path.join(folder, "before.db"), os.path.join(folder, "memory.db"))
        run(folder, "again", env)
    else:
        said(astra(folder, "resume", "run", env=env), 0)
    same(folder, "undisturbed", "run")
    now, then = ({(r["version"], r["candidate"], json.dumps(r["steps"]), r["gain"]) for r in rows} for rows in (learned(folder, env), whole))
    expect(now == then, f"what was learned differs from an undisturbed run: {now - then} is new, {then - now} is missing")


def spoil(path, kind):
    if kind == "not_a_database":
        write(path, "these are not the bytes of a database at all" * 40)
    elif kind == "cut":
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
    elif kind == "folder":
        os.remove(path)
        os.mkdir(path)
    else:
        with sqlite3.connect(path) as db:
            db.execute({"newer": "PRAGMA user_version = 99", "foreign": "PRAGMA application_id = 7",
                        "other_table": "ALTER TABLE trial RENAME TO trials"}[kind])
        db.close()


@cases(["not_a_database", "cut", "folder", "newer", "foreign", "other_table"])
def broken(folder, kind):
    """One sentence; the run goes on as without a memory, and the file stays as it is."""
    env = taught(folder)
    path = os.path.join(folder, "memory.db")
    spoil(path, kind)
    before = open(path, "rb").read() if os.path.isfile(path) else None
    done = said(astra(folder, "optimize", "task", *SHORT, "--out", "run", env=env), 0)
    expect(done.err.count("memory: not used: ") == 1 and done.err.count(path) == 1, done.err)
    said(astra(folder, "memory", env=env), 1, "memory.db")
    expect(before is None or open(path, "rb").read() == before, "the file was changed")


@case
def busy(folder):
    """Another program holds it: it is waited for."""
    env = taught(folder)
    said(astra(folder, "memory", "export", "--out", "all.json", env=env), 0)
    db = sqlite3.connect(os.path.join(folder, "memory.db"), isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    process = subprocess.Popen([ASTRA, "memory", "import", "all.json"], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    expect(process.poll() is None, "it did not wait")
    db.execute("COMMIT")
    db.close()
    expect(process.wait(60) == 0, "it gave up")


main()
