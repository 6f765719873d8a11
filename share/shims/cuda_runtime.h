// Astra's stand-in: the names that host code in a kernel file may use outside the functions that are cut out.
#pragma once
#include <cstddef>
#include <cstdint>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
