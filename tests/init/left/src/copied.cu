// A kernel that nothing here launches; ../old has a copy of it and launches that.
__global__ void third_of(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / 3;
}
