// Kernels in namespaces are named in full, in unnamed ones by themselves.
namespace a {
namespace b {
template <int N> __global__ void deep(int n)
{
}
} // namespace b
namespace {
__global__ void hidden(int n)
{
}
} // namespace
} // namespace a

extern "C" {
static int one()
{
    return 1;
}
void go(float *p, int n, cudaStream_t stream)
{
    using namespace a::b;
    a::b::deep<2><<<one(), 32, 0, stream>>>(n);
    deep<3><<<1, 32, 0, stream>>>(n);
    a::hidden<<<1, 32, 0, stream>>>(n);
}
}

// run: n=5
// launch a::b::deep<2> (1,1,1) (32,1,1) 0 [5:i32]
// launch a::b::deep<3> (1,1,1) (32,1,1) 0 [5:i32]
// launch a::hidden (1,1,1) (32,1,1) 0 [5:i32]
