"""The exported test on the CPU: all of it that needs no GPU. Arguments: folders of other exports, which must load beside it."""

import sys
import unittest

sys.path.insert(0, "test")
sys.path += sys.argv[1:]

import test_op  # noqa: E402
import torch  # noqa: E402

test_op.HAS_DEVICE = True
NAMES = ["test_eager", "test_slices", "test_autocast", "test_without_content", "test_opcheck", "test_what_it_refuses", "test_compiled", "test_compiled_for_any_shape"]
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(test_op.Op(name) for name in NAMES))
if sys.argv[1:]:
    import astra_other  # the same launcher, operator and kernel names

    arguments = [t for t, arg in zip(test_op.tensors(test_op.SHAPES[0]), test_op.ARGS) if arg[1] != "out"]
    for mine, its in zip(test_op.NEW(*arguments), astra_other.mix(*arguments), strict=True):
        assert torch.equal(mine.nan_to_num(), its.nan_to_num())
sys.exit(not (result.wasSuccessful() and result.testsRun == len(NAMES)))
