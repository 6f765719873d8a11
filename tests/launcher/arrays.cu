// Small local arrays, also two-dimensional and of dim3, with the rest of a list zero.
__global__ void k(int a, int b, int c)
{
}

extern "C" void go(float *p, int i, cudaStream_t stream)
{
    const int sizes[] = {32, 64, 128};
    int grid[2][3] = {{1, 2, 3}, {4}};
    dim3 blocks[2];
    int *at = sizes[0] ? grid[1] : grid[0];
    grid[1][1] += sizes[i];
    blocks[1].x = 7;
    *(at + 2) = 9;
    k<<<blocks[1], blocks[0], 0, stream>>>(grid[1][1], grid[1][2], grid[0][i]);
}

// run: i=2
// launch k (7,1,1) (1,1,1) 0 [128:i32, 9:i32, 3:i32]
// run: i=3
// error 12:24 element 3 of an array of 3
