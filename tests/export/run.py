"""The exported test on the CPU: all of it that needs no GPU."""

import sys
import unittest

sys.path.insert(0, "test")

import test_op  # noqa: E402
import torch  # noqa: E402

test_op.DEVICE = torch.device("cpu")
NAMES = ["test_eager", "test_opcheck", "test_what_it_refuses", "test_compiled", "test_compiled_for_any_shape"]
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(test_op.Op(name) for name in NAMES))
sys.exit(not (result.wasSuccessful() and result.testsRun == len(NAMES)))
