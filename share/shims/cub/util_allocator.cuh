// Astra's stand-in: the host's allocator.
#pragma once
