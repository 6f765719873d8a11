#!/usr/bin/env python3
"""clang-tidy 14 with the checks of .clang-tidy over src/ and tests/unit/, shellcheck over the scripts where it
is installed, the layers, and the rules of the house.

    tools/lint.py [BUILD [FILE]...]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def uses_half(path):
    """Whether a file or a header of ours that it includes speaks of _Float16."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "_Float16" in text:
        return True
    for name in re.findall(r'^#include "([^"]+)"', text, re.M):
        for header in (os.path.join(os.path.dirname(path), name), os.path.join("src", name)):
            if os.path.exists(header) and uses_half(header):
                return True
    return False


def entries(build):
    """The compile database without what clang 14 cannot read: it has no _Float16 on x86, so those files are
    left to gcc's warnings. A file that is compiled once for each instruction set is listed once."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as database:
        for entry in {e["file"]: e for e in json.load(database)}.values():
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
            if path.startswith(("src/", "tests/unit/", "tests/fuzz/", "tools/")) and not uses_half(path):
                yield path, entry


def tidy(build, only):
    chosen = [(path, entry) for path, entry in entries(build) if not only or path in only]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as database:
            json.dump([entry for _, entry in chosen], database)
        command = ["xargs", "-n", "4", "-P", str(os.cpu_count()), "clang-tidy-14", "-p", folder, "--quiet"]
        done = subprocess.run(command, input="\n".join(path for path, _ in chosen), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(done.stdout, end="")
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0


def shellcheck():
    scripts = [".ci/run"]
    for root in ("tools", "tests"):
        for folder, _, names in os.walk(root):
            scripts += [os.path.join(folder, name) for name in names if name.endswith(".sh")]
    if not shutil.which("shellcheck"):
        print("shellcheck is not installed; the scripts were not looked at")
        return True
    return subprocess.run(["shellcheck", "--severity=warning", *sorted(scripts)], check=False).returncode == 0


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    good = [tidy(build, sys.argv[2:]), shellcheck(), *(subprocess.run([tool], check=False).returncode == 0 for tool in ("tools/layers.py", "tools/house.py"))]
    sys.exit(0 if all(good) else 1)


main()
