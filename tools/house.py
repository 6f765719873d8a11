#!/usr/bin/env python3
"""The rules of the house that a program can count, and where they are broken:

    tools/house.py [-v] [--shrink]

functions with more than 7 parameters (those that CUDA declares excepted), ternaries inside ternaries, files above 800 lines, and lines of Markdown above
132 characters (tables, blocks of code and the templates of share/ excepted). tools/house.txt says how many of each a folder may still have; more
fail. -v prints every place; --shrink lowers the numbers of house.txt to what is left."""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
ALLOWED = os.path.join(ROOT, "tools", "house.txt")
PARAMETERS, LINES, COLUMNS = 7, 800, 132

NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
FUNCTION = re.compile(r"^(?!#)[A-Za-z_][^\n;{}()=]*?\b(\w+)\(([^;{}]*)\)\n?\s*\{", re.M)


def code(text):
    """A C file without comments and with empty literals, line for line."""
    return NOT_CODE.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else "0", text)


def long_lists(text):
    """Functions with too many parameters: line, name and number."""
    for found in FUNCTION.finditer(text):
        if found[0].startswith("EXPORT "):
            continue
        depth, count = 0, 1
        for c in found[2]:
            depth += (c == "(") - (c == ")")
            count += c == "," and depth == 0
        if count > PARAMETERS:
            yield text.count("\n", 0, found.start()) + 1, f"{found[1]} has {count} parameters"


def nested_ternaries(text):
    """A ? while another ternary is open, its own brackets or those around it included. A macro ends with its line."""
    line, open_at, macro = 1, [0], False
    for i, c in enumerate(text):
        if c == "\n":
            line += 1
            if macro and text[i - 1] != "\\":
                macro, open_at = False, [0]
            macro = macro or text[i + 1 : i + 2] == "#"
        elif c in "([":
            open_at.append(0)
        elif c in ")]":
            if len(open_at) > 1:
                open_at.pop()
        elif c in "{};":
            open_at = [0]
        elif c == ",":
            open_at[-1] = 0
        elif c == "?":
            if any(open_at):
                yield line, "a ternary inside a ternary"
            open_at[-1] += 1


def long_lines(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        if len(line) > COLUMNS and not fenced and not line.startswith(("|", "    ")):
            yield number, f"{len(line)} characters"


def places(path):
    """What is wrong in a file: rule, line, words."""
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith((".c", ".h")):
        bare = code(text)
        yield from (("parameters", *place) for place in long_lists(bare))
        yield from (("ternaries", *place) for place in nested_ternaries(bare))
    if path.endswith((".c", ".h", ".py", ".sh")) and text.count("\n") > LINES:
        yield "lines", LINES, f"{text.count(chr(10))} lines"
    if path.endswith(".md") and not path.startswith("share/"):
        yield from (("columns", *place) for place in long_lines(text))


def tracked():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode == 0:
        return [path for path in listed.stdout.split("\n") if os.path.isfile(os.path.join(ROOT, path))]
    found = []  # an archive without git
    for top in ("src", "tests", "tools", "docs", "share", "."):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
            if top == ".":
                break
    return found


def read_allowed():
    allowed = {}
    with open(ALLOWED, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                rule, folder, count = line.split()
                allowed[rule, folder] = int(count)
    return allowed


def main():
    verbose, shrink = "-v" in sys.argv, "--shrink" in sys.argv
    found = collections.defaultdict(list)
    for path in sorted(tracked()):
        for rule, line, words in places(path):
            found[rule, path.split("/")[0] if "/" in path else "."].append(f"{path}:{line}: {words}")
    allowed, good = read_allowed(), 0
    kinds = sorted({*found, *allowed})
    for kind in kinds:
        here, most = found[kind], allowed.get(kind, 0)
        if len(here) > most or verbose:
            print("\n".join(here))
        if len(here) > most:
            print(f"{kind[0]} in {kind[1]}: {len(here)}, and at most {most} may be left (tools/house.txt)")
        elif len(here) < most:
            print(f"{kind[0]} in {kind[1]}: {len(here)} of {most}; tools/house.py --shrink says so")
        good += len(here) <= most
    if shrink:
        with open(ALLOWED, encoding="utf-8") as file:
            head = [line for line in file if line.startswith("#")]
        with open(ALLOWED, "w", encoding="utf-8") as file:
            file.writelines(head)
            file.writelines(f"{rule} {folder} {min(len(found[rule, folder]), most)}\n"
                            for (rule, folder), most in sorted(allowed.items()) if found[rule, folder])
    print(f"{good} cases passed, {len(kinds) - good} failed")
    sys.exit(good < len(kinds))


main()
