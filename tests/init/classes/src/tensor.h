// A tensor class of a framework's own, its dispatch over types and its checks.
#pragma once
#include <cuda_fp16.h>
#include <memory>
#include <vector>

struct __half;

#if defined(__CUDA_ARCH__)
#define TINY_UNROLL #pragma unroll
#else
#define TINY_UNROLL
#endif

namespace tiny
{

using half_t = __half;
enum class DataType { kFloat16, kFloat32 };
template <class T> inline constexpr DataType data_type_v = DataType::kFloat32;
template <> inline constexpr DataType data_type_v<half_t> = DataType::kFloat16;

class Tensor
{
  public:
    const std::vector<long> &shape() const
    {
        return shape_;
    }
    long shape(int i) const
    {
        return shape_.at(i);
    }
    long size() const;
    int ndim() const
    {
        return shape_.size();
    }
    DataType dtype() const
    {
        return dtype_;
    }
    void *raw_data()
    {
        return data_.get();
    }

  private:
    std::vector<long> shape_;
    std::shared_ptr<void> data_;
    DataType dtype_;
};

struct FailedCheck {
    FailedCheck(const char *file, int line, const char *words);
};
struct Compared {
    bool failed;
    const char *words;
};
Compared CheckEqualImpl_EQImpl(long a, long b);

} // namespace tiny

#define TINY_CHECK(e)              \
    if (__builtin_expect(!(e), 0)) \
    tiny::FailedCheck(__FILE__, __LINE__, #e)
#define TINY_CHECK_EQ(a, b)                                                 \
    if (auto &&[failed, words] = tiny::CheckEqualImpl_EQImpl(a, b); failed) \
    tiny::FailedCheck(__FILE__, __LINE__, words)
#define TINY_CUDA_CHECK(call)                                       \
    do {                                                            \
        if (auto error = (call); error != cudaSuccess) {            \
            tiny::FailedCheck(__FILE__, __LINE__, "a call failed"); \
        }                                                           \
    } while (0)
#define TINY_CASE(f, t)        \
    case tiny::data_type_v<t>: \
        f(t{});                \
        break
#define TINY_DISPATCH(type, f)       \
    switch (type) {                  \
        TINY_CASE(f, tiny::half_t);  \
        TINY_CASE(f, float);         \
    default:                         \
        TINY_CHECK(!"no such type"); \
    }
