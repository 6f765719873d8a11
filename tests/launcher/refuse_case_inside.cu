// A case within a loop of its switch.
__global__ void k(int a)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    switch (n) {
    case 0:
        while (n < 5) {
        case 3:
            n++;
        }
    }
    k<<<1, 32, 0, stream>>>(n);
}

// run: n=3
// error 10:9 a case within another statement
