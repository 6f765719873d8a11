// The exact answer in double: one thread per pair, a row of blocks per token.
__global__ void rotary_embedding_kernel(double *x, const double *cosine, const double *sine, int heads,
                                        int half_dim)
{
    long long pair = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= (long long)heads * half_dim)
        return;
    long long token = blockIdx.y;
    long long i = pair % half_dim;
    long long first = (token * heads + pair / half_dim) * 2 * half_dim + i;

    double a = x[first], b = x[first + half_dim];
    double c = cosine[token * half_dim + i], s = sine[token * half_dim + i];
    x[first] = a * c - b * s;
    x[first + half_dim] = b * c + a * s;
}

extern "C" void rotary_embedding(double *x, const double *cosine, const double *sine, int tokens, int heads,
                                 int half_dim, cudaStream_t stream)
{
    dim3 grid((unsigned)(((long long)heads * half_dim + 127) / 128), tokens);
    rotary_embedding_kernel<<<grid, 128, 0, stream>>>(x, cosine, sine, heads, half_dim);
}
