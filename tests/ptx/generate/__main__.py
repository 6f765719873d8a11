"""Writes the conformance cases anew: python3 tests/ptx/generate FOLDER. What they expect is computed here, from the PTX
ISA's rules and exact arithmetic; nothing of the simulator takes part."""

import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import approx  # noqa: E402
import cluster  # noqa: E402
import contract  # noqa: E402
import floating  # noqa: E402
import integer  # noqa: E402
import matrix  # noqa: E402
import memory  # noqa: E402
import tensor  # noqa: E402
import warp  # noqa: E402
import wgmma  # noqa: E402

MODULES = [integer, floating, approx, memory, warp, tensor, matrix, cluster, wgmma, contract]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 tests/ptx/generate FOLDER")
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for source in MODULES:
        for m in source.modules():
            m.write(folder)
    os.utime(folder)  # it is as new as what is in it


main()
