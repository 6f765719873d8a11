#!/usr/bin/env python3
"""Writes the tables of docs/models.md from what `astra mcp` itself says: tools/mcp_docs.py ASTRA [--check]."""

import json
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(__file__), "..", "docs", "models.md")
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def ask(astra, *requests):
    """Answers to requests (method, params), in their order."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": {**params, "_meta": META}})
                 for i, (method, params) in enumerate(requests)]
        done = subprocess.run([astra, "mcp", "--runs", os.path.join(folder, "runs")], cwd=folder, check=True,
                              input="\n".join(lines) + "\n", capture_output=True, text=True)
    answers = {a["id"]: a["result"] for a in map(json.loads, done.stdout.splitlines())}
    return [answers[i] for i in range(len(requests))]


def cell(text):
    return text.replace("|", "\\|")


def tool_table(tools):
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for tool in tools:
        schema = tool["inputSchema"]
        names = [f"`{name}`" if name in schema["required"] else f"[`{name}`]" for name in schema["properties"]]
        rows.append(f"| `{tool['name']}` | {' '.join(names)} | {cell(tool['description'])} |")
    return "\n".join(rows)


def verdict_table(verdicts):
    return "\n".join(["| verdict | what it means, and what to do |", "|---|---|"] +
                     [f"| `{v['verdict']}` | {cell(v['means'])} |" for v in verdicts])


def page(astra, text):
    tools, verdicts = ask(astra, ("tools/list", {}), ("tools/call", {"name": "explain", "arguments": {}}))
    tables = {"made": tool_table(tools["tools"]),
              "verdicts made": verdict_table(verdicts["structuredContent"]["verdicts"])}
    for name, table in tables.items():
        begin = f"<!-- {name} by tools/mcp_docs.py -->\n"
        text = re.sub(re.escape(begin) + ".*?<!-- end -->", lambda _, b=begin, t=table: f"{b}{t}\n<!-- end -->", text,
                      count=1, flags=re.S)
    return text


def main():
    with open(PAGE, encoding="utf-8") as file:
        before = file.read()
    after = page(os.path.abspath(sys.argv[1]), before)
    if "--check" in sys.argv:
        sys.exit(0 if after == before else "docs/models.md is not what `astra mcp` says; run tools/mcp_docs.py ASTRA")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(after)


if __name__ == "__main__":
    main()
