// What members of structs begin as, where nothing else is said of them.
template <int N> struct Tile {
    static constexpr int each = 4;
    int rows = N * each;
    float2 scale = {1, 0.5f};
};
struct Params {
    float *p = nullptr;
    int n = 3;
    float eps{1e-5f};
    Tile<2> tile;
    cudaStream_t stream;
};
struct Late {
    int a, b = 7;
};
__global__ void k(Params params)
{
}
__global__ void late(Late l)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    Params all, some = {p, n}, none{};
    all.p = p;
    k<<<1, 1, 0, stream>>>(all);
    k<<<1, 1, 0, stream>>>(some);
    k<<<1, none.tile.rows, 0, stream>>>(none);
    Late l;
    l.a = n;
    late<<<1, 1, 0, stream>>>(l);
}

// run: n=1
// launch k (1,1,1) (1,1,1) 0 [{40 @0=p @8=3:i32 @12=9.99999975e-06:f32 @16=8:i32 @24=1:f32 @28=0.5:f32}]
// launch k (1,1,1) (1,1,1) 0 [{40 @0=p @8=1:i32 @12=9.99999975e-06:f32 @16=8:i32 @24=1:f32 @28=0.5:f32}]
// launch k (1,1,1) (8,1,1) 0 [{40 @0=null @8=3:i32 @12=9.99999975e-06:f32 @16=8:i32 @24=1:f32 @28=0.5:f32}]
// launch late (1,1,1) (1,1,1) 0 [{8 @0=1:i32 @4=7:i32}]
