// Launches of a build for several vendors; what it includes is not there.
#pragma once

#include "vendor/stream.h"

namespace other
{

template <typename... Ts, typename... Args>
int LaunchAny(void (*kernel)(Ts...), dim3 grid, dim3 block, unsigned long bytes, vendorStream_t stream,
              Args... args);

} // namespace other
