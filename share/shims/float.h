// Astra's stand-in.
#pragma once
#include <cfloat>
