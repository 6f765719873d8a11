// What headers that astra init does not read say of names that kernels use: each paragraph goes before a kernel that
// uses one of the names on its first line, a namespace (`at::`) as one.

// for: uint
using uint = unsigned int;

// for: ushort
using ushort = unsigned short;

// for: uchar
using uchar = unsigned char;

// for: ulong
using ulong = unsigned long;

// for: numeric_limits at:: torch::
#include <limits>
template <typename T, typename Raw, unsigned short Least, unsigned short Most, unsigned short Step, int Digits>
struct limits_of_16_bits {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true;
    static constexpr int digits = Digits, radix = 2;
    __host__ __device__ static constexpr T of(unsigned bits)
    {
        return T(Raw{(unsigned short)bits});
    }
    __host__ __device__ static constexpr T min() { return of(Least); }
    __host__ __device__ static constexpr T max() { return of(Most); }
    __host__ __device__ static constexpr T lowest() { return of(Most | 0x8000); }
    __host__ __device__ static constexpr T epsilon() { return of(Step); }
    __host__ __device__ static constexpr T infinity() { return of(Most + 1); }
    __host__ __device__ static constexpr T quiet_NaN() { return of(0x7fff); }
};
template <> struct std::numeric_limits<__half>
    : limits_of_16_bits<__half, __half_raw, 0x0400, 0x7bff, 0x1400, 11> {
};
template <> struct std::numeric_limits<__nv_bfloat16>
    : limits_of_16_bits<__nv_bfloat16, __nv_bfloat16_raw, 0x0080, 0x7f7f, 0x3c00, 8> {
};

// for: c10:: at:: torch:: Half BFloat16
#include <limits>
namespace c10 {
using Half = __half;
using BFloat16 = __nv_bfloat16;
} // namespace c10
namespace at {
using c10::BFloat16;
using c10::Half;
template <typename T> struct OpMathType {
    using type = T;
};
template <> struct OpMathType<__half> {
    using type = float;
};
template <> struct OpMathType<__nv_bfloat16> {
    using type = float;
};
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T, bool is_cuda> using acc_type = typename OpMathType<T>::type;
template <typename T> struct numeric_limits : std::numeric_limits<T> {
    __host__ __device__ static constexpr T lower_bound()
    {
        if constexpr (std::numeric_limits<T>::has_infinity)
            return -std::numeric_limits<T>::infinity();
        return std::numeric_limits<T>::lowest();
    }
    __host__ __device__ static constexpr T upper_bound()
    {
        if constexpr (std::numeric_limits<T>::has_infinity)
            return std::numeric_limits<T>::infinity();
        return std::numeric_limits<T>::max();
    }
};
} // namespace at
namespace torch = at;

// for: Float8_e4m3fn Float8_e5m2 Float8_e4m3fnuz Float8_e5m2fnuz
#include <cuda_fp8.h>
namespace c10 {
using Float8_e4m3fn = __nv_fp8_e4m3;
using Float8_e5m2 = __nv_fp8_e5m2;
struct Float8_e4m3fnuz {
    unsigned char x;
};
struct Float8_e5m2fnuz {
    unsigned char x;
};
} // namespace c10
namespace at {
using c10::Float8_e4m3fn;
using c10::Float8_e4m3fnuz;
using c10::Float8_e5m2;
using c10::Float8_e5m2fnuz;
} // namespace at

// for: complex
namespace c10 {
template <typename T> struct alignas(2 * sizeof(T)) complex {
    T real_ = T(0), imag_ = T(0);
    constexpr complex() = default;
    __host__ __device__ constexpr complex(T re, T im = T(0)) : real_(re), imag_(im)
    {
    }
    __host__ __device__ constexpr T real() const
    {
        return real_;
    }
    __host__ __device__ constexpr T imag() const
    {
        return imag_;
    }
    friend __host__ __device__ constexpr complex operator+(complex a, complex b)
    {
        return complex(a.real_ + b.real_, a.imag_ + b.imag_);
    }
    friend __host__ __device__ constexpr complex operator-(complex a, complex b)
    {
        return complex(a.real_ - b.real_, a.imag_ - b.imag_);
    }
    friend __host__ __device__ constexpr complex operator*(complex a, complex b)
    {
        return complex(a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_);
    }
    __host__ __device__ constexpr complex &operator+=(complex b)
    {
        return *this = *this + b;
    }
    __host__ __device__ constexpr complex &operator*=(complex b)
    {
        return *this = *this * b;
    }
};
} // namespace c10

// for: C10_HOST_DEVICE
#define C10_HOST_DEVICE __host__ __device__

// for: C10_DEVICE
#define C10_DEVICE __device__

// for: C10_ALWAYS_INLINE
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline

// for: C10_LAUNCH_BOUNDS_1
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)

// for: C10_LAUNCH_BOUNDS_2
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)

// for: C10_WARP_SIZE
#define C10_WARP_SIZE 32

// for: CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT(condition)

// for: CUDA_KERNEL_ASSERT2 CUDA_KERNEL_ASSERT_MSG CUDA_KERNEL_ASSERT_PRINTF
#define CUDA_KERNEL_ASSERT2(...)
#define CUDA_KERNEL_ASSERT_MSG(...)
#define CUDA_KERNEL_ASSERT_PRINTF(...)

// for: CUDA_KERNEL_LOOP_TYPE CUDA_KERNEL_LOOP
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                              \
    int64_t _i_n_d_e_x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                    \
    for (index_type i = (index_type)_i_n_d_e_x; _i_n_d_e_x < (n);                           \
         _i_n_d_e_x += (int64_t)blockDim.x * gridDim.x, i = (index_type)_i_n_d_e_x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

// for: PhiloxCudaState philox::
#include <cstdint>
namespace at {
struct PhiloxCudaState {
    uint64_t seed_ = 0, offset_ = 0;
};
namespace cuda {
namespace philox {
struct unpacked { // auto [seed, offset]
    uint64_t seed, offset;
};
__host__ __device__ inline unpacked unpack(PhiloxCudaState state)
{
    return unpacked{state.seed_, state.offset_};
}
} // namespace philox
} // namespace cuda
} // namespace at

// for: thrust::
namespace thrust {
template <typename T = void> struct plus {
    __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a + b;
    }
};
template <typename T = void> struct multiplies {
    __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a * b;
    }
};
template <typename T = void> struct minimum {
    __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};
template <typename T = void> struct maximum {
    __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
} // namespace thrust

// for: THCNumerics
template <typename T> struct THCNumerics {
    static __host__ __device__ T min()
    {
        return -max();
    }
    static __host__ __device__ T max()
    {
        return T(sizeof(T) == 2 ? 65504.f : 3.402823466e+38f);
    }
    static __host__ __device__ bool lt(T a, T b)
    {
        return a < b;
    }
    static __host__ __device__ bool le(T a, T b)
    {
        return a <= b;
    }
    static __host__ __device__ bool gt(T a, T b)
    {
        return a > b;
    }
    static __host__ __device__ bool ge(T a, T b)
    {
        return a >= b;
    }
    static __host__ __device__ bool eq(T a, T b)
    {
        return a == b;
    }
    static __host__ __device__ bool ne(T a, T b)
    {
        return a != b;
    }
    static __host__ __device__ T exp(T a)
    {
        return T(::exp(float(a)));
    }
    static __host__ __device__ T log(T a)
    {
        return T(::log(float(a)));
    }
    static __host__ __device__ T log1p(T a)
    {
        return T(::log1p(float(a)));
    }
    static __host__ __device__ T sqrt(T a)
    {
        return T(::sqrt(float(a)));
    }
    static __host__ __device__ T tanh(T a)
    {
        return T(::tanh(float(a)));
    }
    static __host__ __device__ T pow(T a, T b)
    {
        return T(::pow(float(a), float(b)));
    }
    static __host__ __device__ T abs(T a)
    {
        return a < T(0) ? -a : a;
    }
    static __host__ __device__ T neg(T a)
    {
        return -a;
    }
    static __host__ __device__ T add(T a, T b)
    {
        return a + b;
    }
    static __host__ __device__ T sub(T a, T b)
    {
        return a - b;
    }
    static __host__ __device__ T mul(T a, T b)
    {
        return a * b;
    }
    static __host__ __device__ T div(T a, T b)
    {
        return a / b;
    }
};

// for: ScalarConvert
template <typename From, typename To> struct ScalarConvert {
    static __host__ __device__ __forceinline__ To to(const From value)
    {
        return static_cast<To>(value);
    }
};

// for: __shfl_xor
template <typename T> __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32)
{
    return __shfl_xor_sync(__activemask(), value, mask, width);
}

// for: __shfl_down
template <typename T> __device__ __forceinline__ T __shfl_down(T value, unsigned int delta, int width = 32)
{
    return __shfl_down_sync(__activemask(), value, delta, width);
}

// for: __shfl_up
template <typename T> __device__ __forceinline__ T __shfl_up(T value, unsigned int delta, int width = 32)
{
    return __shfl_up_sync(__activemask(), value, delta, width);
}

// for: __shfl
template <typename T> __device__ __forceinline__ T __shfl(T value, int lane, int width = 32)
{
    return __shfl_sync(__activemask(), value, lane, width);
}

// for: __ballot
#define __ballot(condition) __ballot_sync(__activemask(), condition)

// for: __any
#define __any(condition) __any_sync(__activemask(), condition)

// for: __all
#define __all(condition) __all_sync(__activemask(), condition)

// for: cufftComplex cufftReal cufftDoubleComplex cufftDoubleReal
#include <cuComplex.h>
using cufftReal = float;
using cufftComplex = cuComplex;
using cufftDoubleReal = double;
using cufftDoubleComplex = cuDoubleComplex;

// for: WARP_SHFL_XOR
template <typename T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int mask, int width = 32, unsigned int members = 0xffffffff)
{
    return __shfl_xor_sync(members, value, mask, width);
}

// for: WARP_SHFL_DOWN
template <typename T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned int delta, int width = 32, unsigned int members = 0xffffffff)
{
    return __shfl_down_sync(members, value, delta, width);
}

// for: WARP_SHFL_UP
template <typename T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned int delta, int width = 32, unsigned int members = 0xffffffff)
{
    return __shfl_up_sync(members, value, delta, width);
}

// for: WARP_SHFL
template <typename T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = 32, unsigned int members = 0xffffffff)
{
    return __shfl_sync(members, value, lane, width);
}

// for: gpuAtomicAdd
template <typename T> __device__ __forceinline__ T gpuAtomicAdd(T *address, T value)
{
    return atomicAdd(address, value);
}

// for: gpuAtomicAddNoReturn fastAtomicAdd
template <typename T> __device__ __forceinline__ void gpuAtomicAddNoReturn(T *address, T value)
{
    atomicAdd(address, value);
}

// for: PackedTensorAccessor PackedTensorAccessor32 PackedTensorAccessor64 GenericPackedTensorAccessor TensorAccessor RestrictPtrTraits DefaultPtrTraits
#include <cstdint>
namespace at {
template <typename T> struct DefaultPtrTraits {
    using PtrType = T *;
};
template <typename T> struct RestrictPtrTraits {
    using PtrType = T *__restrict__;
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename index_t = int64_t>
struct TensorAccessor {
    T *data_;
    const index_t *sizes_, *strides_;
    __host__ __device__ index_t size(index_t i) const
    {
        return sizes_[i];
    }
    __host__ __device__ index_t stride(index_t i) const
    {
        return strides_[i];
    }
    __host__ __device__ T *data() const
    {
        return data_;
    }
    __host__ __device__ decltype(auto) operator[](index_t i) const
    {
        if constexpr (N == 1)
            return (data_[strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, Traits, index_t>{data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
    }
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename index_t = int64_t>
struct GenericPackedTensorAccessor {
    T *data_;
    index_t sizes_[N], strides_[N];
    __host__ __device__ index_t size(index_t i) const
    {
        return sizes_[i];
    }
    __host__ __device__ index_t stride(index_t i) const
    {
        return strides_[i];
    }
    __host__ __device__ T *data() const
    {
        return data_;
    }
    __host__ __device__ decltype(auto) operator[](index_t i) const
    {
        return TensorAccessor<T, N, Traits, index_t>{data_, sizes_, strides_}[i];
    }
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, index_t>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
} // namespace at

// for: THCDeviceTensor
template <typename T, int Dim, typename IndexT = int> struct THCDeviceSubTensor {
    T *data_;
    const IndexT *size_, *stride_;
    __host__ __device__ IndexT getSize(int i) const
    {
        return size_[i];
    }
    __host__ __device__ T *data() const
    {
        return data_;
    }
    template <typename X> __host__ __device__ X *dataAs() const
    {
        return (X *)data_;
    }
    template <typename X> __host__ __device__ X ldgAs() const
    {
        return *(const X *)data_;
    }
    __host__ __device__ auto operator[](IndexT i) const
    {
        return THCDeviceSubTensor<T, Dim - 1, IndexT>{data_ + stride_[0] * i, size_ + 1, stride_ + 1};
    }
};
template <typename T, typename IndexT> struct THCDeviceSubTensor<T, 0, IndexT> {
    T *data_;
    const IndexT *size_, *stride_;
    __host__ __device__ T *data() const
    {
        return data_;
    }
    __host__ __device__ operator T &() const
    {
        return *data_;
    }
    __host__ __device__ T ldg() const
    {
        return *data_;
    }
    template <typename X> __host__ __device__ X &as() const
    {
        return *(X *)data_;
    }
    template <typename X> __host__ __device__ X *dataAs() const
    {
        return (X *)data_;
    }
    template <typename X> __host__ __device__ X ldgAs() const
    {
        return *(const X *)data_;
    }
    __host__ __device__ T &operator=(T x) const
    {
        return *data_ = x;
    }
    __host__ __device__ T &operator=(const THCDeviceSubTensor &x) const
    {
        return *data_ = *x.data_;
    }
    template <typename X> __host__ __device__ T &operator+=(X x) const
    {
        return *data_ = *data_ + T(x);
    }
    template <typename X> __host__ __device__ T &operator-=(X x) const
    {
        return *data_ = *data_ - T(x);
    }
    template <typename X> __host__ __device__ T &operator*=(X x) const
    {
        return *data_ = *data_ * T(x);
    }
    template <typename X> __host__ __device__ T &operator/=(X x) const
    {
        return *data_ = *data_ / T(x);
    }
};
template <typename T, int Dim, typename IndexT = int> struct THCDeviceTensor {
    T *data_;
    IndexT size_[Dim], stride_[Dim];
    __host__ __device__ IndexT getSize(int i) const
    {
        return size_[i];
    }
    __host__ __device__ IndexT size(int i) const
    {
        return size_[i];
    }
    __host__ __device__ IndexT shape(int i) const
    {
        return size_[i];
    }
    __host__ __device__ IndexT extent(int i) const
    {
        return size_[i];
    }
    __host__ __device__ IndexT getStride(int i) const
    {
        return stride_[i];
    }
    __host__ __device__ T *data() const
    {
        return data_;
    }
    __host__ __device__ IndexT numElements() const
    {
        IndexT n = 1;
        for (int i = 0; i < Dim; i++)
            n *= size_[i];
        return n;
    }
    __host__ __device__ auto operator[](IndexT i) const
    {
        return THCDeviceSubTensor<T, Dim, IndexT>{data_, size_, stride_}[i];
    }
};

// for: TensorInfo IndexToOffset
namespace at {
namespace cuda {
namespace detail {
template <typename T, typename IndexType> struct TensorInfo {
    T *data;
    IndexType sizes[25], strides[25];
    int dims;
};
template <typename T, typename IndexType, int Dims> struct IndexToOffset {
    static __host__ __device__ IndexType get(IndexType linear, const TensorInfo<T, IndexType> &info)
    {
        IndexType offset = 0;
        for (int i = (Dims > 0 ? Dims : info.dims) - 1; i > 0; i--) {
            offset += linear % info.sizes[i] * info.strides[i];
            linear /= info.sizes[i];
        }
        return offset + linear * info.strides[0];
    }
};
} // namespace detail
} // namespace cuda
} // namespace at

// for: thrust::
namespace thrust {
template <typename A, typename B> struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
};
template <typename A, typename B> __host__ __device__ constexpr pair<A, B> make_pair(A first, B second)
{
    return {first, second};
}
} // namespace thrust

// for: plain_function
struct plain_function {
    template <typename A> __host__ __device__ A operator()(A a) const
    {
        return a;
    }
    template <typename A, typename B> __host__ __device__ A operator()(A a, B b) const
    {
        return a + b;
    }
    template <typename A, typename B, typename C> __host__ __device__ A operator()(A a, B b, C c) const
    {
        return a + b + c;
    }
    template <typename A, typename B, typename C, typename D> __host__ __device__ A operator()(A a, B b, C c, D d) const
    {
        return a + b + c + d;
    }
    template <typename A> __host__ __device__ void operator()(A *a) const
    {
        *a = *a + A(1);
    }
    template <typename A, typename B> __host__ __device__ void operator()(A *a, B *b) const
    {
        *a = *b;
    }
    template <typename A, typename B, typename C> __host__ __device__ void operator()(A *a, B *b, C *c) const
    {
        *a = *b + *c;
    }
};

// for: CUDA_1D_KERNEL_LOOP
#define CUDA_1D_KERNEL_LOOP(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

// for: CUDA_1D_KERNEL_LOOP_T
#define CUDA_1D_KERNEL_LOOP_T(type, i, n) \
    for (type i = (type)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (type)blockDim.x * gridDim.x)

// for: C10_LIKELY C10_UNLIKELY
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)

// for: TORCH_DSA_KERNEL_ARGS
#define TORCH_DSA_KERNEL_ARGS int

// for: int8
using int8 = int8_t;

// for: int16
using int16 = int16_t;

// for: int32
using int32 = int32_t;

// for: int64
using int64 = int64_t;

// for: uint8
using uint8 = uint8_t;

// for: uint16
using uint16 = uint16_t;

// for: uint32
using uint32 = uint32_t;

// for: uint64
using uint64 = uint64_t;

// for: float32
using float32 = float;

// for: float64
using float64 = double;
