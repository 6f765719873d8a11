"""Many kernels in one call: lists, shares, resume after anything, what is new alone, one report."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from harness import ASTRA, KERNEL, TASK, astra, case, cases, environment, expect, kept, load, main, read, rest, said, small_task, start, without_nvcc, write

without_nvcc()

SHORT = ("--rounds", "1", "--candidates", "5", "--tune-budget", "0", "--min-mutation", "0", "--no-memory", "--seed", "7", "--hidden-seed", "11")


def tasks(folder, *names):
    for name in names:
        small_task(folder)
        os.rename(os.path.join(folder, "task"), os.path.join(folder, name))


def kernels(folder, out="all"):
    return {k["name"]: k for k in load(os.path.join(folder, out, "campaign.json"))["kernels"]}


def ended(folder):
    """A campaign of two tasks and a broken one; the cases share it."""

    def make(home):
        tasks(home, "one", "two")
        write(os.path.join(home, "broken", "task.yaml"), "name: broken\n")
        write(os.path.join(home, "list"), "# share  task\n0.3 one\n 20% two # hot\n\nbroken\n")
        done = said(astra(home, "optimize", "--list", "list", "--out", "all", *SHORT), 2)
        write(os.path.join(home, "stdout"), done.out)

    home, _ = kept("campaign", make, subject=True)
    shutil.copytree(home, folder, dirs_exist_ok=True)
    text = read(os.path.join(folder, "all", "campaign.json"))
    write(os.path.join(folder, "all", "campaign.json"), text.replace(os.path.realpath(home), os.path.realpath(folder)))


@case
def each_has_its_run_and_all_one_report(folder):
    ended(folder)
    rows = kernels(folder)
    expect([rows[n]["status"] for n in ("one", "two", "broken")] == ["done", "done", "failed"], rows)
    expect(rows["broken"]["words"] and "source" in rows["broken"]["words"], rows["broken"])
    speedup = load(os.path.join(folder, "all", "one", "result.json"))["speedup"]["geomean"]
    expect(abs(rows["one"]["speedup"] - speedup) < 1e-6 and speedup > 1, speedup)
    whole = load(os.path.join(folder, "all", "campaign.json"))["speedup"]["application"]
    expect(abs(whole - 1 / (0.5 + 0.3 / speedup + 0.2 / rows["two"]["speedup"])) < 1e-6, whole)
    page = read(os.path.join(folder, "all", "report.html"))
    expect('href="one/report.html"' in page and os.path.exists(os.path.join(folder, "all", "one", "report.html")), "no page of one")
    out = read(os.path.join(folder, "stdout"))
    expect("2 of 3 kernels are faster, 1 failed" in out and "50 % of its time" in out, out)
    shown = said(astra(folder, "report", "all", "--markdown"), 2)
    expect("| one |" in shown.out, shown.out)


@rest
def only_what_is_new_is_done(folder):
    """The same again judges nothing; a changed task has a new run, one that left the list no row."""
    ended(folder)
    before = os.stat(os.path.join(folder, "all", "one", "run.db")).st_mtime_ns
    write(os.path.join(folder, "two", "kernel.cu"), KERNEL + "\n// changed\n")
    write(os.path.join(folder, "list"), "two\none\n")
    done = said(astra(folder, "optimize", "--list", "list", "--out", "all", *SHORT), 0, "optimising .* kept in .*/two-2")
    rows = kernels(folder)
    expect(set(rows) == {"one", "two"} and rows["two"]["run"] == "two-2" and rows["one"]["run"] == "one", rows)
    expect(os.stat(os.path.join(folder, "all", "one", "run.db")).st_mtime_ns == before, "one was judged again")
    expect("kept in" in done.err and done.err.count("kept in") == 1, done.err)
    said(astra(folder, "optimize", "one", "--rounds", "2", "--out", "all"), 2, "begun with --rounds 1")
    said(astra(folder, "optimize", "one", "two", "--out", "all/one", *SHORT), 2, "holds a run of one kernel")


@case
def several_at_a_time(folder):
    """Both are under way before either has ended; each has its own lines, and Ctrl-C stops both so that they go on."""
    tasks(folder, "one", "two")
    child = start(folder, "optimize", "one", "two", "--out", "all", "--together", "2", *SHORT)
    until(lambda: all(os.path.exists(os.path.join(folder, "all", n, "run.db")) for n in ("one", "two")))
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGINT)
    expect(child.wait() == 130, "it ended otherwise")
    rows = kernels(folder)
    expect(all(r["status"] == "interrupted" for r in rows.values()), rows)
    done = said(astra(folder, "resume", "all", "--together", "2", "--trace", "events"), 0, "one: ", "two: ")
    rows = kernels(folder)
    expect(all(r["status"] == "done" and r["outcome"] == "improved" for r in rows.values()), rows)
    events = [json.loads(line) for line in read(os.path.join(folder, "events")).splitlines()]
    begun = [i for i, e in enumerate(events) if e["event"] == "run"]
    first_end = next(i for i, e in enumerate(events) if e["event"] == "end")
    expect(len(begun) == 2 and begun[1] < first_end, done.err)
    said(astra(folder, "optimize", "one", "two", "--together", "65"), 2, "at most 64")


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        expect(time.monotonic() < end, "it did not come to that")
        time.sleep(0.02)


@cases(["KILL", "INT"], every=2)
def stopped_anywhere_it_goes_on(folder, how):
    tasks(folder, "one", "two")
    child = start(folder, "optimize", "one", "two", "--out", "all", *SHORT)
    until(lambda: os.path.exists(os.path.join(folder, "all", "one", "run.db")))
    time.sleep(0.3)
    os.kill(child.pid, getattr(signal, "SIG" + how))
    status = child.wait()
    expect(status == (130 if how == "INT" else -9), status)

    def alone():
        out = subprocess.run(["pgrep", "-f", f"{folder}/all/"], capture_output=True, text=True, check=False)
        return not out.stdout.strip()

    until(alone)  # the run in hand went with it
    said(astra(folder, "resume", "all"), 0)
    rows = kernels(folder)
    expect(all(r["status"] == "done" and r["outcome"] == "improved" for r in rows.values()), rows)
    expect(sorted(rows) == ["one", "two"] and rows["one"]["run"] == "one", rows)


@case
def a_budget_is_shared_by_what_could_be_saved(folder):
    """The kernel with the greater share has its turn first; what is left over is told, and resume goes on."""
    tasks(folder, "small", "great")
    write(os.path.join(folder, "list"), "0.1 small\n0.8 great\n")
    done = said(astra(folder, "optimize", "--list", "list", "--out", "all", "--budget-time", "9s", *SHORT), 3)  # too little for any
    expect("how far small" in done.err and "2 are not at their end" in done.out, done.err + done.out)
    done = said(astra(folder, "resume", "all", "--budget-time", "10m", "--json"), 0)
    expect(all(k["status"] == "done" for k in json.loads(done.out)["kernels"]), done.out)
    order = [line for line in done.err.splitlines() if "kept in" in line]
    expect(len(order) == 2 and "/great" in order[0], done.err)
    said(astra(folder, "resume", "all", "--fail-under", "1000"), 4, "below --fail-under 1000")


@rest
def workers_are_said_anew(folder):
    """Each run's workers are those of the file that this call names; campaign.json names none."""
    tasks(folder, "one", "two")
    write(os.path.join(folder, "w.yaml"), json.dumps({"workers": [{"name": "here", "command": [ASTRA, "node"], "count": 2}]}))
    write(os.path.join(folder, "gone.yaml"), json.dumps({"workers": [{"name": "gone", "command": ["false"]}]}))
    said(astra(folder, "optimize", "one", "--list", "w.yaml", "--workers", "nowhere.yaml"), 2, "--workers")
    said(astra(folder, "optimize", "one", "two", "--out", "all", *SHORT, "--workers", "w.yaml", "--jobs", "2"), 2, "--jobs counts workers of this")
    done = said(astra(folder, "optimize", "one", "two", "--out", "all", *SHORT, "--workers", "gone.yaml"), 2, "2 of 2 kernels failed")
    expect("no worker of" in str(kernels(folder)["one"]["words"]), done.err)
    said(astra(folder, "resume", "all", "--workers", "w.yaml"), 0)
    text = read(os.path.join(folder, "all", "campaign.json"))
    expect("w.yaml" not in text and "gone.yaml" not in text, text)
    for name in ("one", "two"):
        by = load(os.path.join(folder, "all", kernels(folder)[name]["run"], "result.json"))["verification"]["confirmed_by"]
        expect(by["worker"].startswith("here/"), by)


@cases([("0.9 a\n 0.2 b\n", r"list:2:2: .*110 %"), ("140% a\n", r"list:1:1: .*at most 1"), ("a\nb\n./a\n", r"list:3:1: .*twice"),
        ("a\n\n7% no\n", r"list:3:4: there is no folder"), ("5%\n", "list:1:3: .*follows"), ("# no\n", "no task is named"), ("nan a\n", "list:1:1")])
def a_bad_list_says_where(folder, row):
    for name in ("a", "b"):
        os.makedirs(os.path.join(folder, name))
    write(os.path.join(folder, "list"), row[0])
    said(astra(folder, "optimize", "--list", "list"), 2, row[1])
    expect(not os.path.exists(os.path.join(folder, "astra-runs")), "a folder was made")


@case
def any_bytes_are_no_crash(folder):
    os.makedirs(os.path.join(folder, "a"))
    dice = random.Random(5)
    parts = ["0.3", "12%", "%", " ", "\t", "\n", "#", " #x", "a", "./a", "1e999", "-1", "nan", "0x1p-2", "\0", "\xff", "/" * 300, "a" * 5000]
    for _ in range(40):
        text = "".join(dice.choice(parts) for _ in range(dice.randrange(1, 12)))
        with open(os.path.join(folder, "list"), "wb") as file:
            file.write((text + "\nnowhere\n").encode("latin-1"))
        said(astra(folder, "optimize", "--list", "list"), 2)


@cases([("{", "campaign.json"), ("{}", "not a campaign"), ('{"schema":1,"kernels":[{"name":"x"}]}', "not a campaign")])
def a_broken_campaign_is_one_sentence(folder, row):
    write(os.path.join(folder, "all", "campaign.json"), row[0])
    for verb in ("resume", "report"):
        done = astra(folder, verb, "all")
        expect(done.returncode in (1, 2) and row[1] in done.err and done.err.count("astra: ") == 1, done.err)


@case
def one_process_at_a_time_and_a_local_disk(folder):
    tasks(folder, "one", "two")
    child = start(folder, "optimize", "one", "two", "--out", "all", *SHORT)
    until(lambda: os.path.exists(os.path.join(folder, "all", "campaign.json")))
    said(astra(folder, "resume", "all"), 1, "another process carries the campaign")
    os.kill(child.pid, signal.SIGINT)
    child.wait()
    write(os.path.join(folder, "nfs.c"), "#define _GNU_SOURCE\n#include <string.h>\n#include <sys/vfs.h>\n"
          "int statfs64(const char *p, struct statfs64 *s) { memset(s, 0, sizeof(*s)); s->f_type = 0x6969; return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "nfs.so", "nfs.c"], cwd=folder, check=True)
    asan = os.environ.get("ASAN_OPTIONS", "")
    env = environment(LD_PRELOAD=os.path.join(folder, "nfs.so"), ASAN_OPTIONS=f"{asan}:verify_asan_link_order=0")
    said(astra(folder, "optimize", "one", *SHORT, "--out", "far", env=env), 2, "far lies on NFS.*local disk")
    said(astra(folder, "optimize", "one", "two", *SHORT, "--out", "far2", env=env), 2, "far2 lies on NFS.*local disk")


main()
