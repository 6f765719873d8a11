#!/usr/bin/env python3
"""The layers of src/: who may include whom, and where a library's header may stand.

A folder includes only folders below it, and of another folder only its public header, x/x.h. A library's
header is included in the places named here and nowhere else. `src/README.md` lists every file, and only those.
"""

import os
import re
import sys

# A folder and what it stands on; what those stand on is included.
BELOW = {
    "base": [],
    "llm": ["base"],
    "source": ["base"],
    "ptx": ["base"],
    "gpu": ["ptx"],
    "kernel": ["source"],
    "mutant": ["kernel"],
    "task": ["kernel"],
    "rewrite": ["kernel"],
    "search": ["task"],
    "agent": ["llm", "rewrite", "task"],
    "trial": ["gpu", "kernel", "mutant", "task"],
    "store": ["task", "trial"],
    "report": ["store"],
    "export": ["report"],
    "run": ["agent", "search", "export"],
    "tui": ["base"],
    "mcp": ["run"],
    "cmd": ["run", "tui", "mcp"],
    "main": ["cmd"],
}

LIBRARIES = {
    "jansson.h": ["src/base/json.h"],
    "sqlite3.h": ["src/store/internal.h"],
    "tree_sitter/api.h": ["src/source/internal.h", "src/source/source.c"],
    "yaml.h": ["src/base/yaml_tree.c", "src/ptx/device.c"],
    "curl/curl.h": ["src/llm/http.c"],
    "cmocka.h": ["tests/test.h"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def closure(folder):
    seen, todo = set(), [folder]
    while todo:
        for below in BELOW[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def files(*roots):
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            found = INCLUDE.match(line)
            if found:
                yield number, found.group(1), found.group(2)


def folder_of(path):
    """The layer of a path below src/: its folder; of what lies in src/ itself main.c is on top, the rest is run."""
    head, _, rest = path.partition("/")
    return head if rest else "main" if head == "main.c" else "run"


def check_layers():
    for path in files("src"):
        own = folder_of(os.path.relpath(path, "src"))
        if own not in BELOW:
            yield f"{path}: the folder {own} has no place in tools/layers.py"
            continue
        allowed = closure(own) | {own}
        for number, kind, name in includes(path):
            if kind != '"' or ("/" not in name and os.path.exists(os.path.join(os.path.dirname(path), name))):
                continue
            other = folder_of(name)
            if other in BELOW and other not in allowed:
                yield f"{path}:{number}: {own} stands below {other} and may not include {name}"


def check_public():
    for path in files("src"):
        own = folder_of(os.path.relpath(path, "src"))
        for number, kind, name in includes(path):
            other = folder_of(name)
            if kind == '"' and "/" in name and other != own and name != f"{other}/{other}.h":
                yield f"{path}:{number}: {name} is not {other}'s public header; include {other}/{other}.h"


def check_libraries():
    for path in files("src", "tests"):
        for number, _, name in includes(path):
            if name in LIBRARIES and path not in LIBRARIES[name]:
                yield f"{path}:{number}: {name} belongs in {' or '.join(LIBRARIES[name])}"


def check_readme():
    listed = set()
    folder = ""
    with open("src/README.md", encoding="utf-8") as text:
        for line in text:
            heading = re.match(r"#+ `([^`]*)`", line)
            if heading:
                folder = "" if heading.group(1) == "src" else heading.group(1).rstrip("/")
            entry = re.match(r"- ((?:`[^`]+`,? ?)+)", line)
            if entry:
                listed |= {os.path.join("src", folder, name) for name in re.findall(r"`([^`]+)`", entry.group(1))}
    there = set(files("src"))
    for path in sorted(there - listed):
        yield f"{path}: has no line in src/README.md"
    for path in sorted(listed - there):
        yield f"src/README.md: {path} is listed and does not exist"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    checks = {
        "a folder includes only what is below it": check_layers,
        "of another folder only its public header": check_public,
        "a library is included in one place": check_libraries,
        "src/README.md lists every file": check_readme,
    }
    failed = 0
    for name, check in checks.items():
        found = list(check())
        failed += bool(found)
        print(f"{'not ok' if found else 'ok'} - {name}")
        for line in found:
            print(f"  {line}")
    print(f"{len(checks) - failed} cases passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
