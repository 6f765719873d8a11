// Astra's stand-in: what of it device code uses.
#pragma once
#include <cub/cub.cuh>
