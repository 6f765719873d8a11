__global__ void kernel_one(int n)
{
}

extern "C" void go(float *p, int rows, cudaStream_t stream)
{
    if (rows == 1)
        kernel_one<<<row, 32, 0, stream>>>(rows);
    if (rows == 2)
        kernel_on<<<rows, 32, 0, stream>>>(rows);
    if (rows == 3)
        kernel_one<<<rows, 32, 0, stream>>>(rows, rows);
    if (rows == 4)
        kernel_one(rows);
    if (rows == 5)
        launch(rows);
    if (rows == 6)
        rows<<<1, 1, 0, stream>>>(rows);
}

// run: rows=1
// error 8:22 the name row is not known; did you mean rows?
// run: rows=2
// error 10:9 the name kernel_on is not known; did you mean kernel_one?
// run: rows=3
// error 12:9 kernel kernel_one takes 1 arguments, not 2
// run: rows=4
// error 14:9 kernel_one is a kernel; it is launched with <<<grid, block, shared, stream>>>
// run: rows=5
// error 16:9 the function launch is not understood; allowed are
// run: rows=6
// error 18:9 int is not a kernel
