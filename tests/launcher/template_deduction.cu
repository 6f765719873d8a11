// Template arguments of a launch: given, told by the arguments, by default; bool, enumerators and types in canonical form.
#include <cuda_bf16.h>

enum class Mode : int { fast, exact = 4 };
template <typename T, Mode M = Mode::exact, bool WIDE = false, typename A = float>
__global__ void k(T *out, const T *in, A scale)
{
}

extern "C" void go(__nv_bfloat16 *out, const __nv_bfloat16 *in, int n, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(out, in, 1.0);
    k<nv_bfloat16, Mode::fast, (sizeof(n) > 2)><<<1, 32, 0, stream>>>(out, in, 1);
    k<__nv_bfloat16, static_cast<Mode>(4), !true, unsigned char><<<1, 32, 0, stream>>>(out, in, n);
}

// run: n=258
// launch k<__nv_bfloat16, (Mode)4, false, double> (1,1,1) (32,1,1) 0 [out, in, 1:f64]
// launch k<__nv_bfloat16, (Mode)0, true, int> (1,1,1) (32,1,1) 0 [out, in, 1:i32]
// launch k<__nv_bfloat16, (Mode)4, false, unsigned char> (1,1,1) (32,1,1) 0 [out, in, 2:u8]
