// Object- and function-like macros that are expressions, nested, with stringizing and pasting.
#define THREADS 128
#define TWICE(x) ((x) * 2)
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define BLOCKS(n) CEIL_DIV(n, TWICE(THREADS))
#define NAME(suffix) kernel_##suffix
#define EMPTY()

__global__ void kernel_a(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    EMPTY();
    NAME(a)<<<BLOCKS(n), THREADS, 0, stream>>>(TWICE(n + 1));
}

// run: n=1000
// launch kernel_a (4,1,1) (128,1,1) 0 [2002:i32]
