#!/usr/bin/env python3
"""A checkout that is copied or moved with its build folder builds and works in its new place, and what is compiled into
the program from share/ is never left out unnoticed. The checkout is one of share/, tools/ and a program that lists it.

    build.py
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
MESON = """project('small', 'c')
subdir('share')
executable('list', 'list.c', share_c, include_directories: include_directories('src'))
test('list', find_program('sh'), args: ['-c', 'pwd'], workdir: meson.project_source_root())
"""
BASE = """#include <stddef.h>
struct share_file { const char *name, *text; size_t len; };
extern const struct share_file share_files[];
extern const size_t share_n_files;
"""
LIST = """#include <stdio.h>
#include "base/base.h"
int main(void) { for (size_t i = 0; i < share_n_files; i++) puts(share_files[i].name); return 0; }
"""


def run(folder, *command, status=0):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert (done.returncode == 0) == (status == 0), f"{command}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def small_checkout(top):
    for name in ("share", "tools"):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(top, name))
    write(os.path.join(top, "meson.build"), MESON)
    write(os.path.join(top, "src/base/base.h"), BASE)
    write(os.path.join(top, "list.c"), LIST)


def listed(top):
    return run(top, "build/list").splitlines()


def copied_and_moved(home):
    first, copy, moved = (os.path.join(home, name) for name in ("first", "c\u00f6py", "moved"))
    small_checkout(first)
    run(first, "tools/build.sh", "build", "-Dwarning_level=3")
    names = listed(first)
    assert "devices/h200.yaml" in names and not any(name.startswith(("/", ".")) for name in names), names
    assert "anew" not in run(first, "tools/build.sh", "build"), "set up twice in one place"

    shutil.copytree(first, copy)
    write(os.path.join(copy, "list.c"), LIST.replace("return 0", 'puts("copy"); return 0'))
    said = run(copy, "tools/build.sh", "build")
    assert f"was set up in {first}: it is set up here anew" in said, said
    assert listed(copy) == [*names, "copy"] and listed(first) == names, "the copy is not of its own sources"
    assert "anew" not in run(copy, "tools/build.sh", "build"), "set up twice in one place"
    options = run(copy, "meson", "configure", "build")
    assert any(line.split()[:2] == ["warning_level", "3"] for line in options.splitlines()), "an option was lost"

    os.rename(first, moved)
    run(moved, "tools/build.sh", "build")
    assert listed(moved) == names, "the moved checkout lost files"
    assert moved in run(moved, "meson", "test", "-C", "build", "-v"), "the tests are those of the old place"


def nothing_to_embed(home):
    out, share = os.path.join(home, "share.c"), os.path.join(home, "share")
    write(os.path.join(share, "full"), "text")
    write(os.path.join(share, "empty"), "")
    embed = [sys.executable, os.path.join(ROOT, "tools/embed.py"), out]
    run(home, *embed, "share", "share/full")
    assert "there are none" in run(home, *embed, "share", status=1)
    assert "share/empty" in run(home, *embed, "share", "share/full", "share/empty", status=1)
    assert "share/full" in run(home, *embed, os.path.join(home, "elsewhere"), "share/full", status=1)


def main():
    failed = 0
    cases = (copied_and_moved, nothing_to_embed)
    for case in cases:
        with tempfile.TemporaryDirectory() as home:
            try:
                case(os.path.realpath(home))
                print(f"ok - {case.__name__}")
            except AssertionError as reason:
                failed += 1
                print(f"not ok - {case.__name__}\n    {reason}")
    print(f"{len(cases) - failed} cases passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
