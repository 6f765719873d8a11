#!/usr/bin/env python3
"""The providers against a server that misbehaves (server.py), commands and recordings: run.py ASK [CASE]...

Every case that goes over HTTP carries a key, and wherever the program wrote anything, the key must not be there.
"""

import email.utils
import glob
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
# pylint: disable=wrong-import-position
from harness import ASTRA as ASK, case, cases, environment, expect, load, main, read, skip, write
from server import Server

KEY = "sk-test-7f3a90c1d2e4b5"
TEXT = "Vectorise it:\n```cuda\n__global__ void k(float *x) { x[0] = 1; } // \u00e9\u4e16\n```\nDone.\n"
WIRES = ["openai", "anthropic"]
FORMS = [(w, s) for w in WIRES for s in (True, False)]
NAMES = [f"{w}-{'stream' if s else 'whole'}" for w, s in FORMS]
ASAN = b"__asan_init" in open(ASK, "rb").read()


def call(label="planner-1", role=None, text="Plan.", **more):
    role = role or label.split("-")[0]
    return {"role": role, "label": label, "system": f"You are Astra's {role}.\nBe brief.", "messages": [{"text": text}], **more}


def ask(folder, config, calls=None, alarm=None, env=None, timeout=60, **more):
    """Runs ask; gives the replies by id, the errors, and the line of the end. The key may be nowhere."""
    path = write(os.path.join(folder, "ask.json"), json.dumps({
        "config": {"retry_s": 0.02, "first_byte_s": 10, "silence_s": 10, "connect_s": 5, **config},
        "trace": os.path.join(folder, "trace"), "calls": calls or [call()], **more}))
    command = [ASK, path] + ([str(alarm)] if alarm else [])
    done = subprocess.run(command, env=env or environment(TEST_KEY=KEY, OPENAI_API_KEY=None, ANTHROPIC_API_KEY=None),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    out, err = done.stdout.decode(), done.stderr.decode("utf-8", "replace")
    expect(done.returncode in (0, 1) and "Sanitizer" not in err, f"status {done.returncode}\n{out[-2000:]}\n{err[-3000:]}")
    for name in [n for n in glob.glob(os.path.join(folder, "**"), recursive=True) if os.path.isfile(n)]:
        expect(name.endswith(".key") or KEY not in read(name), f"the key is in {name}")
    expect(KEY not in out + err, f"the key was printed:\n{out}\n{err}")
    lines = [json.loads(line) for line in out.splitlines()]
    replies = {o["id"]: o for o in lines if "id" in o and "error" not in o}
    return replies, [o for o in lines if "error" in o], lines[-1]


def config_of(server, wire="openai", **more):
    return {"provider": wire, "model": "m", "base_url": server.url, "key_env": "TEST_KEY", **more}


def one(folder, reply, wire="openai", scenario=None, **config):
    """One call, answered by this reply or these replies in turn."""
    replies = reply if isinstance(reply, list) else [reply]
    with Server({"key": KEY, "rules": [{"replies": replies}], **(scenario or {})}) as s:
        got, errors, end = ask(folder, config_of(s, wire, **config))
        expect(len(got) == 1 and not errors and end["busy"] == 0, f"{got} {errors} {end}")
        return got[0], s.requests, end


def ends(r, end, attempts=None, words="", text=None, fatal=False):
    expect(r["end"] == end, f"{end} expected: {r}")
    expect(attempts is None or r["attempts"] == attempts, f"{attempts} attempts expected: {r}")
    expect(re.search(words, r["words"] or "", re.S), f"words like /{words}/ expected: {r}")
    expect((r["words"] is None) == (end == "done"), f"words belong to what is not done: {r}")
    expect(text is None or r["text"] == text, f"text {text!r} expected: {r['text']!r}")
    expect(r.get("fatal", False) == fatal, f"fatal {fatal} expected: {r}")


def reply_of(stream, **more):
    return {"text": TEXT, "stream": stream, **more}


# ---- replies that are as they should be ----


@cases(NAMES)
def good(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, requests, _ = one(folder, reply_of(stream, usage={"prompt_tokens": 1200, "completion_tokens": 300, "cached": 1000}), wire,
                         max_output_tokens=500, temperature=0.5)
    ends(r, "done", 1, text=TEXT)
    expect(r["usage"]["input"] == 1200 and r["usage"]["output"] == 300 and r["usage"]["cached"] == 1000, f"usage: {r}")
    expect(0 < r["first_byte_s"] <= r["wall_s"], f"{r}")
    expect(r["model"] == "m" and r["usd"] is None, f"model and price: {r}")
    body, headers = requests[0]["body"], {k.lower(): v for k, v in requests[0]["headers"].items()}
    expect(body["stream"] is True and body["max_tokens"] == 500 and body["temperature"] == 0.5, f"body: {body}")
    if wire == "openai":
        expect(headers["authorization"] == f"Bearer {KEY}", f"headers: {headers}")
        expect([m["role"] for m in body["messages"]] == ["system", "user"], f"messages: {body}")
        expect(body["stream_options"] == {"include_usage": True}, f"body: {body}")
    else:
        expect(headers["x-api-key"] == KEY and headers["anthropic-version"] == "2023-06-01", f"headers: {headers}")
        expect(body["system"][0]["cache_control"] == {"type": "ephemeral"}, f"no prompt caching: {body}")


@cases(NAMES)
def conversation(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    with Server({"rules": [{"replies": [reply_of(stream)]}]}) as s:
        turns = [{"text": "Code."}, {"from": "assistant", "text": "x"}, {"text": "It does not compile: \"\\ \u2192"}]
        got, _, _ = ask(folder, config_of(s, wire), [call("coder-1", messages=turns)])
        ends(got[0], "done", 1, text=TEXT)
        sent = [m for m in s.requests[0]["body"]["messages"] if m["role"] != "system"]
        expect([(m["role"], m["content"]) for m in sent] == [("user", "Code."), ("assistant", "x"), ("user", turns[2]["text"])], f"{sent}")


SHAPES = {
    "one_byte": {"one_byte": True},
    "gzip": {"gzip": True},
    "crlf": {"crlf": True},
    "parts": {"parts": True},
    "held_open": {"hold_s": 3},
    "wrong_type_json": {"content_type": "text/plain"},
    "wrong_type_stream": {"content_type": "application/octet-stream"},
    "reasoning": {"reasoning": "Let me think. " * 20},
    "think_tags": {"think_tags": "Let me think. " * 20},
    "tool_beside_text": {"tool": "search"},
    "pause": {"silence_s": 0.3},
}


@cases([f"{s}-{n}" for s in SHAPES for n in NAMES if s != "parts" or n.startswith("openai")])
def shape(folder, name):
    which, wire, form = name.split("-")
    start = time.time()
    r, _, _ = one(folder, reply_of(form == "stream", **SHAPES[which]), wire)
    ends(r, "done", 1, text=TEXT)
    if which in ("reasoning", "think_tags"):
        expect(60 <= r["usage"]["reasoning"] <= 90, f"reasoning is counted: {r}")
    expect(which != "held_open" or form != "stream" or time.time() - start < 2.5, "it waits although all is said")


@cases(NAMES)
def invalid_utf8(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, _, _ = one(folder, reply_of(stream, text="a UTF8 b", piece=100, invalid_utf8=True), wire)
    ends(r, "done", 1, text="a \ufffd\ufffd b")


@cases(WIRES)
def no_end_mark(folder, wire):
    """A stream that says why it ended, and then ends without the last event, is whole."""
    r, _, _ = one(folder, reply_of(True, no_done=True), wire)
    ends(r, "done", 1, text=TEXT)


@cases(NAMES)
def cut_at_limit(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, _, _ = one(folder, reply_of(stream, finish="length"), wire)
    ends(r, "cut", 1, "limit of output", TEXT)


@case
def cut_in_thought(folder):
    r, _, _ = one(folder, {"text": "", "finish": "length", "reasoning": "Hmm. " * 9})
    ends(r, "cut", 1, "reasoning", "")


@cases(NAMES)
def refused(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, _, _ = one(folder, {"refusal": "I cannot help with kernels.", "stream": stream}, wire)
    ends(r, "refused", 1, "refused", "I cannot help with kernels.")


@case
def filtered(folder):
    r, _, _ = one(folder, {"status": 400, "json": {"error": {"message": "The response was filtered", "code": "content_filter"}}})
    ends(r, "refused", 1, "filter")


# ---- replies that are not ----

BAD = {  # what the server does, the end, attempts of at most 3, words
    "empty": ({"empty": True}, "failed", 2, "empty"),
    "no_choice": ({"no_choice": True}, "failed", None, "no message|broke off|empty"),
    "tool": ({"text": "", "tool": "read_file"}, "failed", 2, "tool.*read_file"),
    "cut": ({"cut": 40}, "failed", 3, "broke off"),
    "invalid_json": ({"invalid_json": True}, "failed", 3, "JSON|broke off"),
    "drop": ({"drop": True}, "failed", 3, "broke"),
    "html": ({"status": 200, "body": "<html>Sign in</html>", "content_type": "text/html"}, "failed", 1, "web page.*base URL"),
    "not_json": ({"status": 200, "body": "OK"}, "failed", 3, "no JSON.*OK"),
    "401": ({"status": 401, "json": {"error": {"message": f"bad key {KEY}"}}}, "failed", 1, r"TEST_KEY is not accepted"),
    "403": ({"status": 403, "json": {"error": {"message": "no access"}}}, "failed", 1, "no access"),
    "400": ({"status": 400, "json": {"error": {"message": "messages: too few"}}}, "failed", 1, "messages: too few"),
    "404": ({"status": 404, "json": {"detail": "Not Found"}}, "failed", 1, "no API at .*/v1"),
    "402": ({"status": 402, "json": {"error": {"message": "no money"}}}, "failed", 1, "no money"),
    "quota": ({"status": 429, "json": {"error": {"message": "You exceeded", "code": "insufficient_quota"}}}, "failed", 1, "paid"),
    "too_long": ({"status": 400, "json": {"error": {"message": "maximum context length is 8", "code": "context_length_exceeded"}}},
                 "failed", 1, "context length"),
    "429": ({"status": 429, "json": {"error": {"message": "slow down"}}}, "failed", 3, "too often.*slow down.*3 times"),
    "500": ({"status": 500, "body": "<html>oops</html>"}, "failed", 3, r"HTTP 500\) \("),
    "529": ({"status": 529, "json": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}}, "failed", 3, "Overloaded"),
    "long_wait": ({"status": 429, "headers": {"Retry-After": "4000"}}, "failed", 1, "4000 s"),
}
FATAL = ("html", "401", "403", "400", "404", "402", "quota")


@cases([f"{b}-{n}" for b in BAD for n in NAMES if "status" not in BAD[b][0] or n.endswith("stream")])
def bad(folder, name):
    which, wire, form = name.split("-")
    reply, end, attempts, words = BAD[which]
    r, requests, _ = one(folder, reply_of(form == "stream", **reply), wire, max_attempts=3)
    ends(r, end, attempts, words, "", fatal=which in FATAL)
    expect(len(requests) == r["attempts"], f"{len(requests)} requests")
    if which in ("empty", "tool"):
        expect(r["usage"]["input"] == 200 and r["usage"]["output"] == 40, f"both tries were paid for: {r}")


TRANSIENT = {
    "408": {"status": 408}, "409": {"status": 409}, "425": {"status": 425}, "429": {"status": 429}, "500": {"status": 500},
    "503": {"status": 503}, "529": {"status": 529}, "drop": {"drop": True}, "cut": reply_of(True, cut=40),
    "error_event": reply_of(True, error_event={"type": "overloaded_error", "message": "Overloaded"}),
}


@cases([f"{t}-{w}" for t in TRANSIENT for w in WIRES])
def again(folder, name):
    """What passes is tried again; nothing of the broken reply is in the good one."""
    which, wire = name.split("-")
    r, requests, _ = one(folder, [TRANSIENT[which], TRANSIENT[which], TEXT], wire)
    ends(r, "done", 3, text=TEXT)
    expect(len(requests) == 3, f"{len(requests)} requests")


@cases(["seconds", "date", "ms"])
def retry_after(folder, form):
    date = email.utils.formatdate(time.time() + 2.0, usegmt=True)
    headers = {"seconds": {"Retry-After": "1"}, "date": {"Retry-After": date}, "ms": {"retry-after-ms": "400"}}[form]
    r, requests, _ = one(folder, [{"status": 429, "headers": headers}, TEXT])
    ends(r, "done", 2, text=TEXT)
    waited = requests[1]["t"] - requests[0]["t"]
    expect(waited >= {"seconds": 1, "date": 0.9, "ms": 0.4}[form], f"waited {waited} s")


@case
def words_are_tidy(folder):
    """What a server says does not steer the terminal, and is cut between characters."""
    message = "\x1b[31mred\r\n" + "\u00e9" * 400
    r, _, _ = one(folder, {"status": 400, "json": {"error": {"message": message}}})
    ends(r, "failed", 1, "red  \u00e9\u00e9", fatal=True)
    expect(not re.search(r"[\x00-\x1f\x7f]", r["words"]) and "?" not in r["words"], f"{r}")


@cases(NAMES)
def too_big(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, _, end = one(folder, {"big": 50 << 20, "stream": stream}, wire)
    ends(r, "failed", 1, "longer than 16 MB", "")
    expect(ASAN or end["peak_kb"] < 100 << 10, f"{end['peak_kb']} kB of memory")


@cases(NAMES)
def bomb(folder, name):
    """50 MB that fit into 50 kB on the wire."""
    wire, stream = FORMS[NAMES.index(name)]
    r, _, end = one(folder, {"big": 50 << 20, "stream": stream, "gzip": True}, wire)
    ends(r, "failed", 1, "longer than 16 MB", "")
    expect(ASAN or end["peak_kb"] < 100 << 10, f"{end['peak_kb']} kB of memory")


# ---- time ----


@cases(NAMES)
def slow_first_byte(folder, name):
    wire, stream = FORMS[NAMES.index(name)]
    r, _, _ = one(folder, reply_of(stream, first_s=2), wire, first_byte_s=0.3)
    ends(r, "failed", 2, "said nothing within 0.3 s", "")


@cases(WIRES)
def slow_but_in_time(folder, wire):
    r, _, _ = one(folder, reply_of(True, first_s=0.6), wire, first_byte_s=5, silence_s=0.2)
    ends(r, "done", 1, text=TEXT)
    expect(r["first_byte_s"] >= 0.6, f"{r['first_byte_s']}")


@cases(WIRES)
def silence(folder, wire):
    r, _, _ = one(folder, reply_of(True, silence_s=2), wire, silence_s=0.3)
    ends(r, "failed", 2, "silent for 0.3 s", "")


@case
def held_open_whole(folder):
    """All was said, the mark of the end is missing and the connection stays: done when silence ends it."""
    r, _, _ = one(folder, reply_of(True, no_done=True, hold_s=4), silence_s=0.3)
    ends(r, "done", 1, text=TEXT)


@case
def nobody_there(folder):
    with socket.socket() as s:  # bound, not listening
        s.bind(("127.0.0.1", 0))
        got, _, _ = ask(folder, {"provider": "openai", "model": "m", "base_url": f"http://127.0.0.1:{s.getsockname()[1]}/v1"})
        once, _, _ = ask(folder, {"provider": "openai", "model": "m", "max_attempts": 1,
                                  "base_url": f"http://127.0.0.1:{s.getsockname()[1]}/v1"})
    ends(got[0], "failed", 3, "cannot reach 127.0.0.1", fatal=True)
    ends(once[0], "failed", 1, "cannot reach 127.0.0.1", fatal=True)


@case
def deaf(folder):
    """It takes the connection and says nothing, ever."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(8)
        got, _, _ = ask(folder, {"provider": "openai", "model": "m", "first_byte_s": 0.3, "max_attempts": 1,
                                 "base_url": f"http://127.0.0.1:{s.getsockname()[1]}/v1"})
    ends(got[0], "failed", 1, "said nothing")


@cases(["waiting", "reading", "pausing", "exec"])
def interrupted(folder, when):
    """A signal ends the collecting at once, and what was under way is let go."""
    reply = {"waiting": reply_of(True, first_s=20), "reading": reply_of(True, silence_s=20), "exec": TEXT,
             "pausing": {"status": 429, "headers": {"Retry-After": "20"}}}[when]
    with Server({"rules": [{"replies": [reply]}]}) as s:
        config = {"provider": "exec", "command": "sleep 20"} if when == "exec" else config_of(s)
        start = time.time()
        got, errors, end = ask(folder, config, alarm=0.5)
    expect(not got and not errors and end["rang"] and end["busy"] == 1, f"{got} {errors} {end}")
    expect(time.time() - start < 8, "it did not end at once")


# ---- several at once ----


@cases(WIRES)
def together(folder, wire):
    """Eight calls in one thread: as long as one takes, not eight; each gets its own reply."""
    rules = [{"match": {"contains": f"number {i}."}, "replies": [{"text": f"reply {i}", "first_s": 1.0}]} for i in range(8)]
    with Server({"rules": rules}) as s:
        start = time.time()
        got, _, end = ask(folder, config_of(s, wire, record_dir=os.path.join(folder, "rec")),
                          [call(f"coder-{i}", text=f"number {i}.") for i in range(8)])
        took = time.time() - start
    expect([got[i]["text"] for i in range(8)] == [f"reply {i}" for i in range(8)], f"{got}")
    expect(took < 5, f"{took} s: one after the other")
    expect(end["calls"] == 8 and end["input"] == 800 and end["output"] == 160, f"{end}")
    expect(len(os.listdir(os.path.join(folder, "rec"))) == 8, "eight recordings")


# ---- parameters ----


@cases(["temperature", "max_tokens", "reasoning_effort", "stream_options", "stream"])
def parameter_refused(folder, name):
    """The server names it; the request goes out once more without it, and the next one does not try it again."""
    with Server({"rules": [{"replies": [{"text": TEXT, "refuse": [name]}]}]}) as s:
        config = config_of(s, temperature=0.7, max_output_tokens=900, effort="low")
        got, _, _ = ask(folder, config)
        ends(got[0], "done", 2, text=TEXT)
        first, second = (r["body"] for r in s.requests)
        expect(name in first and name not in second, f"{first} {second}")
        expect(name != "max_tokens" or second["max_completion_tokens"] == 900, f"{second}")


@case
def temperature_zero(folder):
    _, requests, _ = one(folder, TEXT, temperature=0)
    expect(requests[0]["body"]["temperature"] == 0, f"{requests[0]['body']}")
    _, requests, _ = one(folder, TEXT)
    expect("temperature" not in requests[0]["body"], f"{requests[0]['body']}")


@case
def parameters_refused_both(folder):
    r, requests, _ = one(folder, {"text": TEXT, "refuse": ["max_tokens", "max_completion_tokens", "temperature"]}, max_output_tokens=9,
                         temperature=1)
    ends(r, "done", 4, text=TEXT)
    expect(not {"max_tokens", "max_completion_tokens", "temperature"} & set(requests[-1]["body"]), f"{requests[-1]['body']}")


@cases(["o4-mini", "gpt-5.1", "openai/gpt-5", "gpt-4.1", "llama-4"])
def reasoning_models(folder, model):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        ask(folder, config_of(s, model=model, temperature=0.7, max_output_tokens=900, effort="high"))
        body = s.requests[0]["body"]
    reasons = "4.1" not in model and "llama" not in model
    expect(("temperature" in body) != reasons and ("max_completion_tokens" in body) == reasons, f"{body}")
    expect(body["reasoning_effort"] == "high", f"{body}")


@case
def effort_of_older_models(folder):
    """First an effort, then a budget of thinking, then neither."""
    r, requests, _ = one(folder, {"text": TEXT, "refuse": ["output_config", "thinking"]}, "anthropic", effort="low", temperature=1)
    ends(r, "done", 3, text=TEXT)
    bodies = [q["body"] for q in requests]
    expect(bodies[0]["output_config"] == {"effort": "low"} and bodies[0]["thinking"] == {"type": "adaptive"}, f"{bodies[0]}")
    expect(bodies[1]["thinking"]["type"] == "enabled" and bodies[1]["max_tokens"] > bodies[1]["thinking"]["budget_tokens"], f"{bodies[1]}")
    expect("thinking" not in bodies[2] and bodies[2]["temperature"] == 1, f"{bodies[2]}")


@case
def limit_told(folder):
    """A model that allows less output than was asked for says how much."""
    message = "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for m"
    told = {"status": 400, "json": {"type": "error", "error": {"type": "invalid_request_error", "message": message}}}
    r, requests, _ = one(folder, [told, TEXT], "anthropic")
    ends(r, "done", 2, text=TEXT)
    expect(requests[1]["body"]["max_tokens"] == 4096, f"{requests[1]['body']}")


# ---- addresses, models, keys ----


@cases(WIRES)
def unknown_model(folder, wire):
    r, _, _ = one(folder, TEXT, wire, scenario={"models": ["alpha", "beta"]}, model="gamma")
    ends(r, "failed", 1, "gamma.*it has alpha, beta", fatal=True)


@cases(["", "/", "/chat/completions"])
def base_url_forms(folder, tail):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        got, _, _ = ask(folder, config_of(s, base_url=s.url + tail))
        ends(got[0], "done", 1, text=TEXT)
        expect(s.requests[0]["path"] == "/v1/chat/completions", s.requests[0]["path"])


@cases(["", "/v1", "/v1/", "/v1/messages"])
def base_url_forms_anthropic(folder, tail):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        got, _, _ = ask(folder, config_of(s, "anthropic", base_url=s.url.removesuffix("/v1") + tail))
        ends(got[0], "done", 1, text=TEXT)
        expect(s.requests[0]["path"] == "/v1/messages", s.requests[0]["path"])


@case
def base_url_query(folder):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        got, _, _ = ask(folder, config_of(s, base_url=s.url + "?api-version=1"))
        ends(got[0], "done", 1, text=TEXT)
        expect(s.requests[0]["path"] == "/v1/chat/completions?api-version=1", s.requests[0]["path"])


@case
def query_is_not_shown(folder):
    with Server({}) as s:
        got, _, _ = ask(folder, config_of(s, base_url=s.url + "/nothing/here?token=hush-hush"))
        ends(got[0], "failed", 1, fatal=True)
        expect("hush" not in json.dumps(got), f"{got}")


@case
def redirect(folder):
    with Server({"rules": [{"replies": [TEXT]}]}) as other:
        target = other.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        r, requests, _ = one(folder, {"redirect": target})
        ends(r, "failed", 1, "redirects to http://localhost:.*another host", fatal=True)
        expect(len(requests) == 1 and not other.requests, "the redirect was followed")


@case
def wrong_key(folder):
    """A careless server repeats the key; nobody else does."""
    with Server({"key": "another"}) as s:
        got, _, _ = ask(folder, config_of(s, record_dir=os.path.join(folder, "rec")))
        ends(got[0], "failed", 1, r"Incorrect API key provided: \[key\].*TEST_KEY", fatal=True)
        expect(KEY in json.dumps(s.requests), "the key was never sent")


@case
def echoed_key(folder):
    r, _, _ = one(folder, f"Your key is {KEY}, is it not?", record_dir=os.path.join(folder, "rec"))
    ends(r, "done", 1, text="Your key is [key], is it not?")


@case
def no_key_needed(folder):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        got, _, _ = ask(folder, {"provider": "openai", "model": "m", "base_url": s.url})
        ends(got[0], "done", 1, text=TEXT)
        expect("Authorization" not in s.requests[0]["headers"], f"{s.requests[0]['headers']}")


@case
def no_key_given(folder):
    with Server({"key": KEY}) as s:
        got, _, _ = ask(folder, {"provider": "openai", "model": "m", "base_url": s.url})
        ends(got[0], "failed", 1, "wants a key: set OPENAI_API_KEY", fatal=True)


def refusal(folder, config, *patterns, env=None):
    got, errors, _ = ask(folder, config, env=env)
    expect(not got and len(errors) == 1, f"{got} {errors}")
    for pattern in patterns:
        expect(re.search(pattern, errors[0]["error"], re.S), f"/{pattern}/ expected: {errors}")
    return errors[0]


@case
def key_files(folder):
    path = write(os.path.join(folder, "a.key"), KEY + "\n")
    os.chmod(path, 0o640)
    with Server({"key": KEY, "rules": [{"replies": [TEXT]}]}) as s:
        config = {"provider": "openai", "model": "m", "base_url": s.url, "key_file": path}
        refusal(folder, config, "read by others: chmod 600")
        os.chmod(path, 0o600)
        got, _, _ = ask(folder, config)
        ends(got[0], "done", 1, text=TEXT)
        refusal(folder, {**config, "key_file": path + "x"}, "cannot read the key file")
        os.chmod(write(os.path.join(folder, "b.key"), "two words\n"), 0o600)
        refusal(folder, {**config, "key_file": os.path.join(folder, "b.key")}, "holds no key")


CONFIGS = {
    "provider": ({"provider": "opnai", "model": "m"}, "no provider 'opnai'; did you mean openai.*openai, anthropic, exec, replay"),
    "no_provider": ({"model": "m"}, "openai, anthropic, exec, replay"),
    "model": ({"provider": "openai"}, "needs a model"),
    "key": ({"provider": "anthropic", "model": "m"}, "set ANTHROPIC_API_KEY"),
    "key_env": ({"provider": "openai", "model": "m", "key_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE, named for the key, is not set"),
    "url": ({"provider": "openai", "model": "m", "base_url": "localhost:8000"}, "looks like http://"),
    "url_user": ({"provider": "openai", "model": "m", "base_url": "http://u:p@localhost/v1"}, "without a user"),
    "effort": ({"provider": "openai", "model": "m", "base_url": "http://localhost/v1", "effort": "huge"}, "low, medium, high"),
    "ca": ({"provider": "openai", "model": "m", "base_url": "http://localhost/v1", "ca_file": "/nowhere"}, "/nowhere"),
    "temperature": ({"provider": "openai", "model": "m", "temperature": 7}, "temperature is 7"),
    "exec": ({"provider": "exec"}, "needs a command"),
    "replay": ({"provider": "replay"}, "folder of the recordings"),
    "replay_dir": ({"provider": "replay", "replay_dir": "/nowhere"}, "no folder /nowhere"),
}


@cases(list(CONFIGS))
def config_refused(folder, name):
    config, pattern = CONFIGS[name]
    refusal(folder, config, pattern)


@case
def usual_key_in_clear(folder):
    """The key of the provider's own variable goes to loopback or over TLS, not in clear text to another machine."""
    env = environment(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=None)
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        config = {"provider": "openai", "model": "m", "base_url": s.url}
        ask(folder, config, env=env)
        # The same server by another name, through a proxy that goes there whatever the host.
        ask(folder, {**config, "base_url": "http://model.example/v1", "proxy": s.url.removesuffix("/v1")}, env=env)
        keys = [r["headers"].get("Authorization") for r in s.requests]
        expect(keys == [f"Bearer {KEY}", None], f"{keys}")


@case
def proxies(folder):
    """One of the configuration, one of the environment, and none for loopback."""
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        proxy = s.url.removesuffix("/v1")
        config = {"provider": "openai", "model": "m", "base_url": "http://model.example/v1"}
        ask(folder, {**config, "proxy": proxy})
        ask(folder, config, env=environment(http_proxy=proxy, no_proxy=None, NO_PROXY=None))
        ask(folder, {**config, "base_url": s.url}, env=environment(http_proxy="http://127.0.0.1:1"))
        paths = [r["path"] for r in s.requests]
    expect(paths == ["http://model.example/v1/chat/completions"] * 2 + ["/v1/chat/completions"], f"{paths}")


@case
def own_ca(folder):
    """TLS: refused without the certificate's authority, fine with it."""
    pem = os.path.join(folder, "ca.pem")
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                           "-addext", "subjectAltName=DNS:localhost", "-keyout", pem + ".private", "-out", pem],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if made.returncode:
        skip("no openssl to make a certificate with")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, pem + ".private")
    server = Server({"key": KEY, "rules": [{"replies": [TEXT]}]})
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with server as s:
        config = config_of(s, base_url=f"https://localhost:{s.port}/v1")
        got, _, _ = ask(folder, config)
        ends(got[0], "failed", 1, "cannot trust localhost.*--ca-file", fatal=True)
        expect(not s.requests, "a request went to a server that is not trusted")
        got, _, _ = ask(folder, {**config, "ca_file": pem})
        ends(got[0], "done", 1, text=TEXT)


@case
def prices(folder):
    usage = {"prompt_tokens": 1000000, "completion_tokens": 100000, "cached": 400000}
    path = write(os.path.join(folder, "prices.yaml"),
                 "date: 2031-01-02\nmodels:\n  my-model: {input: 1.5, cached: 0.5, output: 10}\n  gpt-4.1: {input: 1, output: 1}\n")
    for model, want, file in (("gpt-4.1-2025-04-14", 0.6 * 2 + 0.4 * 0.5 + 0.1 * 8, None), ("my-model", None, None),
                              ("lab/my-model", 0.6 * 1.5 + 0.4 * 0.5 + 1, path), ("gpt-4.1", 1.1, path)):
        with Server({"rules": [{"replies": [{"text": TEXT, "usage": usage}]}]}) as s:
            got, _, _ = ask(folder, config_of(s, model=model), **({"prices": file} if file else {}))
            expect(got[0]["usd"] == want or abs(got[0]["usd"] - want) < 1e-9, f"{model}: {want} expected: {got[0]}")
    write(path, "date: 2031-01-02\nmodels:\n  my-model: {inpt: 1.5}\n")
    _, errors, _ = ask(folder, {"provider": "exec", "command": "true"}, prices=path)
    expect(errors and "input, cached" in errors[0]["error"] and errors[0]["file"] == path, f"{errors}")


@case
def written_to_cache(folder):
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "cached": 300, "written": 500}
    r, _, _ = one(folder, {"text": TEXT, "usage": usage}, "anthropic", model="claude-haiku-4-5")
    expect((r["usage"]["input"], r["usage"]["cached"], r["usage"]["cache_written"]) == (1000, 300, 500), f"{r}")
    expect(abs(r["usd"] * 1e6 - (200 * 1 + 300 * 0.1 + 500 * 1.25 + 100 * 5)) < 1e-6, f"{r}")


# ---- commands ----


def run_exec(folder, command, end, attempts, words="", text=None, fatal=False, **config):
    got, errors, last = ask(folder, {"provider": "exec", "command": command, **config})
    expect(len(got) == 1 and not errors and not last["busy"], f"{got} {errors} {last}")
    ends(got[0], end, attempts, words, text, fatal)
    return got[0]


@case
def exec_ok(folder):
    run_exec(folder, "cat; echo noise >&2", "done", 1, text="You are Astra's planner.\nBe brief.\n\nPlan.\n")


@case
def exec_conversation(folder):
    turns = [{"text": "Code."}, {"from": "assistant", "text": "x"}, {"text": "Wrong."}]
    got, _, _ = ask(folder, {"provider": "exec", "command": "cat"}, [call("coder-1", messages=turns)])
    expect(got[0]["text"].endswith("## You are asked\n\nCode.\n\n## You answered\n\nx\n\n## You are told\n\nWrong.\n"), f"{got}")


@case
def exec_unread(folder):
    """A command that reads nothing of a long prompt."""
    got, _, _ = ask(folder, {"provider": "exec", "command": "echo answer"}, [call(text="x" * 3000000)])
    ends(got[0], "done", 1, text="answer\n")


@case
def exec_environment(folder):
    got, _, _ = ask(folder, {"provider": "exec", "model": "big", "command": "echo $ASTRA_ROLE $ASTRA_LABEL $ASTRA_MODEL"})
    ends(got[0], "done", 1, text="planner planner-1 big\n")


@case
def exec_fails(folder):
    run_exec(folder, "echo no licence >&2; exit 3", "failed", 2, "status 3: no licence")


@case
def exec_missing(folder):
    run_exec(folder, "no-such-agent-anywhere", "failed", 1, "cannot be run.*not found", fatal=True)


@case
def exec_slow(folder):
    run_exec(folder, "echo thinking >&2; sleep 30", "failed", 2, "said nothing within 0.2 s: thinking", first_byte_s=0.2)


@case
def exec_silent(folder):
    run_exec(folder, "echo begun; sleep 30", "failed", 2, "silent for 0.2 s", silence_s=0.2)


@case
def exec_empty(folder):
    run_exec(folder, "true", "failed", 2, "empty")


@case
def exec_loud(folder):
    run_exec(folder, "yes", "failed", 1, "more than 16 MB")


@case
def exec_loud_stderr(folder):
    run_exec(folder, "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1", "failed", 2, "status 1: .*xend")


@case
def exec_bytes(folder):
    run_exec(folder, "printf 'a\\377b\\000c'", "done", 1, text="a\ufffdb\ufffdc")


@case
def exec_killed(folder):
    run_exec(folder, "kill -9 $$", "failed", 2, "signal 9")


@cases([">/dev/null 2>&1", "", "2>/dev/null"])
def exec_leaves_children(folder, where):
    """What a command leaves behind does not hold up the reply, even with its stdout open, nor does it stay."""
    pid = os.path.join(folder, "pid")
    start = time.time()
    run_exec(folder, f"sleep 60 {where} & echo $! >{pid}; head -c 300000 /dev/zero | tr '\\0' x; echo done", "done", 1,
             text="x" * 300000 + "done\n")
    expect(time.time() - start < 10, "the reply waited for it")
    time.sleep(0.1)
    state = f"/proc/{int(read(pid))}/stat"
    expect(not os.path.exists(state) or read(state).split()[2] == "Z", "it is still there")


@case
def exec_together(folder):
    start = time.time()
    got, _, _ = ask(folder, {"provider": "exec", "command": "sleep 1; echo $ASTRA_LABEL"}, [call(f"coder-{i}") for i in range(6)])
    expect([got[i]["text"] for i in range(6)] == [f"coder-{i}\n" for i in range(6)], f"{got}")
    expect(time.time() - start < 4.5, "one after the other")


# ---- recordings ----

CALLS = [call("tester-1"), call("planner-1"), call("coder-1", text="one"), call("coder-2", text="two\n")]


def record(folder, replies=None):
    """Four calls recorded; gives their folder and what was said."""
    rules = [{"match": {"contains": c["messages"][0]["text"], "role": c["role"]}, "replies": [r]}
             for c, r in zip(CALLS, replies or [TEXT, "", {"text": "b\r\n\n", "finish": "length"}, "trailing \n\n"])]
    path = os.path.join(folder, "rec")
    with Server({"rules": rules}) as s:
        got, _, _ = ask(folder, config_of(s, record_dir=path, model="gpt-4.1"), CALLS)
    return path, got


def replay(folder, path, calls=None, **config):
    return ask(folder, {"provider": "replay", "replay_dir": path, **config}, calls or CALLS)


def core(replies):
    return {i: {k: r[k] for k in ("end", "text", "words", "usage", "model")} for i, r in replies.items()}


@case
def replay_same(folder):
    path, first = record(folder)
    again_, errors, end = replay(folder, path)
    expect(not errors and core(first) == core(again_), f"{first}\n{again_}\n{errors}")
    # One reply was empty and asked for twice, which both counts; playing it costs nothing.
    expect(end["usd"] == 0 and end["input"] == 500, f"{end}")
    backwards, _, _ = replay(folder, path, CALLS[::-1])
    expect(core(first) == core({3 - i: r for i, r in backwards.items()}), "another order, other replies")


@case
def replay_drift(folder):
    path, first = record(folder)
    calls = [dict(c) for c in CALLS]
    calls[3] = call("coder-2", text="two\nand three\n")
    got, errors, _ = replay(folder, path, calls)
    expect(len(got) == 3 and len(errors) == 1 and errors[0]["id"] == 3, f"{got} {errors}")
    text = errors[0]["error"]
    expect(re.search(r"coder-2.json: the prompt is not the recorded one.*--- recorded\n\+\+\+ now\n@@ .*\n two\n\+and three\n", text, re.S), text)
    got, errors, _ = replay(folder, path, calls, allow_drift=True)
    expect(not errors and core(got) == core(first), f"{got} {errors}")
    calls[3] = {**CALLS[3], "system": "You are Astra's coder.\nBe long."}
    _, errors, _ = replay(folder, path, calls)
    expect("-Be brief.\n+Be long.\n" in errors[0]["error"], f"{errors}")


@case
def replay_missing(folder):
    path, _ = record(folder)
    _, errors, _ = replay(folder, path, [call("planner-7")])
    expect("planner-7" in errors[0]["error"] and "it has coder-1.json, coder-2.json, planner-1.json" in errors[0]["error"], f"{errors}")


HAND = {"recording": 1, "note": "written by hand", "role": "planner", "label": "planner-1", "reply": {"text": ["one", "two", ""]}}


@case
def replay_by_hand(folder):
    """What is left out of a recording is not compared, and gets a default."""
    write(os.path.join(folder, "hand", "planner-1.json"), json.dumps(HAND))
    got, errors, _ = replay(folder, os.path.join(folder, "hand"), [CALLS[1]])
    expect(not errors, f"{errors}")
    ends(got[0], "done", 1, text="one\ntwo\n")
    # Played and recorded at once, it gets its prompt, and keeps its note.
    replay(folder, os.path.join(folder, "hand"), [CALLS[1]], record_dir=os.path.join(folder, "pinned"))
    pinned = load(os.path.join(folder, "pinned", "planner-1.json"))
    expect(pinned["note"] == "written by hand" and pinned["messages"][0]["text"] == ["Plan."], f"{pinned}")
    again_, errors, _ = replay(folder, os.path.join(folder, "pinned"), [CALLS[1]])
    expect(not errors and core(again_) == core(got), f"{again_} {errors}")


BROKEN = {
    "no_json": ("{", "hand/planner-1.json"),
    "no_version": ({**HAND, "recording": 9}, "a recording is"),
    "no_reply": ({k: v for k, v in HAND.items() if k != "reply"}, "a recording is"),
    "no_text": ({**HAND, "reply": {}}, "needs its text"),
    "no_label": ({**HAND, "label": None}, "role and its label"),
    "unknown_key": ({**HAND, "mesages": []}, "no 'mesages'"),
    "unknown_end": ({**HAND, "reply": {"end": "ok", "text": ""}}, "done, cut, refused, failed"),
    "text": ({**HAND, "reply": {"text": [1]}}, "needs its text"),
    "messages": ({**HAND, "messages": [{"from": "me", "text": "x"}]}, "from"),
    "other_role": ({**HAND, "role": "coder"}, "planner-1 of the coder, not planner-1 of the planner"),
}


@cases(list(BROKEN))
def replay_broken(folder, name):
    what, pattern = BROKEN[name]
    write(os.path.join(folder, "hand", "planner-1.json"), what if isinstance(what, str) else json.dumps(what))
    _, errors, _ = replay(folder, os.path.join(folder, "hand"), [CALLS[1]])
    expect(len(errors) == 1 and re.search(pattern, (errors[0]["file"] or "") + errors[0]["error"]), f"{errors}")


@case
def replay_failure(folder):
    """A failure is recorded as one, and played as one."""
    path = os.path.join(folder, "rec")
    with Server({"rules": [{"replies": [{"status": 500}]}]}) as s:
        got, _, _ = ask(folder, config_of(s, record_dir=path, max_attempts=2))
    again_, _, _ = replay(folder, path, [CALLS[1]])
    expect(core(got) == core(again_) and again_[0]["end"] == "failed", f"{got} {again_}")


@case
def label_is_no_path(folder):
    with Server({"rules": [{"replies": [TEXT]}]}) as s:
        got, _, _ = ask(folder, config_of(s, record_dir=os.path.join(folder, "rec")), [call("x/../../evil", role="coder")])
    ends(got[0], "done", 1)
    expect(os.listdir(os.path.join(folder, "rec")) == ["coder-x_.._.._evil.json"], f"{os.listdir(os.path.join(folder, 'rec'))}")


# ---- a server of another make, where one is asked for ----


@case
def independent_server(folder):
    """ASTRA_TEST_GATEWAY=URL: any OpenAI-compatible server, with _MODEL and _KEY; CONTRIBUTING.md has one that works."""
    url = os.environ.get("ASTRA_TEST_GATEWAY")
    if not url:
        skip("ASTRA_TEST_GATEWAY names none")
    env = environment(TEST_KEY=os.environ.get("ASTRA_TEST_GATEWAY_KEY", KEY))
    config = {"provider": "openai", "model": os.environ.get("ASTRA_TEST_GATEWAY_MODEL", "mock"), "base_url": url,
              "key_env": "TEST_KEY", "max_output_tokens": 200, "first_byte_s": 60}
    got, _, _ = ask(folder, config, [call(), call("coder-1")], env=env)
    for r in got.values():
        ends(r, "done")
        expect(r["text"].strip() and r["usage"]["output"] > 0, f"{r}")
    got, _, _ = ask(folder, {**config, "model": "no-such-model-anywhere", "max_attempts": 1}, env=env)
    ends(got[0], "failed", fatal=True)
    print(f"    {got[0]['words']}")


if __name__ == "__main__":
    threading.stack_size(256 << 10)
    main()
