"""Workers that are commands (--workers FILE, docs/campaign.md): the same result as without, whatever becomes of some of them."""

import json
import os
import signal
import subprocess
import tarfile
import time

from harness import (ASTRA, GAINS, ROUNDS, astra, case, cases, expect, finished, load, main, optimize, read, said, same, small_gpu_task,
                     small_task, start, without_nvcc, write)

without_nvcc()


SHORT = ("--device", "sim", "--rounds", "1", "--candidates", "2", "--tune-budget", "0", "--min-mutation", "0", "--no-memory", "--seed", "7",
         "--hidden-seed", "11")


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
def lost_while_it_judged_the_original(folder):
    """The first of three opens the task for all and goes away when the others have opened theirs."""
    small_task(folder, GAINS)
    version = astra(folder, "--version").out.split()[1]
    leaves = f"""echo '{{"node": {{"astra": "{version}", "protocol": 1}}}}'; read open; sleep 3"""
    workers(folder, {"name": "leaves", "command": ["sh", "-c", leaves]}, here(count=2))
    done = said(astra(folder, "optimize", "task", *SHORT, "--out", "run", "--workers", "workers.yaml", timeout=120), 0)
    expect("leaves is left out: it went away" in done.err, done.err)


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


ARCHIVE = "it's; $(touch bad) $x.tar.gz"  # never a word of a shell


def archive(folder, *files):
    """As `make dist` makes one: a folder with bin/ and lib/."""
    top = os.path.join(folder, "made")
    for name in files:
        write(os.path.join(top, name), name)
    with tarfile.open(os.path.join(folder, ARCHIVE), "w:gz", compresslevel=1) as file:
        if not files:
            file.add(ASTRA, "astra; $x/bin/astra")
        file.add(write(os.path.join(top, "lib", "a library"), "a library"), "astra; $x/lib/a library")
        for name in files:
            file.add(os.path.join(top, name), os.path.join("astra; $x", name))


def sent_to(folder, shell, out, *words, count=2):
    far = os.path.join(folder, "far")
    workers(folder, here(command=["env", f"XDG_CACHE_HOME={far}", *words, shell], count=count), send=ARCHIVE)
    done = astra(folder, "optimize", "task", *SHORT, "--out", out, "--workers", "workers.yaml")
    programs = os.path.join(far, "astra", "node", "programs")
    return done, sorted(os.listdir(programs)) if os.path.isdir(programs) else None


def program(folder, name):
    return os.path.join(folder, "far", "astra", "node", "programs", name, "bin", "astra")


def whole(names):
    """Without what a shell leaves that the run's end killed while it unpacked: the next one removes it after a day."""
    return [n for n in names or [] if not n.startswith("tmp.")]


@cases(["dash", "bash"], every=2)
def astra_itself_is_sent(folder, shell):
    """To two nodes at once that share an empty cache, then found there, and sent anew where the cache is not whole."""
    small_gpu_task(folder)
    archive(folder)
    done, names = sent_to(folder, shell, "cold")
    said(done, 0)
    kept_there = whole(names)
    expect("left out" not in done.err and kept_there and len(kept_there) == 1 and len(kept_there[0]) == 64, (kept_there, done.err))
    there = program(folder, kept_there[0])
    first = os.stat(there).st_ino
    said(sent_to(folder, shell, "warm")[0], 0)
    expect(os.stat(there).st_ino == first, "it was sent twice")
    os.truncate(there, 1000)
    done, names = sent_to(folder, shell, "spoilt")
    said(done, 0)
    expect(whole(names) == kept_there and os.path.getsize(there) > 1000, (names, os.path.getsize(there)))
    expect(read(os.path.join(folder, "cold", "best.cu")) == read(os.path.join(folder, "spoilt", "best.cu")), "another best version")
    expect(not os.path.exists(os.path.join(folder, "bad")), "a name was taken for a command")


@cases([("head", "exec /usr/bin/head -c 1000", "did not come whole"), ("head", "exit 1", "is its disk full"),
        ("sha256sum", "echo 0", "did not come whole"), ("tar", "exit 1", "cannot unpack the program"), ("mktemp", "exit 1", "cannot make a folder")])
def what_does_not_arrive_is_left_out(folder, row):
    """A transfer that is cut, a disk that is full, a hash that is wrong: one sentence, and nothing stays behind."""
    small_gpu_task(folder)
    archive(folder)
    os.chmod(write(os.path.join(folder, "tools", row[0]), "#!/bin/sh\n" + row[1] + "\n"), 0o755)
    done, names = sent_to(folder, "sh", "run", f"PATH={folder}/tools:/usr/bin:/bin", count=1)
    said(done, 1, "no worker of .* is left", row[2])
    expect(names == [], names)


@case
def an_archive_of_something_else(folder):
    small_gpu_task(folder)
    archive(folder, "README", "bin/other")
    done, names = sent_to(folder, "sh", "run", count=1)
    said(done, 1, "no archive of make dist")
    expect(names == [], names)
    write(os.path.join(folder, ARCHIVE), "no archive")
    said(sent_to(folder, "sh", "run2")[0], 2, "workers.yaml:1:", "a .tar.gz of at most 512 MB")
    os.remove(os.path.join(folder, ARCHIVE))
    said(sent_to(folder, "sh", "run3")[0], 2, "workers.yaml:1:", "there is no file to read at it's")


@case
def what_it_does_not_go_with(folder):
    small_task(folder)
    workers(folder, here())
    said(astra(folder, "optimize", "task", "--workers", "workers.yaml", "--jobs", "2"), 2, "--jobs counts workers of this machine")
    said(astra(folder, "optimize", "task", "--workers", "workers.yaml", "--device", "cuda"), 2, "no worker has the role measure")
    said(astra(folder, "optimize", "task", "--workers", "nowhere.yaml"), 2, "--workers")


main()
