__global__ void k(int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    int total = 0;
    switch (n) {
    default:
        total += 100;
        break;
    case 1:
        total += 1;
        // falls through
    case 2:
    case 3: {
        total += 10;
        break;
    }
    case 4:
        return;
    }
    k<<<1, 1, 0, stream>>>(total);
}

// run: n=1
// launch k (1,1,1) (1,1,1) 0 [11:i32]
// run: n=3
// launch k (1,1,1) (1,1,1) 0 [10:i32]
// run: n=4
// nothing
// run: n=5
// launch k (1,1,1) (1,1,1) 0 [100:i32]
