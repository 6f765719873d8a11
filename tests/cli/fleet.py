"""Workers that are commands (--workers FILE, docs/fleet.md): the same result as without, whatever becomes of some of them."""

import json
import os
import signal
import subprocess
import time

from harness import (ASTRA, ROUNDS, astra, case, cases, expect, finished, load, main, optimize, read, said, same, small_task, start,
                     without_nvcc, write)

without_nvcc()


def workers(folder, *nodes, **more):
    """A file of workers; JSON is YAML."""
    return write(os.path.join(folder, "workers.yaml"), json.dumps({"workers": list(nodes), **more}))


def here(**more):
    return {"name": "here", "command": [ASTRA, "node"], **more}


def nodes_of(parent):
    """Processes of `astra node` below a process."""
    out = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(parent)], stdout=subprocess.PIPE, check=False).stdout.decode()
    return [int(line.split()[0]) for line in out.splitlines() if line.endswith(" node")]


def no_leftovers(cache):
    runs = os.path.join(cache, "astra", "node", "runs")
    for _ in range(100):
        if not os.path.isdir(runs) or not os.listdir(runs):
            return
        time.sleep(0.05)
    expect(False, f"left behind: {os.listdir(runs)}")


def same_but_for_who(folder, worker, trusted):
    path = os.path.join(folder, "run", "result.json")
    result = load(path)
    by = result["verification"].pop("confirmed_by")
    expect(by["trusted"] == trusted and by["worker"].startswith(worker), by)
    write(path, json.dumps(result))
    same(folder, "alone", "run")


@case
def the_same_result(folder):
    """Of two workers, beside three that cannot be had: each is told in a sentence."""
    finished(folder, "alone")
    cache = os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    workers(folder, here(count=2), here(name="trusted", trusted=True), {"name": "absent", "command": ["/nonexistent/astra", "node"]},
            {"name": "gone", "command": ["false"]},
            {"name": "old", "command": ["sh", "-c", """echo '{"node": {"astra": "0.0.1", "protocol": 1}}'; sleep 60"""]})
    done = optimize(folder, "run", "--workers", "workers.yaml")
    for words in ("absent is left out: cannot start /nonexistent/astra", "gone is left out: its command ended before it greeted",
                  "old is left out: it is astra 0.0.1, this is"):
        expect(words in done.err, f"no '{words}' in {done.err}")
    same_but_for_who(folder, "trusted", True)
    no_leftovers(cache)
    expect(os.listdir(os.path.join(cache, "astra", "node", "contents")), "nothing is cached")


@case
def killed_and_hung(folder):
    """A node is killed and one stopped in the middle: what they judged is judged by another."""
    finished(folder, "alone")
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    workers(folder, here(count=3), silence_s=3)
    run = start(folder, "optimize", "task", *ROUNDS, "--out", "run", "--workers", "workers.yaml", "--trace", "trace.jsonl")
    trace = os.path.join(folder, "trace.jsonl")
    while run.poll() is None and not (os.path.exists(trace) and '"event": "judged"' in read(trace).replace('":"', '": "')):
        time.sleep(0.02)
    expect(run.poll() is None, "the run ended before any worker could be killed: " + read(os.path.join(folder, "stderr")))
    nodes = nodes_of(run.pid)
    expect(len(nodes) == 3, nodes)
    os.kill(nodes[0], signal.SIGKILL)
    os.kill(nodes[1], signal.SIGSTOP)
    expect(run.wait(200) == 0, read(os.path.join(folder, "stderr")))
    same_but_for_who(folder, "here/", False)


LIAR = r"""
import json, sys
def say(o): print(json.dumps(o), flush=True)
say({"node": {"astra": "%s", "protocol": 1}})
for line in sys.stdin:
    exec(sys.argv[1])
"""


@cases([("garbage", "print('so' * 1000, flush=True)"), ("nothing_like_it", "say({'original': {}, 'device': {}})"),
        ("wants_a_secret", "say({'want': ['../../etc/shadow']})"), ("lost", "say({'lost': {'verdict': 'passed'}})"),
        ("too_much", "print('[' * (17 << 20), flush=True)"), ("deep", "print('[' * 100000, flush=True)"),
        ("errs", "say({'error': {'kind': 1, 'file': '/etc/passwd', 'text': 'no disk'}})")])
def liars(folder, row):
    """Whatever a worker says: it is left out, and a run with no other ends with an error."""
    small_task(folder)
    version = astra(folder, "--version").out.split()[1]
    workers(folder, {"name": "liar", "command": ["python3", "-c", LIAR % version, row[1]]})
    done = said(astra(folder, "optimize", "task", *ROUNDS, "--out", "run", "--workers", "workers.yaml"), 1, "no worker of .* is left; the last was liar")
    expect("passwd" not in done.err, done.err)


@cases([("--- []", "1:5: a list `workers:` is wanted"), ("workers: [{command: ssh}]", "a list of words is wanted, run as they are"),
        ("workers: [{name: a}]", "command: is missing"), ("workers: [{command: [a], cuont: 2}]", "did you mean count"),
        ("workers: [{command: [a], count: 0}]", "1:33: a number from 1 to 4096"), ("workers: [{command: [a], roles: [cook]}]", "there are simulate"),
        ("workers: [{command: [a], device: cuda:0}]", "with the role measure"), ("workers: [{command: [a], roles: [measure], device: 'cuda:0;rm'}]", "one GPU is wanted"),
        ("workers: [{command: [a], trusted: maybe}]", "true or false"), ("{workers: [{command: [a]}], silence_s: 0}", "a number from 3")])
def files_with_faults(folder, row):
    small_task(folder)
    write(os.path.join(folder, "workers.yaml"), row[0] + "\n")
    said(astra(folder, "optimize", "task", "--workers", "workers.yaml"), 2, "workers.yaml:", row[1])


@case
def what_it_does_not_go_with(folder):
    small_task(folder)
    workers(folder, here())
    said(astra(folder, "optimize", "task", "--workers", "workers.yaml", "--jobs", "2"), 2, "--jobs counts workers of this machine")
    said(astra(folder, "optimize", "task", "--workers", "workers.yaml", "--device", "cuda"), 2, "no worker has the role measure")
    said(astra(folder, "optimize", "task", "--workers", "nowhere.yaml"), 2, "--workers")


main()
