// Values of the launcher in constant memory.
struct Params {
    float scale;
    int add[2];
};

__constant__ float table[4];
namespace a {
static __constant__ Params params[2];
}
__constant__ int many;

__global__ void k(float *p)
{
    p[threadIdx.x] = table[threadIdx.x & 3] * a::params[1].scale + many;
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    float host[4] = {1, 2, 3, float(n)};
    cudaMemcpyToSymbolAsync(table, host, sizeof(host), 0, cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbolAsync(table, host + 2, 4, 4, cudaMemcpyDefault, stream);
    Params one = {0.5f, {n, 7}};
    cudaMemcpyToSymbolAsync(a::params, &one, sizeof(Params), sizeof(Params), cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbolAsync(many, &n, sizeof n, 0, cudaMemcpyHostToDevice, stream);
    k<<<1, n, 0, stream>>>(p);
}

// run: n=32
// constant table+0 16 {16 @0=1:f32 @4=2:f32 @8=3:f32 @12=32:f32}
// constant table+4 4 {4 @0=3:f32}
// constant a::params+12 12 {12 @0=0.5:f32 @4=32:i32 @8=7:i32}
// constant many+0 4 {4 @0=32:i32}
// launch k (1,1,1) (32,1,1) 0 [p]
