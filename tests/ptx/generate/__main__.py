"""Writes tests/ptx/cases: python3 tests/ptx/generate. What the cases expect is computed here, from the PTX ISA's rules and
exact arithmetic; nothing of the simulator takes part."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import approx  # noqa: E402
import cluster  # noqa: E402
import floating  # noqa: E402
import integer  # noqa: E402
import matrix  # noqa: E402
import memory  # noqa: E402
import tensor  # noqa: E402
import warp  # noqa: E402

MODULES = [integer, floating, approx, memory, warp, tensor, matrix, cluster]


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
    os.makedirs(folder, exist_ok=True)
    total = 0
    for source in MODULES:
        for m in source.modules():
            n = m.write(folder)
            total += n
            print("%4d  %s" % (n, m.name))
    print("%4d  cases" % total)


main()
