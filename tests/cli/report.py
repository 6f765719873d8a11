"""The page that `astra report` writes, in a real browser; and what a pull request and a program get. Runs are real:
without a GPU, with the one of the tests, with a model that would do harm if it could, and with every kind of end."""

import contextlib
import html
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import time

from browser import started
from harness import (KERNEL, ROOT, TASK, astra, case, cases, environment, expect, gpu_environment, kept, load, main, read, said, small_gpu_task,
                     small_task, start, without_nvcc, write)

sys.path.insert(0, os.path.join(ROOT, "tests", "llm"))
from server import Server  # pylint: disable=wrong-import-position,wrong-import-order

without_nvcc()

QUICK = ("--rounds", "2", "--candidates", "5", "--seed", "7", "--hidden-seed", "11", "--quiet")
ACCESS = read(os.path.join(ROOT, "tests", "cli", "access.js"))
# Ends whatever it may stand in, and then runs.
EVIL = "evil-->]]></title></textarea></style></script>'\"><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>{{body}}%s"


def better(extra=""):
    """The task's kernel, another way: two elements a thread."""
    return (KERNEL.replace("int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < rows * d)",
                           "for (int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x), k = 0; k < 2 && i < rows * d; i++, k++)")
            .replace("(n + 127) / 128", "(n + 255) / 256") + extra)


def a_model(folder):
    """A run with a model whose every word is an attack on its reader, and that breaks a file first."""
    plan = json.dumps({"strategies": [{"name": f"name {EVIL}", "move": None, "reason": f"reason {EVIL}", "plan": f"plan {EVIL}",
                                       "expected_gain": 1.1, "confidence": 0.5}]})
    tester = json.dumps({"workloads": [], "cases": [{"dims": [3, 17], "values": {"in": {"kind": "large"}}, "why": f"why {EVIL}"}]})
    files = [f"words {EVIL}\n\n```cuda\n{text}```\n" for text in
             (better().replace("factor)", f'"{EVIL}")'), better(f"// {EVIL}\n"))]
    rules = [{"match": {"role": role}, "replies": replies, "repeat": "last"}
             for role, replies in (("tester", [tester]), ("planner", [plan]), ("coder", files))]
    small_task(folder, TASK, KERNEL + f"// {EVIL}\n")
    with Server({"models": [f"m{EVIL}"], "rules": rules}) as server:
        said(astra(folder, "optimize", "task", "--agents", "llm", "--provider", "openai", "--base-url", server.url, "--model",
                   f"m{EVIL}", "--rounds", "1", "--candidates", "2", "--seed", "7", "--hidden-seed", "11", "--quiet",
                   "--out", "run"), 0)


def rules(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--out", "run", *QUICK), 0)


def measured(folder):
    small_gpu_task(folder)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "2", "--jobs", "1", "--quiet", "--out", "run",
               env=gpu_environment()), 0)


RUNS = {"rules": rules, "measured": measured, "a_model": a_model}


def report(name, *more):
    """The folder of a run that the cases share, made when it is first asked for; its page is written."""

    def make(home):
        RUNS[name](home)
        done = said(astra(home, "report", "run"), 0)
        expect(done.out == "run/report.html\n", done.out)

    return os.path.join(kept(name, make)[0], "run", *more)


_browser = []


def browser():
    if not _browser:
        _browser.append(started())
    return _browser[0]


def opened(path, fragment="", **look):
    b = browser()
    b.show(**look)
    b.open(path, fragment)
    return b


ALL_OPEN = "for (const d of document.querySelectorAll('details')) d.open = true"


def section(run, name):
    return re.search(rf'<section id="{name}".*?</section>', read(os.path.join(run, "report.html")), re.S)[0]


# ---- seen, heard, reached ----


@cases([(f"{name}-{width}-{'dark' if dark else 'light'}", name, width, dark)
        for name in RUNS for width in (360, 1280) for dark in (False, True)], later="measured")
def everybody_can_read_it(_folder, row):
    b = opened(report(row[1], "report.html"), width=row[2], dark=row[3])
    wrong = b.value(ACCESS)
    b.value(ALL_OPEN)
    wrong += b.value(ACCESS)
    expect(not wrong, "\n".join(wrong))
    expect(not b.complaints, b.complaints)
    expect(len(b.requests) == 1, f"it fetched {b.requests}")


@cases(list(RUNS), later="measured")
def charts_are_legible_on_a_phone(_folder, name):
    b = opened(report(name, "report.html"), width=360)
    small = b.value("""[...document.querySelectorAll('svg.chart')].flatMap(s => [...s.querySelectorAll('text')].map(t =>
        [s.getScreenCTM().a * parseFloat(getComputedStyle(t).fontSize), t.textContent])).filter(([size]) => size < 10)""")
    expect(not small, small)


@cases(list(RUNS), later="measured")
def an_axis_is_named_evenly(_folder, name):
    """The numbers of an axis from 0 up stand at one distance from each other, and so their ticks."""
    b = opened(report(name, "report.html"))
    for chart in ("shares", "errors"):
        numbers = b.value(f"[...document.querySelectorAll('#{chart} > text.small')].map(t => t.textContent)")
        values = [float(text) for text in numbers if text != "%"]
        steps = {round(after - before, 6) for before, after in zip(values, values[1:])}
        expect(len(values) > 1 and len(steps) == 1 and numbers[-1] == "%", f"{chart}: {numbers}")


@case
def the_check_sees_what_is_wrong(folder):
    """Of a page with one fault of each kind it says each."""
    bad = """<!doctype html><title> </title><h1>a</h1><h3>b</h3><p style="color:#999;background:#fff">pale</p><table><tr><th>x</th></tr></table>
<a href="#nowhere">x</a><a href="https://example.org/">y</a><svg role="img"><circle class="mark" r="9" fill="#eee"/></svg><button></button><p id="i"></p><p id="i"></p>
<div style="width:3000px">wide</div>"""
    b = opened(write(os.path.join(folder, "bad.html"), bad))
    said_of_it = "\n".join(b.value(ACCESS))
    for fault in ("contrast 2.8", "h3 after h1", "without a caption", "without a scope", "to nowhere", "out of the page",
                  "picture without a name", "cannot be told from the page", "has no name", "id i is there twice", "sideways", "0 of main", "no language", "no title"):
        expect(fault in said_of_it, f"'{fault}' is not among\n{said_of_it}")


@case
def the_keyboard_reaches_everything(_folder):
    b = opened(report("rules", "report.html"))
    b.key("Tab")
    expect(b.value("document.activeElement.className") == "skip", "the first stop does not skip to the content")
    expect(b.value("document.activeElement.getBoundingClientRect().left >= 0"), "the skip link cannot be seen")
    stops, seen = b.value("[...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')].filter(e => e.checkVisibility()).length"), set()
    for _ in range(stops + 5):
        state = b.value("(() => { const e = document.activeElement, s = getComputedStyle(e); const all = [...document.querySelectorAll('*')];"
                        "return [all.indexOf(e), e.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1 || "
                        "!!e.querySelector('.shape') && s.outlineStyle === 'none' && getComputedStyle(e.querySelector('.shape')).strokeWidth]; })()")
        if state[1] == "BODY":
            break
        expect(state[2], f"nobody sees that {state} has the focus")
        seen.add(state[0])
        b.key("Tab")
    expect(len(seen) >= stops, f"Tab reached {len(seen)} of {stops}")


@case
def a_node_says_its_plan(_folder):
    run = report("rules")
    b = opened(os.path.join(run, "report.html"))
    tip = "[...document.querySelectorAll('.tip')].filter(t => t.checkVisibility()).map(t => t.textContent).join('|')"
    expect(b.value(tip) == "", "a tip before anybody asks")
    b.call("Emulation.setFocusEmulationEnabled", enabled=True)  # as in a window that somebody looks at
    b.value("document.getElementById('tree-1').focus()")
    reason, plan, verdict = stored(run, "select reason, plan, verdict from candidate where id = 1")[0]
    words = b.value(tip)
    expect(words.startswith("candidate 1: ") and reason[:300] in words and plan[:300] in words and verdict in words, words)
    expect(b.value("document.getElementById('tree-1').getAttribute('aria-label')") == words, "its name says something else")
    expect(b.value("(() => { const t = document.querySelector('#tree ~ .tip').getBoundingClientRect(); return t.left >= 0 && t.right <= innerWidth; })()"), "the tip is cut")
    b.key("Escape")
    expect(b.value(tip) == "", "Escape leaves it")
    b.value("document.querySelector('#speedups .row').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))")
    expect(re.match(r"rows=64 d=512, cold: [\d.]+\u00d7", b.value(tip)), b.value(tip))


@case
def a_link_opens_what_it_names(_folder):
    path = report("rules", "report.html")
    b = opened(path, "#candidate-2")
    expect(b.value("document.getElementById('candidate-2').open"), "what the address names is closed")
    expect(not b.value("document.getElementById('candidate-1').open"), "what it does not name is open")
    b.value("document.querySelector('#tree-1').focus()")
    b.key("Enter")
    expect(b.value("location.hash") == "#candidate-1", b.value("location.hash"))
    expect(b.value("new Promise(r => setTimeout(() => r(document.getElementById('candidate-1').open), 50))"), "the tree's node opens nothing")


@case
def without_a_script_it_shows_the_same(_folder):
    path = report("rules", "report.html")
    b = opened(path)
    words = b.value("document.body.innerText")
    b.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        b.open(path)
        tree = b.call("DOM.getDocument", depth=-1)
        expect(tree["root"], "no document")
    finally:
        b.call("Emulation.setScriptExecutionDisabled", value=False)
    expect(words == b.value("document.body.innerText"), "a script makes words")


@case
def the_code_can_be_unified(_folder):
    """By the keyboard alone, also without a script: in each change what went stands above what came."""
    b = opened(report("rules", "report.html"))
    heights = """[...document.querySelectorAll('#code tbody.code')].map(t => [
        Math.max(...[...t.querySelectorAll('.old.changed')].map(e => e.getBoundingClientRect().bottom)),
        Math.min(...[...t.querySelectorAll('.new.changed')].map(e => e.getBoundingClientRect().top))]).filter(h => h.every(isFinite))"""
    beside = b.value(heights)
    expect(beside and all(old > new for old, new in beside), f"they do not stand beside each other: {beside}")
    b.value("document.getElementById('side-by-side').focus()")
    b.key("ArrowRight")
    expect(b.value("document.getElementById('unified').checked"), "an arrow does not choose")
    expect(all(old <= new + 0.5 for old, new in b.value(heights)), "what came does not stand below what went")


@case
def on_paper_nothing_is_closed(_folder):
    b = opened(report("a_model", "report.html"), media="print")
    hidden = b.value("[...document.querySelectorAll('details :is(p, pre, td, dd)')].filter(e => e.getBoundingClientRect().height === 0).length")
    expect(hidden == 0, f"{hidden} parts would not be printed")
    expect(b.value("getComputedStyle(document.querySelector('nav')).display") == "none", "the navigation is printed")
    pdf = b.call("Page.printToPDF", printBackground=False)["data"]
    expect(len(pdf) > 20000, "no PDF")


# ---- what it holds ----


@cases(list(RUNS), later="measured")
def every_chart_has_its_marks(_folder, name):
    run = report(name)
    result = load(os.path.join(run, "result.json"))
    b = opened(os.path.join(run, "report.html"))
    n = len(result["workloads"])
    total = result["candidates"]["total"]
    count = lambda selector: b.value(f"document.querySelectorAll({json.dumps(selector)}).length")
    for chart in ("speedups", "shares"):  # two a workload, and two in the legend
        expect(count(f"#{chart} .mark") == 2 * n + 2, f"{count(f'#{chart} .mark')} marks of {n} workloads in {chart}")
    expect(count("#roofline-chart .point") >= 2 or result["outcome"] == "unchanged", "no points below the roof")
    expect(count("#tree a.node") == total + 1, f"{count('#tree a.node')} nodes of {total} candidates")
    expect(count("#progress .point") >= result["candidates"]["passed"], "progress")
    expect(count("#errors .mark") >= 2, "no errors")
    expect(count("details.candidate") == total + 1 and count("details.call") == result["cost"]["calls"], "details")
    # Every regime that was timed, and what the versions take of a multiprocessor: four figures and the occupancy.
    rows = result["workloads"] + result["other_regime"] + result["further_regimes"]
    regimes = len({row["regime"] for row in rows if row["best_us"] is not None})
    expect(regimes >= 2 and count("#speed table") == regimes + 1 and count("#speed tbody tr") == regimes * n + 5,
           "rows of workloads and of resources")


@cases(list(RUNS), later="measured")
def it_says_what_the_result_says(_folder, name):
    run = report(name)
    result = load(os.path.join(run, "result.json"))
    b = opened(os.path.join(run, "report.html"))
    b.value(ALL_OPEN)
    words = b.value("document.body.innerText")
    basis, other = ("measured", "modelled") if name == "measured" else ("modelled", "measured")
    lead = b.value("document.querySelector('.lead').textContent")
    expect(f"{result['speedup']['geomean']:.2f} times as fast" in lead and basis in lead and other not in lead, lead)
    expect(b.value("document.querySelector('.basis').textContent") == basis, "the badge")
    if name == "measured":
        expect(f"95 % interval {result['speedup']['low']:.3f} to {result['speedup']['high']:.3f}" in lead, lead)
    for part in (result["provenance"]["digest"], result["provenance"]["best"], str(result["provenance"]["hidden_seed"]),
                 "not proved beyond it", "rows >= 1", f"{result['verification']['cases']} cases"):
        expect(part in words, f"'{part}' is not on the page")
    if name != "a_model":
        expect("<" not in b.value("[...document.querySelectorAll('#verdict, #speed, #search, #repeat')].map(e => e.innerText).join()"), "markup is shown")
    for row in result["workloads"]:
        expect(f"{row['baseline_us']:.2f}" in words and f"{row['best_us']:.2f}" in words, row)


# ---- the code ----


def stored(run, query):
    with contextlib.closing(sqlite3.connect(os.path.join(run, "run.db"))) as db:
        return db.execute(query).fetchall()


def bare(markup):
    return html.unescape(re.sub("<[^>]*>", "", markup))


def sides(code):
    """The rows of the code: of each side line, sign, text and share, or None; and the lines that are folded."""
    cell = r'<td class="heat( none)?"[^>]*>(.*?)</td><td class="ln(?: none)?">(\d*)(.?)</td><td class="(?:old|new)[^"]*">(.*?)</td>'
    rows, folded = [], []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", "".join(code.split("<tbody class=\"code")[1:]), re.S):
        fold = re.match(r'<td colspan="\d">lines (\d+) to (\d+)', row)
        if fold:
            folded += range(int(fold[1]), int(fold[2]) + 1)
        else:
            rows.append([None if none else (int(line), sign.strip(), bare(text), bare(share)) for none, share, line, sign, text in re.findall(cell, row, re.S)])
    return rows, folded


@cases(list(RUNS), later="measured")
def the_code_is_both_files(_folder, name):
    run = report(name)
    best = load(os.path.join(run, "result.json"))["best_candidate"]
    rows, folded = sides(section(run, "code"))
    texts = [stored(run, f"select text from candidate where id = {i}")[0][0].splitlines() for i in (0, best)]
    expect(best > 0, "the original stays: this case wants a better version")
    for side, text in enumerate(texts):
        lines = [r[side] for r in rows if r[side]]
        expect([x[0] for x in lines] == sorted(x[0] for x in lines), "the lines are not in order")
        for line, _sign, shown, _share in lines:
            whole = text[line - 1]
            expect(shown == whole or (len(whole) > 400 and whole.startswith(shown[:100])), (shown, whole))
    expect(sorted([r[0][0] for r in rows if r[0]] + folded) == list(range(1, len(texts[0]) + 1)), "lines of the original are missing")
    kept = [[x for i, x in enumerate(text, 1) if i not in {r[side][0] for r in rows if r[side] and r[side][1]}] for side, text in enumerate(texts)]
    expect(kept[0] == kept[1], "what is not marked differs")
    expect(any(r[1] and r[1][1] == "+" for r in rows), "no change is marked")
    hot = {x["line"]: x["share"] for x in json.loads(stored(run, "select trial from candidate where id = 0")[0][0])["lines"]}
    shown = {r[0][0]: r[0][3] for r in rows if r[0] and r[0][3]}
    expect(sorted(shown) == sorted(hot), (shown, hot))
    expect(all(abs(float(s.strip("<\xa0%")) - 100 * hot[i]) <= 1 for i, s in shown.items()), (shown, hot))


@cases(list(RUNS), later="measured")
def each_step_says_what_it_gained(_folder, name):
    run = report(name)
    scores = dict(stored(run, "select id, score from candidate"))
    code = section(run, "code")
    steps = re.findall(r'<li id="step-(\d+)">(.*?)</li>', code, re.S)
    expect(steps and [int(k) for k, _ in steps] == list(range(1, len(steps) + 1)), "the steps")
    for k, words in steps:
        link = f'href="#change-{k}"' in words
        expect(link == (f'<a id="change-{k}"' in code) == (f'href="#step-{k}"' in code) == ("later steps replaced its lines" not in words), (k, words))
        gain = re.search(r"<strong>([\d.]+)\u00d7</strong>, .*?candidate (\d+)</a> over (?:.*?candidate (\d+)</a>|the original)", words)
        expect(gain or "is not known" in words, words)
        if gain:
            expect(abs(float(gain[1]) - scores[int(gain[2])] / scores[int(gain[3] or 0)]) < 0.01, (gain[0], scores))


@case
def code_need_not_be_text(folder):
    small_task(folder, TASK, KERNEL)
    kernel = os.path.join(folder, "task", "kernel.cu")
    with open(kernel, "ab") as f:
        f.write(b"// \xe9t\xe9 \xf0\x9f\x98\x80 \xed\xa0\x80 <b>\n// " + b"x" * 5000 + b"\n")
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--quiet", "--out", "run"), 0)
    said(astra(folder, "report", "run"), 0)
    code = section(os.path.join(folder, "run"), "code")
    expect("// \ufffdt\ufffd \U0001f600 \ufffd\ufffd\ufffd &lt;b&gt;" in code and "4603 more bytes" in code, code[-3000:])


@cases(list(RUNS), later="measured")
def one_small_file(_folder, name):
    path = report(name, "report.html")
    text = read(path)
    expect(os.path.getsize(path) < 1 << 20, f"{os.path.getsize(path)} bytes")
    head = re.sub(r"<pre.*?</pre>", "", text, flags=re.S)
    expect(not re.search(r"""(src|href)\s*=\s*["']?(https?:|//)|url\(|@import|<link[^>]+stylesheet""", head), "it asks for something else")


@case
def harmful_text_stays_text(folder):
    path = report("a_model", "report.html")
    bare = write(os.path.join(folder, "bare.html"), re.sub(r"<meta http-equiv=.*?>\n", "", read(path), count=1))
    expect("Content-Security-Policy" not in read(bare), "the policy is still there")
    for page in (path, bare):  # the policy is a second wall, the first must hold by itself
        b = opened(page)
        b.value(ALL_OPEN)
        expect(b.value("typeof window.pwned") == "undefined", "text from outside ran")
        expect(b.value("document.images.length + document.querySelectorAll('[onerror], [onload], textarea').length") == 0, "text from outside became elements")
        expect(b.value("document.scripts.length") == 1 and b.value("document.querySelectorAll('style').length") == 1, "scripts or styles")
        words = b.value("document.querySelector('main').innerText")
        for what in ("reason ", "plan ", "words ", "// ", "m"):
            expect(what + EVIL in words, f"'{what}' is not on the page as it was said")
        for what in ("name ", "why "):  # which are cut when they are read
            expect(what + EVIL[:60] in words, f"'{what}' is not on the page as it was said")
        expect(not b.complaints and len(b.requests) == 1, b.complaints + b.requests)


@case
def a_policy_holds_what_slips_through(folder):
    """An inline handler put into the page by hand does not run."""
    path = write(os.path.join(folder, "hurt.html"), read(report("rules", "report.html")).replace("<main>", "<main><img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"))
    b = opened(path)
    expect(b.value("new Promise(r => setTimeout(() => r(typeof window.pwned), 100))") == "undefined", "the policy lets it run")
    expect(b.complaints, "nobody complained")


# ---- ends ----


def lead_of(path):
    b = opened(path)
    expect(not b.complaints, b.complaints)
    b.value(ALL_OPEN)
    expect(not b.value(ACCESS), b.value(ACCESS))
    return b.value("document.getElementById('verdict').innerText")


def ended(folder, *more):
    """The page, and what a pull request says."""
    said(astra(folder, "report", "run"), 0)
    return lead_of(os.path.join(folder, "run", "report.html")), said(astra(folder, "report", "run", "--markdown"), 0).out


@case
def nothing_is_faster(folder):
    small_task(folder, TASK.replace("[256, 1024]", "[128, 512]"))
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--quiet", "--out", "run"), 0)
    expect(load(os.path.join(folder, "run", "result.json"))["outcome"] == "unchanged", "the kernel of the tests became faster by one move")
    page, markdown = ended(folder)
    expect("The original stays" in page and "provably faster" in page, page)
    expect("The original stays" in markdown and "The patch" not in markdown, markdown)


@case
def a_budget_ended_it(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--budget-time", "1s", "--quiet", "--out", "run"), 3)
    page, markdown = ended(folder)
    expect("A budget ended the run" in page and "A budget ended the run" in markdown, page)


@case
def the_world_failed(folder):
    small_task(folder)
    with Server({"key": "another"}) as server:
        done = said(astra(folder, "optimize", "task", "--agents", "planner=llm", "--provider", "openai", "--base-url", server.url,
                          "--model", "m", "--rounds", "1", "--candidates", "2", "--quiet", "--out", "run",
                          env=environment(OPENAI_API_KEY="wrong")), 1)
    page, markdown = ended(folder)
    expect("The run failed: " in page and "key" in page and "astra resume" in page, (page, done.err))
    expect("The run failed: " in markdown and not re.search(r"\bwrong\b", page + markdown), markdown)


@case
def it_was_stopped_or_killed(folder):
    small_task(folder)
    run = start(folder, "optimize", "task", "--rounds", "3", "--out", "run")
    end = time.monotonic() + 120
    while run.poll() is None and time.monotonic() < end:
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{folder}/run/run.db?mode=ro", uri=True)) as db:
            if db.execute("SELECT count(*) FROM candidate").fetchone()[0] >= 1:
                break
        time.sleep(0.01)
    expect(run.poll() is None, "the run was too quick to be stopped")
    expect("under way, or was killed" in ended(folder)[0], "a run under way")
    os.killpg(run.pid, signal.SIGINT)
    expect(run.wait(120) == 130, "it was not interrupted")
    page, markdown = ended(folder)
    expect("was interrupted" in page and "was interrupted" in markdown, page)


@case
def a_later_one_was_judged_first(folder):
    """Workers end in any order; the run stops in between."""
    shutil.copytree(report("rules"), os.path.join(folder, "run"))
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "run", "run.db"))) as db, db:
        last = db.execute("SELECT max(id) FROM candidate").fetchone()[0]
        best = int(db.execute("SELECT value FROM meta WHERE key = 'best'").fetchone()[0])
        gap = last - 1 if best != last - 1 else last - 2
        db.execute("DELETE FROM candidate WHERE id = ?", (gap,))
        db.execute("UPDATE run SET status = 'interrupted'")
    ended(folder)
    page = read(os.path.join(folder, "run", "report.html"))
    expect(f'id="candidate-{last}"' in page and "unfinished" in page, "no row of it")
    rows = json.loads(said(astra(folder, "report", "run", "--json"), 0).out)["report"]["candidates"]
    expect([r["candidate"] for r in rows] == list(range(last + 1)) and rows[gap]["verdict"] == "unfinished", rows)
    expect(rows[last]["verdict"] != "unfinished", rows[last])


@case
def before_its_original_was_judged(folder):
    """All that a run leaves that is killed at once."""
    shutil.copytree(report("rules"), os.path.join(folder, "run"))
    for name in ("task", "suite.json", "result.json", "best.cu", "best.diff"):
        path = os.path.join(folder, "run", name)
        (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "run", "run.db"))) as db, db:
        for table in ("candidate", "trial"):
            db.execute(f"DELETE FROM {table}")
        db.execute("DELETE FROM meta WHERE key IN ('best', 'confirmation', 'control', 'hidden_seed', 'mutation', 'suite', 'provenance', 'device')")
        db.execute("UPDATE run SET status = 'running', result = NULL, ended = NULL")
    page, markdown = ended(folder)
    expect("No result" in page and "No result" in markdown, page)
    data = json.loads(said(astra(folder, "report", "run", "--json"), 0).out)
    expect(data["status"] == "running" and data["report"]["candidates"] == [], data)


# ---- the other forms, and bad words ----


@case
def for_a_pull_request(folder):
    run = report("rules")
    result = load(os.path.join(run, "result.json"))
    text = said(astra(os.path.dirname(run), "report", "run", "--markdown"), 0).out
    expect(text.startswith(f"## scale\\_rows: {result['speedup']['geomean']:.2f} times the original's speed (modelled)\n"), text[:200])
    for row in result["workloads"]:
        expect(re.search(rf"^\| rows={row['dims']['rows']} d={row['dims']['d']} \| {row['baseline_us']:.2f} \| {row['best_us']:.2f} ", text, re.M), row)
    expect(re.search(r"^\| registers a thread \| \d+ \| \d+ \|$", text, re.M), "no resources before and after")
    command = re.search(r"```sh\n(astra verify run)\n(astra optimize run/task .*)\n```", text)
    expect(command and "--seed 7 --hidden-seed 11" in command.group(2), text)
    patch = re.search(r"<details>\n<summary>The patch</summary>\n\n```diff\n(.*?)```\n\n</details>", text, re.S)
    expect(patch and patch.group(1) == read(os.path.join(run, "best.diff")), "the patch is not best.diff")
    # What it says repeats the run does so.
    os.mkdir(os.path.join(folder, "run"))
    shutil.copytree(os.path.join(run, "task"), os.path.join(folder, "run", "task"))
    said(astra(folder, *command.group(2).split()[1:], "--out", "again", "--quiet"), 0)
    expect(load(os.path.join(folder, "again", "result.json"))["workloads"] == result["workloads"], "another result")


@case
def harm_in_a_pull_request(_folder):
    text = said(astra(os.path.dirname(report("a_model")), "report", "run", "--markdown"), 0).out
    prose = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.S | re.M)
    expect("<img" not in prose and "<script" not in prose and "</details>\n" in prose, prose)


@cases(list(RUNS), later="measured")
def for_programs(_folder, name):
    run = report(name)
    data = json.loads(said(astra(os.path.dirname(run), "report", "run", "--json"), 0).out)
    more = data.pop("report")
    expect(data == load(os.path.join(run, "result.json")), "the result is not result.json's")
    expect([c["candidate"] for c in more["candidates"]] == list(range(data["candidates"]["total"] + 1)), more["candidates"])
    expect([c["candidate"] for c in more["candidates"] if c["best"]] == [data["best_candidate"]], "the best")
    expect(len(more["calls"]) == data["cost"]["calls"] and more["verdict"] and more["limits"], more)


@case
def somewhere_else(folder):
    run = report("rules")
    for form in ([], ["--markdown"], ["--json"]):
        out = os.path.join(folder, "there")
        done = said(astra(os.path.dirname(run), "report", "run", *form, "--out", out), 0)
        expect(done.out == out + "\n" and os.path.getsize(out) > 1000, done.out)
    expect(read(out).startswith("{"), "the last form is JSON")


@cases([("no such run", ["nobody"], 2, "no run 'nobody'"), ("no store", ["empty"], 2, "empty"), ("two forms", ["run", "--json", "--markdown"], 2, "one"),
        ("nowhere to write", ["run", "--out", "not/there/x"], 1, "not/there"), ("no run named", [], 2, "needs RUN")])
def says_what_is_wrong(_folder, row):
    run = report("rules")
    os.makedirs(os.path.join(os.path.dirname(run), "empty"), exist_ok=True)
    said(astra(os.path.dirname(run), "report", *row[1]), row[2], re.escape(row[3]))


@cases([("a note", "UPDATE meta SET value = '{' WHERE key = 'mutation'", 0), ("all notes", "UPDATE meta SET value = ''", 1),
        ("a trial", "UPDATE candidate SET trial = '{\"verdict\": 7}' WHERE id = 1", 1), ("no trial", "UPDATE candidate SET trial = NULL", 1),
        ("a parent to come", "UPDATE candidate SET parent = 7, repairs = 7 WHERE id = 1", 1),
        ("options", "UPDATE run SET options = 'x', result = '['", 1), ("steps", "UPDATE candidate SET steps = '[7, {}]'", 0),
        ("no number", "UPDATE candidate SET score = NULL, gain = 1e308", 0)])
def a_damaged_store(folder, row):
    """An error with its reason, or a page without what cannot be read."""
    shutil.copytree(report("rules"), os.path.join(folder, "run"))
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "run", "run.db"))) as db, db:
        db.execute(row[1])
    for form in ([], ["--markdown"], ["--json"]):
        done = astra(folder, "report", "run", *form)
        expect(done.returncode in ((0,) if row[2] == 0 else (1, 2)), (row, done.returncode, done.err))
        said(done, done.returncode)


try:
    main()
finally:
    for b in _browser:
        b.__exit__()
