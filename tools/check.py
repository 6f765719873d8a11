#!/usr/bin/env python3
"""Run the tests of a build folder, built before by tools/build.sh, and end with one plain line, `N passed, N failed`, over all their cases.

    tools/check.py BUILD [argument of meson test]...

A test program says how many cases it ran: cmocka's summary, or a line `N cases passed, N failed`. A program
that ends badly without a failed case of its own, or that counts nothing, is one failed case. Before the failures
stand the programs and cases that took most of a processor's time: the clock on the wall says little where several run.

    tools/check.py --cost COMMAND...    # what meson wraps around each program: runs it, and says what it cost
"""

import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

CMOCKA_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test\(s\)\.", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] (\d+) test\(s\), listed below:", re.M)
CMOCKA_OK = re.compile(r"^\[       OK \] ", re.M)
CASES = re.compile(r"^(\d+) cases? passed, (\d+) failed", re.M)
BAD = re.compile(r"^not ok - |^\[  FAILED  \] (?!\d)|: FAILED, |^\[   LINE   \]")
BEYOND = 3  # lines after a failed case that are repeated
MOST = 24  # lines of one program that are repeated
COST = re.compile(r"^cost: ([\d.]+) s of a processor$", re.M)
CASE_COST = re.compile(r"^ok - (.*) \(([\d.]+) s of a processor\)$", re.M)
LSAN_BROKE = b"LeakSanitizer has encountered a fatal error"
DEAREST = 10  # programs and cases that are named with their cost


def count(test):
    """Cases passed and failed of one entry of meson's test log."""
    text = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    passed = sum(int(n) for n in CMOCKA_PASSED.findall(text))
    failed = sum(int(n) for n in CMOCKA_FAILED.findall(text))
    if not passed and not failed:  # a crash comes before the summary
        passed = len(CMOCKA_OK.findall(text))
    for good, bad in CASES.findall(text):
        passed, failed = passed + int(good), failed + int(bad)
    if failed == 0 and test["result"] != "SKIP" and (test["result"] != "OK" or passed == 0):
        failed = 1
    return passed, failed


def reasons(test):
    """The lines of a failed entry that say what failed, and why; its last ones where none does."""
    lines = ((test.get("stdout") or "") + "\n" + (test.get("stderr") or "")).splitlines()
    named = sorted({at for first, line in enumerate(lines) if BAD.search(line) for at in range(first, first + 1 + BEYOND) if at < len(lines)})
    said = [lines[at] for at in named] or [line for line in lines if line.strip()][-BEYOND:]
    return said[:MOST] + [f"and {len(said) - MOST} lines more"] * (len(said) > MOST)


def with_leaks(command):
    """The status of a program; it runs once more where the leak sanitizer itself broke."""
    with tempfile.TemporaryFile() as told:
        status = subprocess.run(command, stderr=told).returncode
        told.seek(0)
        words = told.read()
    if status and LSAN_BROKE in words:
        print("LeakSanitizer broke: once more", file=sys.stderr, flush=True)
        return subprocess.run(command).returncode
    sys.stderr.buffer.write(words)
    return status


def with_cost(command):
    """Runs a test program to its end; what it started and waited for counts."""
    if "LSAN_OPTIONS" in os.environ:
        status = with_leaks(command)
    else:
        status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"cost: {used.ru_utime + used.ru_stime:.2f} s of a processor", file=sys.stderr, flush=True)
    sys.exit(128 - status if status < 0 else status)  # as a shell says which signal ended it


def cost(test):
    found = COST.findall((test.get("stdout") or "") + "\n" + (test.get("stderr") or ""))
    return float(found[-1]) if found else 0.0  # killed with what it ran


def dearest(costs, of):
    """Lines: the rows (seconds, name) that took most, and their share of all."""
    whole = sum(seconds for seconds, _ in costs)
    top = sorted(costs, reverse=True)[:DEAREST]
    return [f"{len(top)} {of} took {sum(s for s, _ in top):.0f} of {whole:.0f} s of a processor:", *(f"{s:9.1f}  {name}" for s, name in top)] if top else []


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--cost":
        with_cost(sys.argv[2:])
    build = sys.argv[1]
    log = os.path.join(build, "meson-logs", "testlog-" + os.path.basename(__file__) + ".json")  # as meson names it with a wrapper
    if os.path.exists(log):
        os.remove(log)
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "4",
               "--wrapper", shlex.join([os.path.abspath(__file__), "--cost"]), *sys.argv[2:]]
    if "--timeout-multiplier" not in sys.argv:  # some wait for servers, terminals and clocks; under a sanitizer all compute
        command += ["--num-processes", str(len(os.sched_getaffinity(0)) + 1)]
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    passed = failed = 0
    wrong, programs, cases = [], [], []
    if os.path.exists(log):
        print()
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                test = json.loads(line)
                good, bad = count(test)
                passed, failed = passed + good, failed + bad
                name = test["name"].split(" / ")[-1]
                programs.append((cost(test), name))
                cases += [(float(seconds), f"{name}: {case}") for case, seconds in CASE_COST.findall(test.get("stdout") or "")]
                print(f"{name:<24} {good:5d} passed  {bad:3d} failed  {test['duration']:7.2f} s, {cost(test):7.2f} s of a processor")
                if bad:
                    wrong += [f"FAILED: {name} ({test['result']})", *("    " + line for line in reasons(test))]
    if status and not failed:  # meson failed
        failed = 1
    print("", *dearest(programs, "programs"), *dearest(cases, "cases"), "", sep="\n")
    print(*wrong, f"{passed} passed, {failed} failed", sep="\n", flush=True)
    sys.exit(1 if failed else 0)


main()
