// Recursion of a depth that fits the stack.
// buffer: out i32 32 out
// launch: kernel grid 1 block 32 args out
__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void kernel(int *out)
{
    out[threadIdx.x] = fib(threadIdx.x % 8);
}
