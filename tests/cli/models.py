"""Runs in which models think: calls counted, weak models, kills, budgets, widths, backends, recordings, secrets. The model
is a scripted server on loopback (tests/llm/server.py)."""

import json
import os
import re
import shutil
import signal
import sys
import time

from harness import GAINS, ROOT, astra, case, cases, environment, expect, kept, load, main, read, rest, said, small_task, start, without_nvcc, write

sys.path.insert(0, os.path.join(ROOT, "tests", "llm"))
from server import Server  # pylint: disable=wrong-import-position,wrong-import-order

without_nvcc()
KEY = "sk-a-key-that-must-not-leak"


def kernel(each=2, block=128, tune="", factor="factor"):
    """scale_rows with so many neighbours a thread; `factor` spoils it."""
    return f"""#include <cuda_fp16.h>

constexpr int BLOCK = {block};{tune}

__global__ void scale_rows_kernel(const __half *in, __half *out, int n, float factor)
{{
    int first = (blockIdx.x * BLOCK + threadIdx.x) * {each};
    for (int i = first; i < first + {each} && i < n; i++)
        out[i] = __float2half(__half2float(in[i]) * {factor});
}}

extern "C" void scale_rows(__half *out, const __half *in, int rows, int d, float factor, cudaStream_t stream)
{{
    int n = rows * d, each = {each};
    scale_rows_kernel<<<(n + each * BLOCK - 1) / (each * BLOCK), BLOCK, 0, stream>>>(in, out, n, factor);
}}
"""


def file(**how):
    return f"Here it is.\n\n```cuda\n{kernel(**how)}```\n"


def plan(*names, move=None):
    return json.dumps({"strategies": [
        {"name": n, "move": move, "reason": f"{n} is a reason", "plan": f"do as {n} says", "expected_gain": 1.1, "confidence": 0.5}
        for n in names]})


TESTER = json.dumps({"workloads": [], "cases": [{"dims": [3, 17], "values": {"in": {"kind": "large"}}, "why": "odd"}]})
USAGE = {"prompt_tokens": 3000, "completion_tokens": 500}


def rule(role, *replies, repeat="last", **match):
    return {"match": {"role": role, **match}, "repeat": repeat,
            "replies": [{"text": r, "usage": USAGE} if isinstance(r, str) else {"usage": USAGE, **r} for r in replies]}


def scenario(*rules, **more):
    """A good model: every planner's reply is another strategy, every file is right; or what the rules say."""
    first = [plan(f"idea {i} of this run") for i in range(40)]
    last = [file(each=e, block=b) for e in (1, 2, 3) for b in (32, 96, 160, 192, 224, 288, 320)]
    return {"models": ["m"], "key": KEY,
            "rules": [*rules, rule("tester", TESTER), rule("planner", *first), rule("coder", *last), rule("engineer", *last)], **more}


FEW = ("--candidates", "3", "--jobs", "1", "--seed", "7")


def arguments(server, *more, agents="llm", rounds=2, out="run"):
    return ("optimize", "task", "--agents", agents, "--provider", "openai", "--base-url", server.url, "--model", "m",
            "--rounds", rounds, *FEW, "--hidden-seed", "11", "--out", out, "--trace", "trace", *more)


ENV = {"OPENAI_API_KEY": KEY}


def run(folder, server, *more, status=0, **how):
    return said(astra(folder, *arguments(server, *more, **how), env=environment(**ENV)), status)


def posts(server):
    return [r["body"] for r in server.requests if r["method"] == "POST"]


def result(folder, out="run"):
    return load(os.path.join(folder, out, "result.json"))


def events(folder, name="trace"):
    path = os.path.join(folder, name)
    lines = read(path).split("\n") if os.path.exists(path) else []
    out = []
    for line in lines:
        try:
            out.append(json.loads(line))
        except ValueError:
            pass  # being written
    return out


def labels(folder, event="call"):
    return [e["label"] for e in events(folder) if e["event"] == event]


def comparable(outcome):
    """A result without its times."""
    cost = {k: v for k, v in outcome["cost"].items() if k not in ("seconds", "by_role")}
    provenance = {k: v for k, v in outcome["provenance"].items() if k != "digest"}
    return {k: v for k, v in outcome.items() if k not in ("wall_s", "status")} | {"cost": cost, "provenance": provenance}


@case
def five_rounds_are_eleven_calls(folder):
    small_task(folder)
    with Server(scenario()) as s:
        run(folder, s, rounds=5)
        expect(len(posts(s)) == 11, f"{len(posts(s))} calls")
        expect(all(b["model"] == "m" for b in posts(s)), "another model was asked")
    expect(labels(folder) == ["tester"] + [x for r in range(1, 6) for x in (f"planner-{r}", f"coder-{r}-1")], labels(folder))
    r = result(folder)
    expect(r["agents"] == "llm" and r["cost"]["calls"] == 11, r["cost"])
    expect(r["cost"]["tokens_in"] == 33000 and r["cost"]["tokens_out"] == 5500, r["cost"])
    expect({k: v["calls"] for k, v in r["cost"]["by_role"].items()} == {"tester": 1, "planner": 5, "coder": 5}, r["cost"])
    expect(r["cost"]["usd"] is None, "a price was made up")
    expect(r["candidates"]["by_mind"]["llm"] == 5 and r["candidates"]["by_mind"]["rules"] > 5, r["candidates"])
    expect(r["tester"]["cases"] == 1 and r["tester"]["faults"] >= r["tester"]["noticed"] >= r["tester"]["noticed_by_rules"] > 5, r["tester"])
    expect("by the tester" in said(astra(folder, "show", "run"), 0).out, "the tester's case is not told")


@rest
def rules_ask_nobody(folder):
    small_task(folder)
    with Server(scenario()) as s:
        said(astra(folder, "optimize", "task", "--rounds", "1", *FEW, "--out", "run",
                   env=environment(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=s.url)), 0)
        write(os.path.join(folder, "astra.yaml"), f"provider: openai\nmodel: m\nbase_url: {s.url}\n")
        said(astra(folder, "optimize", "task", "--rounds", "1", *FEW, "--out", "run2", env=environment(**ENV)), 0)
        expect(s.requests == [], "somebody was asked without --agents")
    expect(result(folder)["cost"]["calls"] == 0 and result(folder)["cost"]["usd"] == 0, "cost")


@rest
def a_weak_model_never_harms(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--rounds", "3", *FEW, "--out", "rules"), 0)
    spoilt = [file(factor="2 * factor"), kernel(), file(each=4, factor="factor * (i % 64 ? 1 : 2)"),
              "```cuda\n#include <cuda_fp16.h>\nthis is not C\n```"]
    with Server(scenario(rule("coder", *spoilt, repeat="cycle"), nonsense=0.5, seed=3)) as s:
        run(folder, s, rounds=3)
        n = len(posts(s))
    rules, weak = result(folder, "rules"), result(folder)
    expect(weak["speedup"]["geomean"] >= rules["speedup"]["geomean"] > 1.03, (weak["speedup"], rules["speedup"]))
    expect(weak["verification"]["hidden"] >= 8, weak["verification"])
    expect(n > 5 and any(e["event"] == "unusable" for e in events(folder)), "it was not weak")


@case
def repairs_come_back_with_the_words(folder):
    small_task(folder)
    with Server(scenario(rule("coder", file(factor="2 * factor"), "I would rather not.", file(factor="nothing"), file(each=3)))) as s:
        run(folder, s, rounds=1)
        coder = [b for b in posts(s) if b["messages"][0]["content"].startswith("You are Astra's coder.")]
    expect(labels(folder)[-4:] == ["coder-1-1", "coder-1-1-repair-1", "coder-1-1-repair-1-again", "coder-1-1-repair-2"],
           labels(folder))
    expect([len(b["messages"]) >= n for b, n in zip(coder, (2, 4, 4, 4))] == 4 * [True], "the conversation does not go on")
    expect("wrong" in coder[1]["messages"][-1]["content"] and "element" in coder[1]["messages"][-1]["content"], "the judge's words")
    expect("nothing" in coder[3]["messages"][-1]["content"], "the compiler's words")
    verdicts = result(folder)["candidates"]["by_verdict"]
    expect(verdicts.get("wrong") == 1 and verdicts.get("compile-failed") == 1, verdicts)


@rest
def at_most_two_repairs(folder):
    small_task(folder)
    with Server(scenario(rule("coder", *[file(block=b, factor="2 * factor") for b in (32, 64, 96, 160, 192, 224)]))) as s:
        run(folder, s, rounds=1)
        expect(len(posts(s)) == 2 + 3, f"{len(posts(s))} calls")


@case
def tunables_are_tuned_without_a_call(folder):
    small_task(folder)
    with Server(scenario(rule("coder", file(block=32, tune=" // astra: tune 32 128 512")))) as s:
        run(folder, s, rounds=1)
        expect(len(posts(s)) == 3, f"{len(posts(s))} calls")
    expect(sum("tune BLOCK" in e.get("name", "") for e in events(folder) if e["event"] == "trial") >= 2, "not tuned")


def wait_for(process, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            return False
        expect(time.monotonic() < end, "it never came")
        time.sleep(0.002)
    return True


def begin(folder, server, *more, **how):
    os.environ.update(ENV)
    try:
        return start(folder, *arguments(server, *more, **how))
    finally:
        for name in ENV:
            del os.environ[name]


def resume(folder, *more, status=0):
    return said(astra(folder, "resume", "run", "--trace", "trace", *more, env=environment(**ENV)), status)


@rest
def killed_at_every_reply_pays_for_nothing_twice(folder):
    small_task(folder)
    latency = {"latency_s": 0.03}
    with Server(scenario(**latency)) as s:
        run(folder, s, "--quiet", out="undisturbed")
        undisturbed = [json.dumps(b, sort_keys=True) for b in posts(s)]
    os.remove(os.path.join(folder, "trace"))
    with Server(scenario(**latency)) as s:
        p = begin(folder, s, "--quiet")
        seen = 0
        for _ in range(12):
            if not wait_for(p, lambda: len(labels(folder, "reply")) > seen):
                break
            p.kill()
            p.wait()
            # What was asked and not answered when it died may be asked again; nothing else may.
            seen = len(labels(folder, "reply"))
            os.environ.update(ENV)
            p = start(folder, "resume", "run", "--quiet", "--trace", "trace")
            stored = len(set(labels(folder, "reply")))
            seen = len(labels(folder, "reply")) + stored - 1
        p.wait()
        for name in ENV:
            os.environ.pop(name, None)
        if p.returncode != 0:
            resume(folder)
        asked, answered = labels(folder, "call"), [e["label"] for e in events(folder) if e["event"] == "reply" and not e["stored"]]
        expect(len(answered) == len(set(answered)), f"paid twice: {answered}")
        expect(sorted(answered) == sorted(set(asked)), (asked, answered))
        expect(len(posts(s)) == len(asked), "requests that nobody traced")
        expect({json.dumps(b, sort_keys=True) for b in posts(s)} == set(undisturbed), "other questions than undisturbed")
    expect(comparable(result(folder)) == comparable(result(folder, "undisturbed")),
           f"{json.dumps(comparable(result(folder)))}\n{json.dumps(comparable(result(folder, 'undisturbed')))}")
    expect(read(os.path.join(folder, "run", "best.cu")) == read(os.path.join(folder, "undisturbed", "best.cu")), "another best")


@case
def interrupted_in_the_middle_of_a_call(folder):
    small_task(folder)
    with Server(scenario(rule("planner", {"text": plan("slow one"), "silence_s": 60}, repeat="no"))) as s:
        p = begin(folder, s, rounds=1)
        expect(wait_for(p, lambda: "planner-1" in labels(folder, "waiting")), "no word while it waits")
        expect(re.search(r"planner-1: waiting for \d+ s, \d+ tokens so far", read(os.path.join(folder, "stderr"))), "no progress")
        before = time.monotonic()
        p.send_signal(signal.SIGINT)
        expect(p.wait(30) == 130, read(os.path.join(folder, "stderr")))
        expect(time.monotonic() - before < 20, "it waited for the model")
        resume(folder)
        expect(labels(folder).count("tester") == 1, "the tester was paid twice")
    expect(result(folder)["status"] == "done", "not done")


def count_by_limit(folder, *limit, out):
    with Server(scenario()) as s:
        run(folder, s, *limit, out=out, rounds=5, status=3)
        return posts(s), result(folder, out)


@rest
def tokens_end_it(folder):
    small_task(folder)
    asked, r = count_by_limit(folder, "--budget-tokens", "20000", out="run")
    expect(r["status"] == "budget" and r["cost"]["tokens_in"] + r["cost"]["tokens_out"] <= 20000, r["cost"])
    most = [p["max_tokens"] for p in asked if "max_tokens" in p] # said where it is below that of any reply
    expect(len(most) > 2 and all(a > b >= 1024 for a, b in zip(most, most[1:])) and most[0] < 16384, most)
    expect(1 < len(asked) < 11 and r["speedup"]["geomean"] > 1.03, f"{len(asked)} calls")
    with Server(scenario(rule("planner", *[plan(f"later idea {i}") for i in range(5)]))) as s:
        resume(folder, "--base-url", s.url, "--budget-tokens", "1000000")
        expect(len(asked) + len(posts(s)) == 11, f"resumed with more money, it goes on where it stopped: {labels(folder)}")


@case
def a_command_without_end(folder):
    """What it prints behind the budget is not read."""
    small_task(folder)
    done = astra(folder, "optimize", "task", "--device", "sim", "--agents", "llm", "--provider", "exec", "--command", "yes nonsense",
                 "--budget-tokens", "15000", "--out", "run", "--quiet", "--no-memory", "--rounds", "1", "--candidates", "2")
    said(done, 3)
    cost = result(folder)["cost"]
    expect(10000 < cost["tokens_in"] + cost["tokens_out"] <= 15000, cost)


@case
def money_ends_it(folder):
    small_task(folder)
    write(os.path.join(folder, "prices.yaml"), "date: 2026-01-01\nmodels:\n  m: {input: 10, cached: 1, output: 100}\n")
    asked, r = count_by_limit(folder, "--budget-usd", "0.5", "--prices", "prices.yaml", out="run")
    expect(r["status"] == "budget" and 0.3 < r["cost"]["usd"] <= 0.5, r["cost"])
    expect(abs(r["cost"]["usd"] - len(asked) * 0.08) < 1e-9, r["cost"])
    with Server(scenario()) as s:
        done = astra(folder, *arguments(s, "--budget-usd", "1", out="other"), env=environment(**ENV))
        said(done, 2, "no price", "--prices")


@rest
def time_ends_it(folder):
    small_task(folder)
    with Server(scenario(rule("planner", {"text": plan("slow one"), "first_s": 60}))) as s:
        run(folder, s, "--budget-time", "8s", status=3)
    expect(result(folder)["status"] == "budget", "no budget")


WIDE = [rule("planner", plan("alpha", "beta", "gamma"), plan("delta", "epsilon", "zeta"))]


def wide(delays):
    """Each strategy has its own files; replies come after `delays`."""
    replies = {"alpha": [file(block=32)], "beta": [file(block=96, factor="2 * factor"), file(block=96)], "gamma": [file(block=32)],
               "delta": ["no file"], "epsilon": [file(block=160)], "zeta": [file(block=192, factor="broken"), file(block=224)]}
    rules = [rule("coder", *[{"text": t, "first_s": delays[i % 3]} for t in texts], contains=f"do as {name} says")
             for i, (name, texts) in enumerate(replies.items())]
    return scenario(*WIDE, *rules)


@rest
def the_order_of_arrival_changes_nothing(folder):
    small_task(folder)
    for out, delays in (("first", (0.4, 0.0, 0.2)), ("second", (0.0, 0.3, 0.1))):
        with Server(wide(delays)) as s:
            run(folder, s, "--width", "3", "--record", out + "-record", out=out)
    arrived = [re.sub("-again|-repair.*", "", x) for x in labels(folder, "reply") if x.startswith("coder-1")]
    half = len(arrived) // 2
    expect(arrived[:half] != arrived[half:], f"both came in the same order: {arrived}")
    expect(comparable(result(folder, "first")) == comparable(result(folder, "second")), "the order of arrival mattered")
    for out in ("first", "second"):
        said(astra(folder, "optimize", "task", "--agents", "llm", "--provider", "replay", "--replay", out + "-record",
                   "--width", "3", "--rounds", "2", *FEW, "--hidden-seed", "11", "--out", out + "-again"), 0)
        a, b = comparable(result(folder, out)), comparable(result(folder, out + "-again"))
        expect(a["cost"].pop("usd", None) is None and b["cost"].pop("usd", None) in (None, 0), "cost")
        expect(a == b, f"a replay differs:\n{json.dumps(a)}\n{json.dumps(b)}")


@rest
def width_runs_side_by_side(folder):
    small_task(folder)
    with Server(wide((0.5, 0.5, 0.5))) as s:
        run(folder, s, "--width", "3", rounds=1)
        times = [r["t"] for r in s.requests if r["method"] == "POST"][-5:]
    first = [e["t_s"] for e in events(folder) if e["event"] == "call" and re.fullmatch(r"coder-1-\d", e["label"])]
    reply = [e["t_s"] for e in events(folder) if e["event"] == "reply" and e["label"].startswith("coder-1")]
    expect(len(first) == 3 and max(first) < min(reply), f"one after the other: {first} {reply} {times}")
    # gamma's file is alpha's: it is not judged twice
    expect(sum(e["event"] == "trial" and e.get("mind") == "llm" for e in events(folder)) == 3, "judged twice")


@rest
def the_same_machine_code_is_not_run_again(folder):
    small_task(folder)
    other = file(each=3, block=96).replace("first", "start_of_mine").replace("(i)", "(i )")
    wrong = file(each=3, block=96, factor="2 * factor")
    with Server(scenario(rule("coder", file(each=3, block=96), other, wrong, wrong.replace("first", "f"), file(each=5)))) as s:
        run(folder, s, rounds=4)
    made = [e for e in events(folder) if e["event"] == "trial" and e.get("mind") == "llm"]
    expect(len(made) >= 4, made)
    expect(made[0]["wall_s"] == made[1]["wall_s"] and made[0]["score"] == made[1]["score"], "the same code was run again")
    expect(made[2]["wall_s"] != made[0]["wall_s"], made)


@case
def single_is_one_conversation(folder):
    small_task(folder)
    with Server(scenario()) as s:
        run(folder, s, agents="single", rounds=3)
        sizes = [len(b["messages"]) for b in posts(s)]
        expect(all(b["messages"][0]["content"].startswith("You are Astra's engineer.") for b in posts(s)), "another role")
    expect(labels(folder) == ["single-1", "single-2", "single-3"] and sizes == [2, 4, 6], (labels(folder), sizes))
    r = result(folder)
    expect(r["agents"] == "single" and r["candidates"]["by_mind"] == {"rules": 0, "llm": 3}, r["candidates"])


@rest
def single_sees_its_refused_file(folder):
    """A file that was refused stays in the conversation, with the place that the judge names; one that became the best
    is shown as the file to improve, and not twice."""
    small_task(folder, GAINS)
    broken = file(each=2).replace("int first =", "int first = nothing +")
    with Server(scenario(rule("engineer", broken, file(each=2), file(each=1)))) as s:
        run(folder, s, agents="single", rounds=3)
        asked = [b["messages"] for b in posts(s)]
    expect("nothing +" in asked[1][-2]["content"] and "the place in your last file" in asked[1][-1]["content"], asked[1])
    expect("int first = nothing" in asked[1][-1]["content"], asked[1][-1])
    expect("(file left out)" in asked[2][-2]["content"] and "+ 2" not in asked[2][-2]["content"], asked[2][-2])


@rest
def single_says_that_it_is_done(folder):
    small_task(folder)
    with Server(scenario(rule("engineer", file(each=3), "The copy bounds it.\n\nDONE."))) as s:
        run(folder, s, agents="single", rounds=5)
    expect(labels(folder) == ["single-1", "single-2"], labels(folder))
    enough = [e for e in events(folder) if e["event"] == "enough"]
    expect(len(enough) == 1 and "single-2" in str(enough), enough)
    expect(result(folder)["status"] == "done", result(folder)["status"])


@cases([
    ("planner", "planner=llm,coder=rules", {"planner"}), ("coder", "coder=llm", {"coder"}),
    ("tester", "tester=llm", {"tester"}), ("profiler", "profiler=llm", {"profiler"}),
    ("all", "tester=llm,profiler=llm,planner=llm,coder=llm", {"tester", "profiler", "planner", "coder"}),
    ("llm and profiler", "llm,profiler=llm", {"tester", "profiler", "planner", "coder"}),
    ("llm but tester", "llm,tester=rules", {"planner", "coder"}),
], every=4)
def minds_by_role(folder, row):
    small_task(folder)
    profiler = json.dumps({"bound_by": "dram", "diagnosis": "it waits for memory", "hot_lines": [{"line": 7, "why": "loads"}]})
    rules = [rule("profiler", profiler)]
    if "planner=llm,coder=rules" == row[1]:
        rules.append(rule("planner", plan("wider blocks", move="block-size 256"), plan("items", move="items 2")))
    with Server(scenario(*rules)) as s:
        run(folder, s, agents=row[1])
        expect(set(result(folder)["cost"]["by_role"]) == row[2], result(folder)["cost"]["by_role"])
    made = result(folder)["candidates"]["by_mind"]
    expect((made["llm"] > 0) == bool(row[2] & {"planner", "coder"}), made)
    expect((made["rules"] > 0) == (row[1].startswith("llm") or not row[2] & {"planner", "coder"}), made)


@rest
def models_without_a_profile(folder):
    """profiler=none: the planner is told the times, and nothing of what bounds them."""
    for agents, told in (("llm,tester=rules", True), ("llm,tester=rules,profiler=none", False)):
        shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
        small_task(folder)
        with Server(scenario()) as s:
            run(folder, s, agents=agents)
            asked = [json.dumps(b) for b in posts(s) if "Astra's planner" in json.dumps(b)]
            expect(asked, "no planner was asked")
            for text in asked:
                expect("Its times in us" in text and bool(re.search(r"alone \d+ %", text)) == told, text)
                expect(("Diagnosis: none" in text) != told, text)


@cases([
    ("no model", ["--agents", "llm"], "--provider", "--model"),
    ("no model, single", ["--agents", "single"], "--provider", "--model"),
    ("unknown provider", ["--agents", "llm", "--provider", "opnai", "--model", "m"], "opnai", "openai", "anthropic", "exec", "replay"),
    ("unknown role", ["--agents", "critic=llm"], "critic", "tester, profiler, planner and coder"),
    ("unknown backend", ["--agents", "planner=oracle"], "oracle"),
    ("single and a role", ["--agents", "single,planner=llm"], "single"),
    ("flags without models", ["--provider", "openai"], "--agents"),
    ("width 0", ["--agents", "llm", "--provider", "exec", "--command", "true", "--width", "0"], "--width"),
    ("password of a proxy", ["--agents", "llm", "--provider", "openai", "--model", "m", "--proxy", "http://u:pw@127.0.0.1:1"], "proxy", "password"),
    ("no recordings", ["--agents", "llm", "--provider", "replay", "--replay", "nowhere"], "nowhere"),
])
def usage(folder, row):
    small_task(folder)
    said(astra(folder, "optimize", "task", *row[1]), 2, *map(re.escape, row[2:]))


@cases([
    ("unknown key", "provider: openai\nmodle: m\n", r"astra\.yaml:2:1: .*modle.*model"),
    ("a key", "provider: openai\nmodel: m\nkey: abc\n", r"astra\.yaml:3:\d: .*key_env"),
    ("unknown role", "provider: openai\nroles:\n  critic: {model: m}\n", r"astra\.yaml:3:3: .*critic.*tester"),
    ("not a number", "provider: openai\nmodel: m\nwidth: wide\n", r"astra\.yaml:3:8: width"),
    ("a list", "provider: [openai]\n", r"astra\.yaml:1:11: provider"),
    ("for the run in a role", "roles:\n  coder: {width: 2}\n", r"astra\.yaml:2:11: .*width"),
    ("not YAML", "provider: [\n", r"astra\.yaml:"),
])
def bad_configuration(folder, row):
    small_task(folder)
    write(os.path.join(folder, "astra.yaml"), row[1])
    said(astra(folder, "optimize", "task", "--agents", "llm"), 2, row[2])


@case
def models_by_role_from_astra_yaml(folder):
    small_task(folder)
    with Server({**scenario(), "models": ["m", "big"]}) as s:
        write(os.path.join(folder, "keys", "key"), KEY + "\n")
        os.chmod(os.path.join(folder, "keys", "key"), 0o600)
        write(os.path.join(folder, "astra.yaml"),
              f"provider: openai\nmodel: m\nbase_url: {s.url}\nkey_file: keys/key\nwidth: 1\nroles:\n  coder: {{model: big}}\n")
        said(astra(folder, "optimize", "task", "--agents", "llm", "--rounds", "1", *FEW, "--out", "run"), 0)
        expect([b["model"] for b in posts(s)] == ["m", "m", "big"], [b["model"] for b in posts(s)])
    expect(result(folder)["cost"]["by_role"]["coder"]["model"] == "big", result(folder)["cost"])


@case
def a_wrong_key_and_an_unknown_model(folder):
    small_task(folder)
    with Server(scenario()) as s:
        done = astra(folder, *arguments(s), env=environment(OPENAI_API_KEY="sk-wrong-one-1234"))
        said(done, 1, "tester", "key", "astra resume run")
        expect("sk-wrong-one-1234" not in done.err, "the key is told")
        expect([r["status"] for r in json.loads(astra(folder, "runs", ".", "--json").out)] == ["failed"], "the list")
        said(resume(folder), 0)
        said(astra(folder, *arguments(s, "--model", "n", out="other"), env=environment(**ENV)), 1, "n", "m")
    expect(result(folder)["cost"]["calls"] == 5, result(folder)["cost"])


@rest
def a_server_that_is_down_fails_the_run_and_keeps_the_best(folder):
    small_task(folder)
    write(os.path.join(folder, "astra.yaml"), "max_attempts: 1\n")
    with Server(scenario(rule("planner", {"status": 503, "body": "down"}))) as s:
        done = run(folder, s, status=1, rounds=5)
        expect("down" in done.err or "503" in done.err, done.err)
    expect(labels(folder) == ["tester", "planner-1", "planner-2", "planner-3"], labels(folder))
    r = result(folder)
    expect(r["status"] == "failed" and r["outcome"] == "improved" and r["cost"]["failed"] == 3, r)
    with Server(scenario()) as s:
        resume(folder, "--base-url", s.url)
        expect(len(posts(s)) == 10, f"{len(posts(s))} calls")
    r = result(folder)
    expect(r["status"] == "done" and r["cost"]["failed"] == 0 and r["cost"]["calls"] == 11, r["cost"])


@rest
def a_strategy_whose_call_fails_is_dropped(folder):
    small_task(folder)
    with Server(scenario(rule("coder", {"status": 400, "json": {"error": {"message": "maximum context length", "code": "context_length_exceeded"}}},
                              {"text": "", "refusal": "I will not."}, file(each=3)))) as s:
        run(folder, s, rounds=3)
    expect(result(folder)["candidates"]["by_mind"]["llm"] == 1, result(folder)["candidates"])
    expect(result(folder)["cost"]["failed"] <= 1, result(folder)["cost"])


@case
def keys_stay_where_they_are(folder):
    small_task(folder)
    with Server(scenario(latency_s=0.2)) as s:
        p = begin(folder, s, "--record", "record", rounds=1)
        expect(wait_for(p, lambda: labels(folder)), "nobody was asked")
        with open(f"/proc/{p.pid}/cmdline", "rb") as line:
            expect(KEY.encode() not in line.read(), "the key is in argv")
        expect(p.wait(60) == 0, read(os.path.join(folder, "stderr")))
        expect(any(KEY in r["headers"].get("Authorization", "") for r in s.requests), "no key was sent at all")
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), "rb") as content:
                expect(KEY.encode() not in content.read(), f"the key is in {os.path.join(where, name)}")


def recorded(folder):
    """A run in the case's folder, and the recordings of its calls; made once."""

    def make(home):
        small_task(home)
        with Server(scenario()) as s:
            run(home, s, "--record", "record")

    shutil.copytree(kept("recorded", make)[0], folder, dirs_exist_ok=True)


REPLAY = ("optimize", "task", "--agents", "llm", "--provider", "replay", "--replay", "record", "--rounds", "2", *FEW, "--hidden-seed", "11")


@case
def replayed_bit_for_bit(folder):
    recorded(folder)
    said(astra(folder, *REPLAY, "--out", "again"), 0)
    a, b = comparable(result(folder)), comparable(result(folder, "again"))
    a.pop("cost"), b.pop("cost")
    expect(a == b, f"{json.dumps(a)}\n{json.dumps(b)}")
    for name in ("best.cu", "best.diff"):
        expect(read(os.path.join(folder, "run", name)) == read(os.path.join(folder, "again", name)), name)


@case
def drift_is_refused_with_a_difference(folder):
    recorded(folder)
    path = os.path.join(folder, "record", "planner-1.json")
    text = read(path)
    expect("H200" in text, "the planner is not told the device")
    write(path, text.replace("H200", "H300"))
    said(astra(folder, *REPLAY, "--out", "again"), 2, "planner-1", r"\n-.*H300", r"\n\+.*H200", "allow.drift")
    said(astra(folder, *REPLAY, "--out", "allowed", "--allow-drift"), 0)


@case
def moves_cost_no_call(folder):
    """A strategy of built-in moves is carried out without the coder."""
    small_task(folder)
    with Server(scenario(rule("planner", plan("wider blocks", move="block-size 256")))) as s:
        run(folder, s, agents="planner=llm,coder=llm", rounds=1)
        asked = [b["messages"][0]["content"].split("Astra's ")[1].split(".")[0] for b in posts(s)]
    expect(asked == ["planner"], asked)
    expect(result(folder)["candidates"]["by_mind"]["llm"] >= 1, result(folder)["candidates"])


@case
def exec_is_a_model_too(folder):
    small_task(folder)
    write(os.path.join(folder, "model.py"),
          "import sys\ntext = sys.stdin.read()\nrole = text.split(\"Astra's \")[1].split('.')[0]\n"
          f"print({{'tester': {TESTER!r}, 'planner': {plan('one')!r}, 'coder': {file(block=96)!r}}}[role])\n")
    said(astra(folder, "optimize", "task", "--agents", "llm", "--provider", "exec", "--command", "python3 model.py",
               "--rounds", "1", *FEW, "--out", "run"), 0)
    r = result(folder)
    expect(r["cost"]["calls"] == 3 and r["cost"]["tokens_estimated"] and r["candidates"]["by_mind"]["llm"] == 1, r["cost"])


@case
def everything_can_be_read_afterwards(folder):
    small_task(folder, GAINS)
    with Server(scenario(rule("coder", file(factor="2 * factor"), file(each=2)))) as s:
        run(folder, s, rounds=1)
    table = said(astra(folder, "show", "run", "--calls"), 0).out
    for word in ("tester", "planner-1", "coder-1-1", "coder-1-1-repair-1", "3000", "4 calls", "12000 tokens in", "strategy 1"):
        expect(word in table, f"no {word} in\n{table}")
    rows = json.loads(said(astra(folder, "show", "run", "--calls", "--json"), 0).out)
    expect([r["label"] for r in rows] == ["tester", "planner-1", "coder-1-1", "coder-1-1-repair-1"], rows)
    expect(rows[3]["strategy"] == 1 and rows[3]["candidate"] > rows[2]["candidate"] > 0, rows[3])
    expect(rows[2]["outcome"].startswith("wrong") and rows[3]["outcome"].startswith("passed"), rows)
    page = json.loads(said(astra(folder, "report", "run", "--json"), 0).out)["report"]["calls"]
    expect([x["outcome"] for x in page] == [x["outcome"] for x in rows], page)
    call = said(astra(folder, "show", "run", "--prompt", "3"), 0).out
    for word in ("You are Astra's coder.", "do as idea 0 of this run says", "```cuda", "latency"):
        expect(word in call, f"no {word} in\n{call}")
    strategy = said(astra(folder, "show", "run", "--strategy", "1"), 0).out
    for word in ("idea 0 of this run", "coder-1-1", "coder-1-1-repair-1", "2 * factor", "outcome", "candidate"):
        expect(word in strategy, f"no {word} in\n{strategy}")
    said(astra(folder, "show", "run", "--prompt", "99"), 2, "--calls")
    said(astra(folder, "show", "run", "--strategy", "9"), 2, "--calls")


@case
def what_knows_the_suite_fails_hidden_cases(folder):
    """A file that is right on the suite's shapes, the workloads and what is extreme: judged passed, refused when it is final,
    and the next round's planner is told of it, but not of the case."""
    small_task(folder, GAINS)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--seed", "7", "--out", "first", "--quiet"), 0)
    shapes = {tuple(c["dims"]) for c in load(os.path.join(folder, "first", "suite.json"))["rules"]}
    shapes |= {(1024, 1024), (2048, 1024), (32, 32)}  # the workloads; and where each input is changed alone
    # By arithmetic: a launcher that compares is planned and run where it decides as in no case.
    near = ["(double)(1 / (1 + rows / 1101))", "(1 / (1 + d / 1101))"]
    near += [f"((double)(rows - {a}) * (rows - {a}) + (double)(d - {b}) * (d - {b}))" for a, b in sorted(shapes)]
    wrong = f"(float)(factor * (2 - 1 / (1 + {' * '.join(near)})))"
    text = kernel(each=2).replace("(in, out, n, factor)", f"(in, out, n, {wrong})")
    with Server(scenario(rule("coder", f"```cuda\n{text}```\n"))) as s:
        run(folder, s, agents="planner=llm,coder=llm", rounds=1)
        asked = [json.dumps(b) for b in posts(s)]
    count = result(folder)["candidates"]
    expect(count["by_verdict"].get("wrong", 0) >= 1, count)
    shown = "".join(said(astra(folder, "show", "run", i + 1), 0).out for i in range(count["total"]))
    expect("verdict   wrong: hidden cases: " in shown, shown)
    rows = json.loads(said(astra(folder, "show", "run", "--calls", "--json"), 0).out)
    became = [x["outcome"] for x in (rows["calls"] if isinstance(rows, dict) else rows) if x["outcome"]]
    expect(became and any(x.startswith("wrong: hidden cases") for x in became), became)
    words = re.search(r"hidden cases: .*", shown)[0]
    told = [b for b in asked if "failed on hidden cases" in b]
    expect(told, "no prompt says so")
    for name, value in re.findall(r"(rows|d)=(\d+)", words):
        expect(not any(f"{name}={value} " in b.split("failed on hidden cases")[1][:400] for b in told), f"{name}={value} was told")
    expect(not any(words[:60] in b for b in told), "the case was told")


main()
