// A name of a namespace that is not open here.
namespace hidden
{
constexpr int SIZE = 2;
}
__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    k<<<1, 32, 0, stream>>>(SIZE);
}

// run: n=3
// error 12:29 the name SIZE is not known here; hidden::SIZE is
