// Astra's stand-in: what of it device code uses, and the state of scans over several blocks.
#pragma once
#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/cub.cuh>
