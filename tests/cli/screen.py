"""The live screen in a real terminal (tmux), the lines without one, and the events as a stream.

A run is held where a test wants it by its model, a command that answers when the file `go` is there: nothing here depends
on how long anything takes. `until` waits for what must come, generously.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import ASTRA, ROOT, astra, case, cases, environment, expect, load, main, read, said, skip, small_task, without_nvcc, write

without_nvcc()
# The first planner's reply waits for `go`; names are hostile.
MODEL = r'''
import json, os, sys, time
prompt = sys.stdin.read()
if "You are Astra's planner." in prompt:
    while not os.path.exists("go"):
        time.sleep(0.02)
    strategies = [{"name": "\x1b[2Jwipe\x07 \u202eit \u4e00\u884c", "move": None, "reason": "r", "plan": "\x9b2J do it all in another way, one thread for two neighbours", "expected_gain": 1.1,
                   "confidence": 0.5}]
    print(json.dumps({"strategies": strategies}))
elif "You are Astra's coder." in prompt:
    print("```cuda\n" + open("task/kernel.cu").read().replace("* factor)", "* factor + 1.0f)") + "```")
else:
    print(json.dumps({"workloads": [], "cases": []}))
'''

RUN = ["optimize", "task", "--rounds", "1", "--candidates", "4", "--seed", "7", "--hidden-seed", "11", "--agents", "planner=llm,coder=llm",
       "--provider", "exec", "--command", "python3 model.py", "--out", "run", "--min-mutation", "0"]
RULES_FIRST = [{"planner=llm,coder=llm": "llm", "1": "2"}.get(word, word) for word in RUN]  # whose second round has a best


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, what() if callable(what) else what)
        time.sleep(0.02)


class Terminal:
    """A tmux pane of a server of its own, with a shell in it."""

    def __init__(self, folder, cols=100, rows=30, **env):
        if not shutil.which("tmux"):
            skip("no tmux here")
        self.folder, self.server = folder, ["tmux", "-L", f"astra-{os.getpid()}-{os.path.basename(folder)}", "-f", "/dev/null"]
        self.env = environment(TERM="xterm-256color", LC_ALL="C.UTF-8", PS1="$ ", NO_COLOR=None) | env
        self.tmux("new-session", "-d", "-x", str(cols), "-y", str(rows), "-c", folder, "sh", env=self.env)
        self.run("stty -a >before; echo rea''dy")
        self.wait("ready$")

    def tmux(self, *words, **more):
        return subprocess.run([*self.server, *words], check=False, capture_output=True, text=True, **more).stdout

    def close(self):
        self.tmux("kill-server")

    def run(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def astra(self, *words, before=""):
        """Starts it; its exit status, and how the terminal is then, come into files."""
        words = " ".join(f"'{w}'" for w in words)
        self.run(f"clear; {before} {ASTRA} {words}; echo $? >status; stty -a >after; echo ov''er")

    def keys(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def text(self, *more):
        return self.tmux("capture-pane", "-p", *more)

    def wait(self, pattern, seconds=120):
        seen = [""]

        def there():
            seen[0] = self.text()
            return re.search(pattern, seen[0], re.M)

        until(there, lambda: f"/{pattern}/ never came; there is\n{seen[0]}", seconds)
        return seen[0]

    def size(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def ended(self, status):
        until(lambda: os.path.exists(os.path.join(self.folder, "after")), lambda: f"it never ended:\n{self.text()}")
        self.wait("over$")
        got = read(os.path.join(self.folder, "status")).strip()
        expect(got == str(status), f"status {got}, not {status}:\n{self.text()}")
        before, after = (re.sub(r"rows \d+; columns \d+;", "", read(os.path.join(self.folder, name))) for name in ("before", "after"))
        expect(before == after, f"the terminal is not as it was:\n{before}\n{after}")
        expect(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}").split() == ["0", "1", "1"],
               "the other screen, or no cursor, or no wrapping, is left behind")
        return self.text("-S", "-")


@contextlib.contextmanager
def terminal(folder, *args, **more):
    small_task(folder)
    write(os.path.join(folder, "model.py"), MODEL)
    t = Terminal(folder, *args, **more)
    try:
        yield t
    finally:
        t.close()


def go(folder):
    write(os.path.join(folder, "go"), "")


def resumes(folder):
    go(folder)
    said(astra(folder, "resume", "run", "--quiet"), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["status"] == "done", result["status"])


@case
def it_shows_the_run(folder):
    with terminal(folder, 120, 40) as t:
        t.astra(*RULES_FIRST)
        seen = t.wait(r"● planner +(asks|waits)")
        for pattern in (r"^ scale_rows · modelled for NVIDIA H200 · agents llm +\d+:\d\d$", r"^ round \d of \d, best \d+\.\d\dx", r"tester +\S",
                        r"profiler .* bound by \w+, at \d+ % of the copy's speed", r"^   coder ", r"^   judge ",
                        r"^─ best: candidate \d+, \d\.\d\dx modelled", r"^ rows=64 d=512 +\d+\.\d\d +\d+\.\d\d +\d+\.\d\dx +\d+ %  \w+ +█+",
                        r"^─ candidates: \d+ tried, \d+ passed; % is over the parent ─", r"^ \* *\d+  passed +\d+\.\d\dx", r"^ learnt last: \S", r"q stop"):
            expect(re.search(pattern, seen, re.M), f"no /{pattern}/ in\n{seen}")
        go(folder)
        everything = t.ended(0)
        for word in ("workload", "geometric mean", "run/best.cu"):
            expect(word in everything, f"the summary is not in the scrollback:\n{everything}")
        expect("q stop" not in everything, "the screen is in the scrollback")


@case
def a_stopped_run_is_not_offered_for_export(folder):
    """It has a best that no hidden case was tried on."""
    with terminal(folder, 120, 40) as t:
        t.astra(*RULES_FIRST)
        t.wait(r"● planner +(asks|waits)")
        t.keys("C-c")
        t.ended(130)
    shown = said(astra(folder, "show", "run"), 0).out
    expect("astra report" in shown and "astra export" not in shown and "and on 0 more of a hidden seed" in shown, shown[-600:])
    resumes(folder)
    expect("astra export" in said(astra(folder, "show", "run"), 0).out, "not offered at the end")


@case
def sizes_and_keys(folder):
    with terminal(folder, 100, 30) as t:
        t.astra(*RULES_FIRST)
        t.wait(r"● planner")
        for cols, rows in ((200, 60), (80, 24), (40, 12), (40, 10), (20, 6)):
            t.size(cols, rows)
            until(lambda: (lambda s: len(s) == rows and ("q stop" in s[-1] or cols < 40 and "scroll" in s[-1]) and "scale_rows" in s[0])
                  (t.text().split("\n")[:-1]), lambda: f"{cols}x{rows}:\n{t.text()}")
            for line in t.text().split("\n"):
                expect(len(line) <= cols, f"{cols}x{rows}: {line!r}")
        t.size(60, 16)
        t.keys("Home")
        t.wait(r"^>   1  ")
        t.keys("Enter")
        t.wait("^ Candidate 1")
        t.keys("End")
        seen = t.wait(r"-(\d+) of \1$")
        expect(re.search(r"^ [+-] *\S", seen, re.M), f"no difference in\n{seen}")
        t.keys("q")
        t.wait("q stop")
        t.keys("Tab")
        t.wait("^ rows=64 d=512")
        t.keys("?")
        t.wait("Keys and words")
        t.keys("x")
        t.wait("q stop")
        t.keys("q")
        t.wait("y / n")
        t.keys("n")
        t.wait("q stop")
        t.keys("q", "y")
        everything = t.ended(130)
        expect("astra resume run" in everything.replace("\n", ""), everything)
    resumes(folder)


@case
def ctrl_c_and_again(folder):
    with terminal(folder) as t:
        t.astra(*RUN)
        t.wait("● planner")
        t.keys("C-c")
        t.ended(130)
        for name in ("after", "status"):
            os.remove(os.path.join(folder, name))
        t.astra("resume", "run")
        t.wait("● planner")
        t.tmux("send-keys", "C-c", ";", "send-keys", "C-c")
        t.ended(130)
    resumes(folder)


@case
def paused_and_brought_back(folder):
    with terminal(folder) as t:
        t.run(f"{ASTRA} {' '.join(repr(w) for w in RUN)}")
        t.wait("● planner")
        t.keys("C-z")
        t.wait("Stopped")
        t.run("clear; stty -a >after; echo 0 >status; echo ov''er")
        t.ended(0)
        t.run("fg")
        t.wait("● planner")
        t.keys("q", "y")
        t.wait("astra resume run")
    resumes(folder)


def process(folder):
    """Astra itself, by its folder; its guard came after it."""
    for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if words[0] == ASTRA.encode() and words[1] in (b"optimize", b"resume") and os.path.samefile(f"/proc/{pid}/cwd", folder):
                return pid
        except (OSError, IndexError):
            pass
    return expect(False, "it is not there")


@cases([("a crash", signal.SIGSEGV, 139), ("a hang-up", signal.SIGHUP, 129), ("terminated", signal.SIGTERM, 130)])
def it_dies_and_the_terminal_does_not(folder, row):
    with terminal(folder) as t:
        t.astra(*RUN)
        t.wait("● planner")
        os.kill(process(folder), row[1])
        t.ended(row[2])
    resumes(folder)


@case
def killed(folder):
    with terminal(folder) as t:
        t.astra(*RUN)
        t.wait("● planner")
        os.kill(process(folder), signal.SIGKILL)
        until(lambda: os.path.exists(os.path.join(folder, "status")), "the shell never went on")
        # The shell may have been quicker than the guard.
        until(lambda: t.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"], "the screen is still there")
        os.remove(os.path.join(folder, "after"))
        # Whole, or not there; and what the shell said may be gone with the screen.
        t.run("stty -a >now; mv now after; echo ov''er")
        t.ended(137)
    resumes(folder)


@case
def nothing_hostile_is_obeyed(folder):
    with terminal(folder) as t:
        go(folder)
        t.astra(*RUN, "--trace", "trace")
        everything = t.ended(0)
        expect("geometric mean" in everything, everything)
        expect("wipe" in read(os.path.join(folder, "trace")), "the name was not hostile")
        t.run("clear; " + ASTRA + " show run; echo sho''wn")
        t.wait("shown$")
        seen = t.text("-S", "-").replace("\n", "")
        expect("[2Jwipe it" in seen, seen)
        # And the lines, which are no terminal's.
        shutil.rmtree(os.path.join(folder, "run"))
        done = said(astra(folder, *RUN), 0)
        expect("wipe" in done.err and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.err), repr(done.err))


@case
def without_colours(folder):
    with terminal(folder, NO_COLOR="1") as t:
        t.astra(*RUN)
        t.wait("● planner")
        seen = t.text("-e")
        expect(not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])[0-9;]*m", seen), f"colours: {seen!r}")
        t.keys("C-c")
        t.ended(130)
    with terminal(os.path.join(folder, "other")) as t:
        t.astra(*RUN)
        t.wait("● planner")
        expect(re.search(r"\x1b\[[0-9;]*3[26][0-9;]*m", t.text("-e")), "no colours")
        t.keys("C-c")
        t.ended(130)


@cases([("dumb", "TERM=dumb", []), ("pipe", "", ["|", "cat"]), ("stderr in a file", "", ["2>err"])])
def lines_instead(folder, row):
    with terminal(folder, 160, 50) as t:
        go(folder)
        words = " ".join(f"'{w}'" for w in RUN)
        t.run(f"clear; {row[1]} {ASTRA} {words} {' '.join(row[2])}; echo ov''er")
        t.wait("over$")
        told = t.text("-S", "-") + (read(os.path.join(folder, "err")) if row[2] == ["2>err"] else "")
        expect(re.search(r"^\d\d:\d\d:\d\d  round 1 of \d+ from the original", told, re.M), told)
        expect("\x1b" not in told and "q stop" not in told, told)


@case
def no_keyboard(folder):
    """stdin is closed, or nothing: the screen lives, Ctrl-C works."""
    with terminal(folder) as t:
        t.run(f"clear; {ASTRA} {' '.join(repr(w) for w in RUN)} <&-; echo $? >status; stty -a >after; echo ov''er")
        t.wait("● planner")
        t.keys("C-c")
        t.ended(130)
    resumes(folder)


@case
def in_the_background(folder):
    """A job in the background leaves the terminal to others."""
    with terminal(folder) as t:
        go(folder)
        t.run(f"clear; {ASTRA} {' '.join(repr(w) for w in RUN)} & wait; echo ov''er")
        seen = t.wait("over$")
        expect("q stop" not in seen, seen)


@case
def plain_ascii(folder):
    with terminal(folder, LC_ALL="C", LANG="C") as t:
        t.astra(*RUN)
        seen = t.wait(r"^ \* planner")
        expect(seen.isascii(), seen)
        t.keys("C-c")
        t.ended(130)


def documented():
    """docs/result.md: event to its fields, as far as a row names them."""
    page = read(os.path.join(ROOT, "docs", "result.md")).partition("\n## Events\n")[2]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", page, re.M)
    known = {}
    for names, text in rows:
        for name in re.findall(r"`(\w+)`", names):
            known[name] = set(re.findall(r"`(\w+)`", text)) | {"event", "t_s"}
    for name, like in (("waiting", "call"),):
        known[name] |= known[like]
    return known


@case
def events_are_as_documented(folder):
    small_task(folder)
    write(os.path.join(folder, "model.py"), MODEL)
    go(folder)
    done = said(astra(folder, *RULES_FIRST, "--json=events"), 0)
    lines = [json.loads(line) for line in done.out.splitlines()]
    known, events, result = documented(), lines[:-1], lines[-1]
    expect(done.out.isascii(), "not ASCII")
    expect(result == load(os.path.join(folder, "run", "result.json")), "the last line is not the result")
    rounds = [(e["mind"], e["round"], e["of"]) for e in events if e["event"] == "round"]
    ran = sum(mind == "rules" for mind, _, _ in rounds)
    expect(rounds == [("rules", n, 2) for n in range(1, ran + 1)] + [("llm", n, ran + 2) for n in range(ran + 1, len(rounds) + 1)] and
           len(rounds) > ran, rounds)
    expect(events[0]["event"] == "run" and events[-1]["event"] == "end", (events[0], events[-1]))
    expect([e["t_s"] for e in events] == sorted(e["t_s"] for e in events), "not in the order of time")
    for e in events:
        expect(e["event"] in known, f"{e['event']} is not documented")
        if known[e["event"]] and e["event"] not in ("mutation", "llm_try"):
            expect(set(e) <= known[e["event"]], f"{e['event']}: {set(e) - known[e['event']]} not documented")
    seen = {e["event"] for e in events}
    for name in ("run", "suite", "doing", "original", "round", "plan", "submitted", "started", "judged", "trial", "learnt", "best", "call",
                 "reply", "confirm", "end"):
        expect(name in seen, f"no {name}")
    labels = [e["label"] for e in events if e["event"] == "submitted"]
    counted = [e["label"] for e in events if e["event"] == "trial"]
    expect(len(set(labels)) == len(labels) and set(labels) <= set(counted), f"{labels} and {counted}")
    best = [e for e in events if e["event"] == "best"][-1]
    expect(best["id"] == result["best_candidate"] and abs(best["score"] - result["speedup"]["geomean"]) < 1e-6, f"{best} and {result['speedup']}")
    for e, r in zip(best["workloads"], result["workloads"]):
        expect(abs(e["share_of_copy"] - r["light_us"] / r["best_us"]) < 1e-6, f"{e} and {r}")
    expect(events[-1]["outcome"] == result["outcome"] and events[-1]["status"] == "done", events[-1])
    expect(re.search(r"^\d\d:\d\d:\d\d  ", done.err, re.M), "no lines beside the events")


@case
def events_of_a_stop_and_of_a_budget(folder):
    small_task(folder)
    done = astra(folder, "optimize", "task", "--budget-time", "0.001s", "--out", "run", "--json=events", "--quiet")
    events = [json.loads(line) for line in said(done, 3).out.splitlines()]
    expect(done.err == "", done.err)
    expect([e["what"] for e in events if e.get("event") == "budget"] == ["s"], done.out)
    expect(events[-2]["event"] == "end" and events[-2]["status"] == "budget", events[-2])
    said(astra(folder, "check", "task", "--json=events"), 2, "--json takes no value")


@case
def nobody_reads_the_events(folder):
    """A reader that goes away ends it as other tools are ended, and resumably."""
    small_task(folder)
    out, into = os.pipe()
    os.close(out)
    done = astra(folder, "optimize", "task", "--rounds", "1", "--out", "run", "--json=events", stdout=into)
    os.close(into)
    expect(done.returncode == -signal.SIGPIPE and "astra: " not in done.err, f"{done.returncode} {done.err}")
    said(astra(folder, "resume", "run", "--quiet"), 0)
    expect(load(os.path.join(folder, "run", "result.json"))["status"] == "done", "no result")


main()
