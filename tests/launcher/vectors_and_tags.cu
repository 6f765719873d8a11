// Vector types by value, tags that tell template arguments, default arguments of kernels.
#include <cuda_runtime.h>
#include <type_traits>

struct Divisor {
    uint3 magic;
    int by;
};
template <typename T, int N> struct Pack {
    T at[N];
};
struct Tag {};

template <bool Fast, typename T> __global__ void tagged(T *out, std::bool_constant<Fast>, uint n)
{
}
template <typename T, int N> __global__ void packed(Pack<T, N> values, Tag, ushort s = 7, float scale = 0.5f)
{
}
__global__ void vectors(float4 a, uint3 b, Divisor d, int *p = nullptr, int wide = sizeof(float4))
{
}

static uint3 magic_of(uint32_t d)
{
    uint3 m;
    m.x = d * 3;
    m.y = d >> 1;
    m.z = d;
    return m;
}

extern "C" void go(float *out, int n, cudaStream_t stream)
{
    tagged<<<1, 32, 0, stream>>>(out, std::true_type{}, n);
    tagged<<<1, 32, 0, stream>>>(out, std::false_type(), n);
    Pack<int, 2> two = {{n, n + 1}};
    packed<<<1, 32, 0, stream>>>(two, Tag{});
    packed<<<1, 32, 0, stream>>>(two, Tag{}, 9);
    float4 a = make_float4(1, 2, 3, n);
    a.y += 0.5f;
    vectors<<<1, 32, 0, stream>>>(a, magic_of(n), Divisor{magic_of(4), a.w > 2 ? 1 : 0});
    vectors<<<1, 32, 0, stream>>>(make_float4(0, 0, 0, 0), make_uint3(1, 2, 3), {{1, 2, 3}, 4}, nullptr, 1);
}

// run: n=5
// launch tagged<true, float> (1,1,1) (32,1,1) 0 [out, {1}, 5:u32]
// launch tagged<false, float> (1,1,1) (32,1,1) 0 [out, {1}, 5:u32]
// launch packed<int, 2> (1,1,1) (32,1,1) 0 [{8 @0=5:i32 @4=6:i32}, {1}, 7:u16, 0.5:f32]
// launch packed<int, 2> (1,1,1) (32,1,1) 0 [{8 @0=5:i32 @4=6:i32}, {1}, 9:u16, 0.5:f32]
// launch vectors (1,1,1) (32,1,1) 0 [{16 @0=1:f32 @4=2.5:f32 @8=3:f32 @12=5:f32}, {12 @0=15:u32 @4=2:u32 @8=5:u32}, {16 @0=12:u32 @4=2:u32 @8=4:u32 @12=1:i32}, null, 16:i32]
// launch vectors (1,1,1) (32,1,1) 0 [{16 @0=0:f32 @4=0:f32 @8=0:f32 @12=0:f32}, {12 @0=1:u32 @4=2:u32 @8=3:u32}, {16 @0=1:u32 @4=2:u32 @8=3:u32 @12=4:i32}, null, 1:i32]
