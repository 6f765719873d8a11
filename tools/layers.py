#!/usr/bin/env python3
"""The layers of src/: who may include whom, and where a library's header may stand.

A folder includes only folders below it, and of another folder only its public headers: x/x.h, and those named in
PUBLIC. Rooms are folders within a folder, with an order of their own. A library's header is included in the places
named here and nowhere else. `src/README.md` lists every file, and only those; it and docs/architecture.md have the
folders in the order of BELOW, and the build links what BELOW says.
"""

import os
import re
import sys

# A folder and what it stands on; what those stand on is included.
BELOW = {
    "base": [],
    "inject": [],
    "llm": ["base"],
    "tune": ["base"],
    "source": ["base"],
    "ptx": ["base"],
    "sanitize": ["ptx"],
    "shadow": ["ptx"],
    "clock": ["ptx"],
    "gpu": ["clock"],
    "kernel": ["source"],
    "mutant": ["kernel"],
    "task": ["kernel"],
    "rewrite": ["kernel"],
    "verdict": ["task"],
    "agent": ["llm", "rewrite", "tune", "verdict"],
    "mcp": ["agent"],
    "judge": ["gpu", "mutant", "rewrite", "sanitize", "shadow", "verdict"],
    "init": ["judge"],
    "worker": ["judge"],
    "store": ["base"],
    "report": ["rewrite", "store", "verdict"],
    "export": ["report"],
    "campaign": ["report"],
    "capture": ["inject", "judge", "report"],
    "optimize": ["agent", "worker", "export"],
    "tui": ["base"],
    "cmd": ["campaign", "capture", "init", "mcp", "optimize", "tui"],
    "main": ["cmd"],
}

# Rooms of a folder, and what they stand on; files in the folder itself stand below them.
ROOMS = {
    "ptx/front": ["ptx"],
    "ptx/lane": ["ptx"],
    "ptx/machine": ["ptx/lane"],
    "ptx/exec": ["ptx/machine"],
}

# Public headers besides x/x.h, and who may include them.
OBSERVERS = ("sanitize", "shadow", "clock")
PUBLIC = {
    "inject/replace.h": ("capture",),
    "ptx/observe.h": OBSERVERS,
    "ptx/lane/isa.h": OBSERVERS,
    "ptx/lane/half.h": OBSERVERS,
    "ptx/lane/half_row.h": OBSERVERS,
    "ptx/lane/matrix.h": OBSERVERS,
    "ptx/lane/opnd.h": OBSERVERS,
    "ptx/lane/wgmma.h": OBSERVERS,
    "base/tensor_map.h": ("ptx", "kernel", "gpu", "judge"),
    "kernel/preprocess.h": ("init",),
    "report/page.h": ("campaign",),
}

LIBRARIES = {
    "jansson.h": ["src/base/json.h"],
    "sqlite3.h": ["src/store/internal.h"],
    "tree_sitter/api.h": ["src/source/internal.h", "src/source/source.c"],
    "yaml.h": ["src/base/yaml_tree.c"],
    "zlib.h": ["src/base/pack.c"],
    "curl/curl.h": ["src/llm/http.c"],
    "cmocka.h": ["tests/test.h"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def closure(folder):
    seen, todo = set(), [folder]
    while todo:
        for below in {**BELOW, **ROOMS}[todo.pop()]:
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
    """The layer of a path below src/: its first folder; in src/ itself lies main.c alone, on top."""
    head, _, rest = path.partition("/")
    return head if rest else head.removesuffix(".c")


def room_of(path):
    """The room of a path below src/, or its layer."""
    folder = os.path.dirname(path)
    return folder if folder in ROOMS else folder_of(path)


def target_of(path, name):
    """The path below src/ that path, below src/, means by its include of name: beside it, or from src/ on."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return os.path.relpath(beside, "src") if os.path.exists(beside) else name


def check_layers():
    for path in files("src"):
        own = folder_of(os.path.relpath(path, "src"))
        if own not in BELOW:
            yield f"{path}: the folder {own} has no place in tools/layers.py"
            continue
        room = room_of(os.path.relpath(path, "src"))
        allowed = closure(room) | {room}
        for number, kind, name in includes(path):
            target = target_of(path, name)
            other = room_of(target)
            if kind != '"' or (other not in BELOW and other not in ROOMS) or own in PUBLIC.get(target, ()):
                continue
            if other not in allowed:
                yield f"{path}:{number}: {room} stands below {other} and may not include {name}"


def check_public():
    for path in files("src"):
        own = folder_of(os.path.relpath(path, "src"))
        for number, kind, name in includes(path):
            other = folder_of(target_of(path, name))
            if kind != '"' or "/" not in name or own in PUBLIC.get(name, ()):
                continue
            if other != own and name != f"{other}/{other}.h":
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


def check_documents():
    """The folders in src/README.md, src/meson.build and the table of docs/architecture.md, against BELOW."""
    folders = [folder for folder in BELOW if folder != "main"]
    with open("src/README.md", encoding="utf-8") as text:
        headings = [h for h in re.findall(r"^#+ `([^`]*)`", text.read(), re.M) if h != "src" and h not in ROOMS]
    with open("src/meson.build", encoding="utf-8") as text:
        built = re.findall(r"^subdir\('([^']*)'\)", text.read(), re.M)
    with open("docs/architecture.md", encoding="utf-8") as text:
        rows = re.findall(r"^\| `([a-z]+)`(?: \(([a-z, ]+)\))? \|", text.read(), re.M)
    for where, there in (("src/README.md", headings), ("src/meson.build", built), ("docs/architecture.md", [r[0] for r in rows])):
        if there != folders:
            yield f"{where}: the folders are {' '.join(there)}; in tools/layers.py {' '.join(folders)}"
    for folder, stands_on in rows:
        said, true = set(re.findall(r"[a-z]+", stands_on)), set(BELOW.get(folder, [])) - {"base"}
        if said != true:
            yield f"docs/architecture.md: {folder} stands on {' '.join(sorted(true)) or 'base alone'}, not on {' '.join(sorted(said)) or 'base alone'}"


def check_linked():
    """A folder's library has no dependency that BELOW does not give it."""
    for folder in BELOW:
        path = os.path.join("src", folder, "meson.build")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as text:
            used = set(re.findall(r"\b([a-z]+)_dep\b", text.read())) & set(BELOW)
        for other in sorted(used - closure(folder) - {folder}):
            yield f"{path}: {folder} stands below {other} and may not link it"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    checks = {
        "a folder includes only what is below it": check_layers,
        "of another folder only its public header": check_public,
        "a library is included in one place": check_libraries,
        "src/README.md lists every file": check_readme,
        "README, architecture.md and the build have the same folders": check_documents,
        "a folder links only what is below it": check_linked,
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
