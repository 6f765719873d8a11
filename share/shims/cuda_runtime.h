// Astra's stand-in: the names that host code in a kernel file may use outside the functions that are cut out.
#pragma once
// nvcc's header brings these along, and files rely on it.
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
// So does the C library's <sys/types.h>.
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
// Programmatic dependent launch, as the toolkit has it; relocatable code has it from the compiler.
#if __CUDA_ARCH__ >= 900 && !defined(__CUDACC_RDC__)
static inline __device__ void cudaTriggerProgrammaticLaunchCompletion()
{
    asm volatile("griddepcontrol.launch_dependents;");
}
static inline __device__ void cudaGridDependencySynchronize()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#endif
