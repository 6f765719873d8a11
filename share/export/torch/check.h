// What must hold before the kernel is launched. OP_NAME is the operator's name, for messages.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <string>

namespace astra_op { // apart from a launcher of any name

// A dim, or what is computed from dims: 64 bits, whose overflow is an error and no other number.
struct Int {
    int64_t value = 0;

    Int() = default;
    Int(int64_t v) : value(v) {}
    explicit operator bool() const { return value != 0; }
};

inline Int checked(bool failed, const int64_t &v)
{
    TORCH_CHECK(!failed, OP_NAME ": a shape has an extent that no 64-bit number holds");
    return v;
}

inline Int operator+(Int a, Int b)
{
    int64_t v = 0;
    return checked(__builtin_add_overflow(a.value, b.value, &v), v);
}

inline Int operator-(Int a, Int b)
{
    int64_t v = 0;
    return checked(__builtin_sub_overflow(a.value, b.value, &v), v);
}

inline Int operator*(Int a, Int b)
{
    int64_t v = 0;
    return checked(__builtin_mul_overflow(a.value, b.value, &v), v);
}

inline void check_divides(Int a, Int b)
{
    checked(b.value == 0 || (b.value == -1 && a.value == std::numeric_limits<int64_t>::min()), 0);
}

inline Int operator/(Int a, Int b)
{
    check_divides(a, b);
    return a.value / b.value;
}

inline Int operator%(Int a, Int b)
{
    check_divides(a, b);
    return a.value % b.value;
}

inline Int operator-(Int a) { return Int(0) - a; }
inline bool operator<(Int a, Int b) { return a.value < b.value; }
inline bool operator<=(Int a, Int b) { return a.value <= b.value; }
inline bool operator>(Int a, Int b) { return a.value > b.value; }
inline bool operator>=(Int a, Int b) { return a.value >= b.value; }
inline bool operator==(Int a, Int b) { return a.value == b.value; }
inline bool operator!=(Int a, Int b) { return a.value != b.value; }
inline Int min(Int a, Int b) { return a < b ? a : b; }
inline Int max(Int a, Int b) { return a < b ? b : a; }

// A message, joined here and by no stream: a compiler that links the C++ library statically gives the extension locales of
// its own, and numbers written to a stream then crash inside PyTorch.
inline std::string said(const std::string &name, const std::string &words) { return OP_NAME ": " + name + words; }

inline std::string text(double v)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%.9g", v);
    return digits;
}

inline std::string text(at::IntArrayRef extents)
{
    std::string s;

    for (int64_t extent : extents)
        s += (s.empty() ? "[" : ", ") + std::to_string(extent);
    return (s.empty() ? "[" : s) + "]";
}

inline void check_rank(const char *name, const at::Tensor &t, int64_t rank)
{
    TORCH_CHECK(t.dim() == rank, said(name, " must have " + std::to_string(rank) + " dimensions, not " + std::to_string(t.dim())));
}

inline void check_holds(bool holds, const char *words)
{
    TORCH_CHECK(holds, said("the kernel was verified where ", std::string(words) + ", and this shape is outside"));
}

inline void check_tensor(const char *name, const at::Tensor &t, c10::Device device, at::ScalarType type,
                         std::initializer_list<Int> shape, const char *words)
{
    bool same = t.dim() == static_cast<int64_t>(shape.size());
    int64_t axis = 0;

    TORCH_CHECK(t.device() == device, said(name, " is on " + t.device().str() + ", others are on " + device.str()));
    TORCH_CHECK(t.scalar_type() == type,
                said(name, std::string(" must be of type ") + c10::toString(type) + ", not " + c10::toString(t.scalar_type())));
    for (Int extent : shape)
        same = same && t.size(axis++) == extent.value;
    TORCH_CHECK(same, said(name, " has the shape " + text(t.sizes()) + " where " + words + " is expected"));
    TORCH_CHECK(t.is_contiguous(), said(name, " must be contiguous; contiguous() makes it so"));
}

// Tensors of which one is written may not overlap: the kernel was verified on tensors apart.
inline void check_apart(const char *name_a, const at::Tensor &a, const char *name_b, const at::Tensor &b)
{
    const auto *start_a = static_cast<const char *>(a.const_data_ptr()), *start_b = static_cast<const char *>(b.const_data_ptr());

    TORCH_CHECK(start_a + a.nbytes() <= start_b || start_b + b.nbytes() <= start_a,
                said(name_a, std::string(" and ") + name_b + " overlap, and one of them is written"));
}

inline void check_number(double given, std::initializer_list<double> verified, const char *name)
{
    std::string list;

    for (double v : verified) {
        if (given == v)
            return;
        list += (list.empty() ? "" : " or ") + text(v);
    }
    TORCH_CHECK(false, said("the kernel was verified with ",
                            std::string(name) + " = " + list + " only, not " + text(given)));
}

template <typename T> T fit(Int v, const char *name)
{
    const T narrow = static_cast<T>(v.value);

    TORCH_CHECK((v.value >= 0) == (narrow >= T(0)) && v.value == static_cast<int64_t>(narrow),
                said(name, " = " + std::to_string(v.value) + " does not fit the launcher's parameter"));
    return narrow;
}

inline int64_t bytes_past(const at::Tensor &t, int64_t align)
{
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.const_data_ptr()) % static_cast<uintptr_t>(align));
}

// A new tensor that begins at a multiple of `align` bytes, itself a multiple of an element's.
inline at::Tensor room(at::IntArrayRef shape, const at::TensorOptions &options, int64_t align)
{
    const auto size = static_cast<int64_t>(options.dtype().itemsize());
    const int64_t n = c10::multiply_integers(shape);
    const at::Tensor all = at::empty({n + align / size}, options);
    const int64_t past = bytes_past(all, align);

    return all.narrow(0, past ? (align - past) / size : 0, n).view(shape);
}

// A tensor at an address that the kernel was verified for: itself, or, as with most slices, a copy of it, which is written
// back where the kernel writes. Wide accesses at any other address would be faults.
class Placed
{
  public:
    Placed(const char *name, const at::Tensor &t, int64_t align) : given(t), used(t)
    {
        if (bytes_past(t, align) == 0)
            return;
        TORCH_WARN_ONCE(said(name, " begins at no multiple of " + std::to_string(align) +
                                       " bytes, as the kernel was verified for, and is copied at each call. README.md says "
                                       "what to do."));
        used = room(t.sizes(), t.options(), align);
        used.copy_(t);
    }

    void write_back() const
    {
        if (!used.is_same(given))
            given.copy_(used);
    }

    template <typename T> T *written() const { return static_cast<T *>(used.mutable_data_ptr()); }
    template <typename T> const T *read() const { return static_cast<const T *>(used.const_data_ptr()); }

  private:
    at::Tensor given, used;
};

} // namespace astra_op
