#!/usr/bin/env python3
"""A model server for tests, on loopback: OpenAI's chat completions and Anthropic's Messages, streamed and whole, from
a scenario; it misbehaves on request. Python's standard library only.

    server.py SCENARIO.json [--port N] [--log FILE]     the first line it prints is its port

or, in a test:  with Server(scenario, log=path) as s: ... s.url, s.requests ...

A scenario is an object; everything in it is optional:

    models      names that /models lists; another model gets a 404
    key         the key that must come; else 401
    latency_s   before every reply; a number, or [low, high] for one drawn from `seed`
    nonsense    the share of replies (0 to 1) that are replaced by nonsense, drawn from `seed` and the reply's place
    seed        1
    rules       [{match, replies, repeat}]: the first rule that matches answers. match: {role, model, contains}; the role
                is taken from the system prompt's opening line, "You are Astra's planner."; contains is looked for in
                all messages. replies are given one after the other; then `repeat` says "last" (default), "cycle" or "no"
                (the rule matches no more)

A reply is a string (the text) or an object:

    text | lines | file   what it says (lines are joined; a file is relative to the scenario)
    model, usage          as in the protocol of OpenAI: {prompt_tokens, completion_tokens, cached, written, reasoning}
    reasoning             text of its thinking, before the reply
    finish                "stop" (default), "length", "content_filter"
    refusal               a refusal in place of the reply
    tool                  a call of this tool, beside the text if there is one
    parts                 content as an array of parts
    no_choice, empty      no message at all; a message without content
    think_tags            reasoning within the text, in <think> tags

and of its wire:

    status, headers, json, body   this response instead (json and body: its body)
    redirect                      to this address (307)
    refuse                        names of parameters: a request with one gets a 400 that names it
    first_s                       before the first byte of the body
    silence_s, after              a pause after so many characters of text (default: half)
    cut                           the connection ends after so many characters of text
    drop                          the connection ends before any response
    one_byte                      every byte in a packet of its own
    gzip                          packed
    stream                        false: answers whole though asked for a stream
    content_type                  another one
    crlf                          lines of the stream end in CR LF, and comments and pings stand between the events
    no_done                       the stream ends without its last event
    hold_s                        the connection stays open so long after the last event
    invalid_json, invalid_utf8    of one event, or of the whole reply
    error_event                   an error in the middle of the stream: {type, message}
    big                           so many bytes of text
"""

import argparse
import gzip
import json
import os
import random
import re
import socket
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NONSENSE = [
    "I am afraid I cannot see the kernel. Could you paste it again?",
    "```json\n{\"strategies\": [{\"name\": 12, \"plan\": [",
    "```cuda\n__global__ void kernel( { // TODO\n```",
    "{\"strategies\": [], \"workloads\": \"many\"}",
    "Sure! Here is the optimised kernel:\n\n```python\nprint('faster')\n```",
    "```cuda\n#include <thrust/sort.h>\nextern \"C\" void wrong_name(int x) {}\n```",
    "",
    "\N{PILE OF POO}" * 50,
]


class Scenario:
    def __init__(self, scenario, folder="."):
        self.s, self.folder = scenario, folder
        self.lock = threading.Lock()
        self.used = [0] * len(scenario.get("rules", []))
        self.served = 0

    def choose(self, body):
        """The reply for a request, and a random generator of its place."""
        role = re.match(r"\s*You are Astra's (\w+)", system_of(body))
        role = role.group(1) if role else ""
        texts = "\n".join(text_of(m.get("content", "")) for m in body.get("messages", []))
        with self.lock:
            self.served += 1
            for i, rule in enumerate(self.s.get("rules", [])):
                match = rule.get("match", {})
                if match.get("role", role) != role or match.get("model", body.get("model")) != body.get("model"):
                    continue
                if match.get("contains", "") not in texts + system_of(body):
                    continue
                replies, n = rule["replies"], self.used[i]
                if n >= len(replies) and rule.get("repeat", "last") == "no":
                    continue
                self.used[i] += 1
                reply = replies[n % len(replies) if rule.get("repeat") == "cycle" else min(n, len(replies) - 1)]
                place = f"{self.s.get('seed', 1)} {i} {n}"
                break
            else:
                reply, place = {"status": 400, "json": error("no rule of the scenario matches", "scenario")}, "0"
        reply = {"text": reply} if isinstance(reply, str) else dict(reply)
        chance = random.Random(place)
        if chance.random() < self.s.get("nonsense", 0):
            reply = {"text": chance.choice(NONSENSE)}
        if "lines" in reply:
            reply["text"] = "\n".join(reply["lines"])
        if "file" in reply:
            with open(os.path.join(self.folder, reply["file"]), encoding="utf-8") as f:
                reply["text"] = f.read()
        return reply, chance


def text_of(content):
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content or [])


def system_of(body):
    """The system prompt, in either protocol."""
    own = text_of(body.get("system", ""))
    return own or "".join(text_of(m["content"]) for m in body.get("messages", [])[:1] if m.get("role") == "system")


def error(message, kind, **more):
    return {"error": {"message": message, "type": kind, **more}}


def pieces(text, size=7):
    return [text[i : i + size] for i in range(0, len(text), size)]


# ---- OpenAI ----


def openai_usage(reply):
    u = {"prompt_tokens": 100, "completion_tokens": 20, **reply.get("usage", {})}
    out = {"prompt_tokens": u["prompt_tokens"], "completion_tokens": u["completion_tokens"],
           "total_tokens": u["prompt_tokens"] + u["completion_tokens"]}
    if "cached" in u:
        out["prompt_tokens_details"] = {"cached_tokens": u["cached"]}
    if "reasoning" in u:
        out["completion_tokens_details"] = {"reasoning_tokens": u["reasoning"]}
    return out


def openai_tool(name):
    return [{"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}]


def openai_finish(reply):
    return reply.get("finish", "tool_calls" if "tool" in reply and not reply.get("text") else "stop")


def openai_whole(body, reply):
    text = reply.get("text", "")
    message = {"role": "assistant", "content": [{"type": "text", "text": p} for p in pieces(text, 40)] if reply.get("parts") else text}
    if reply.get("empty") or "refusal" in reply or ("tool" in reply and not text):
        message["content"] = None
    if "refusal" in reply:
        message["refusal"] = reply["refusal"]
    if "reasoning" in reply:
        message["reasoning_content"] = reply["reasoning"]
    if "tool" in reply:
        message["tool_calls"] = openai_tool(reply["tool"])
    choices = [] if reply.get("no_choice") else [{"index": 0, "message": message, "finish_reason": openai_finish(reply)}]
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": reply.get("model", body["model"]),
            "choices": choices, "usage": openai_usage(reply)}


def openai_stream(body, reply):
    """(event name, object, characters of text in it); the object None is the end's mark."""

    def chunk(delta, finish=None, **more):
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": reply.get("model", body["model"]), "choices": choices, **more}

    if not reply.get("no_choice"):
        yield "", chunk({"role": "assistant", "content": ""}), 0
        for p in pieces(reply.get("reasoning", "")):
            yield "", chunk({"reasoning_content": p}), 0
        for p in pieces(reply.get("refusal", "")):
            yield "", chunk({"refusal": p}), 0
        if "tool" in reply:
            yield "", chunk({"tool_calls": openai_tool(reply["tool"])}), 0
        for p in pieces("" if reply.get("empty") or "refusal" in reply else reply.get("text", ""), reply.get("piece", 7)):
            yield "", chunk({"content": [{"type": "text", "text": p}] if reply.get("parts") else p}), len(p)
        yield "", chunk({}, openai_finish(reply)), 0
    if body.get("stream_options", {}).get("include_usage"):
        yield "", chunk(None, usage=openai_usage(reply)), 0
    if not reply.get("no_done"):
        yield "", None, 0


# ---- Anthropic ----


def anthropic_usage(reply):
    u = {"prompt_tokens": 100, "completion_tokens": 20, **reply.get("usage", {})}
    return {"input_tokens": u["prompt_tokens"] - u.get("cached", 0) - u.get("written", 0), "output_tokens": u["completion_tokens"],
            "cache_creation_input_tokens": u.get("written", 0), "cache_read_input_tokens": u.get("cached", 0)}


def anthropic_stop(reply):
    if "refusal" in reply:
        return "refusal"
    if "tool" in reply:
        return "tool_use"
    return {"length": "max_tokens", "content_filter": "refusal"}.get(reply.get("finish"), "end_turn")


def anthropic_blocks(reply):
    blocks = []
    if "reasoning" in reply:
        blocks.append({"type": "thinking", "thinking": reply["reasoning"], "signature": "x"})
    text = reply.get("refusal", reply.get("text", ""))
    if text and not reply.get("empty"):
        blocks.append({"type": "text", "text": text})
    if "tool" in reply:
        blocks.append({"type": "tool_use", "id": "toolu_1", "name": reply["tool"], "input": {}})
    return blocks


def anthropic_whole(body, reply):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": reply.get("model", body["model"]),
            "content": None if reply.get("no_choice") else anthropic_blocks(reply), "stop_reason": anthropic_stop(reply), "stop_sequence": None,
            "usage": anthropic_usage(reply)}


def anthropic_stream(body, reply):
    def event(o, n=0):
        return o["type"], o, n

    usage = anthropic_usage(reply)
    if not reply.get("no_choice"):
        yield event({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
                     "model": reply.get("model", body["model"]), "stop_reason": None, "usage": {**usage, "output_tokens": 1}}})
        yield event({"type": "ping"})
        for i, block in enumerate(anthropic_blocks(reply)):
            kind = block["type"]
            start = {"text": {"type": "text", "text": ""}, "thinking": {"type": "thinking", "thinking": "", "signature": ""}}
            yield event({"type": "content_block_start", "index": i, "content_block": start.get(kind, block)})
            if kind == "tool_use":
                yield event({"type": "content_block_delta", "index": i, "delta": {"type": "input_json_delta", "partial_json": "{}"}})
            else:
                for p in pieces(block[kind], reply.get("piece", 7)):
                    yield event({"type": "content_block_delta", "index": i, "delta": {"type": kind + "_delta", kind: p}},
                                len(p) if kind == "text" else 0)
            yield event({"type": "content_block_stop", "index": i})
        yield event({"type": "message_delta", "delta": {"stop_reason": anthropic_stop(reply), "stop_sequence": None},
                     "usage": {"output_tokens": usage["output_tokens"]}})
    if not reply.get("no_done"):
        yield event({"type": "message_stop"})


PROTOCOLS = {"/chat/completions": (openai_whole, openai_stream), "/messages": (anthropic_whole, anthropic_stream)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0

    def log_message(self, *args):
        pass

    def say(self, status, content, kind="application/json", headers=None):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def say_json(self, status, o, headers=None):
        self.say(status, json.dumps(o).encode(), headers=headers)

    def authorised(self):
        given = self.headers.get("x-api-key") or (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        want = self.server.scenario.s.get("key")
        if want is None or given == want:
            return True
        # As careless servers do, it repeats what it was given.
        self.say_json(401, error(f"Incorrect API key provided: {given}", "authentication_error", code="invalid_api_key"))
        return False

    def do_GET(self):
        self.server.note(self, None)
        if not self.authorised():
            return
        if self.path.endswith("/models"):
            names = self.server.scenario.s.get("models", [])
            return self.say_json(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})
        self.say_json(404, {"detail": "Not Found"})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            return self.say_json(400, error("the body is no JSON", "invalid_request_error"))
        self.server.note(self, body)
        path = next((p for p in PROTOCOLS if self.path.split("?")[0].endswith(p)), None)
        if not path:
            return self.say_json(404, {"detail": "Not Found"})
        if not self.authorised():
            return None
        models = self.server.scenario.s.get("models")
        if models and body.get("model") not in models:
            return self.say_json(404, error(f"The model `{body.get('model')}` does not exist", "invalid_request_error", code="model_not_found"))
        reply, chance = self.server.scenario.choose(body)
        latency = self.server.scenario.s.get("latency_s", 0)
        time.sleep(chance.uniform(*latency) if isinstance(latency, list) else latency)
        try:
            return self.answer(body, reply, *PROTOCOLS[path])
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            return None

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def answer(self, body, reply, whole, stream):
        if reply.get("drop"):
            return self.hang_up()
        refused = [p for p in reply.get("refuse", []) if p in body]
        if refused:
            return self.say_json(400, error(f"Unsupported parameter: '{refused[0]}' is not supported with this model.",
                                            "invalid_request_error", param=refused[0], code="unsupported_parameter"))
        if "redirect" in reply:
            return self.say(307, b"", headers={"Location": reply["redirect"]})
        if "status" in reply:
            content = json.dumps(reply["json"]).encode() if "json" in reply else reply.get("body", "").encode()
            return self.say(reply["status"], content, reply.get("content_type", "application/json"), reply.get("headers"))
        if "big" in reply:
            reply["text"] = "x" * reply["big"]
            reply["piece"] = 65536
        if "think_tags" in reply:
            reply["text"] = f"<think>\n{reply['think_tags']}\n</think>\n\n{reply['text']}"
        if body.get("stream") and reply.get("stream", True):
            return self.stream(stream(body, reply), reply)
        content = json.dumps(whole(body, reply)).encode()
        if reply.get("invalid_json"):
            content = content[: len(content) // 2] + b"}"
        if reply.get("invalid_utf8"):
            content = content.replace(b"UTF8", b"\xff\xfe")
        time.sleep(reply.get("first_s", 0))
        headers = {}
        if reply.get("gzip"):
            content, headers["Content-Encoding"] = gzip.compress(content), "gzip"
        if "cut" in reply:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: reply["cut"]])
            return self.hang_up()
        return self.say(200, content, reply.get("content_type", "application/json"), headers)

    def stream(self, events, reply):
        self.send_response(200)
        self.send_header("Content-Type", reply.get("content_type", "text/event-stream"))
        self.send_header("Transfer-Encoding", "chunked")
        if reply.get("gzip"):
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        time.sleep(reply.get("first_s", 0))
        if reply.get("one_byte"):
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        packer = zlib.compressobj(wbits=31) if reply.get("gzip") else None

        def send(data):
            if packer:
                data = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
            for part in [data[i : i + 1] for i in range(len(data))] if reply.get("one_byte") else [data]:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

        said, paused, spoiled = 0, False, False
        half = reply.get("after", len(reply.get("text", "")) // 2)
        for name, o, n in events:
            data = b"[DONE]" if o is None else json.dumps(o).encode()
            said += n
            if n and reply.get("invalid_json") and not spoiled:
                data, spoiled = data[: len(data) // 2], True
            if reply.get("invalid_utf8"):
                data = data.replace(b"UTF8", b"\xff\xfe")
            text = (b"event: %s\n" % name.encode() if name else b"") + b"data: " + data + b"\n\n"
            if reply.get("crlf"):
                text = b": a comment\n\n" + text + b"event: ping\ndata:\n\n"
                text = text.replace(b"\n", b"\r\n")
            if "cut" in reply and said > reply["cut"]:
                send(text[: len(text) // 2])
                return self.hang_up()
            send(text)
            if "error_event" in reply and said > half:
                send(b"event: error\ndata: " + json.dumps({"type": "error", "error": reply["error_event"]}).encode() + b"\n\n")
                break
            if reply.get("silence_s") and said > half and not paused:
                paused = True
                time.sleep(reply["silence_s"])
        time.sleep(reply.get("hold_s", 0))
        if packer:
            packed = packer.flush()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(packed), packed))
        self.wfile.write(b"0\r\n\r\n")
        return None


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, scenario, folder=".", log=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.scenario = Scenario(scenario, folder)
        self.requests, self.log, self.noting = [], log, threading.Lock()

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def note(self, handler, body):
        entry = {"t": time.time(), "method": handler.command, "path": handler.path, "headers": dict(handler.headers), "body": body}
        with self.noting:
            self.requests.append(entry)
            if self.log:
                with open(self.log, "a", encoding="utf-8") as f:
                    f.write(json.dumps(entry) + "\n")

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args):
        self.shutdown()
        self.server_close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log")
    args = parser.parse_args()
    with open(args.scenario, encoding="utf-8") as f:
        server = Server(json.load(f), os.path.dirname(os.path.abspath(args.scenario)), args.log, args.port)
    print(server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
