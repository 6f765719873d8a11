// The dispatch macros of large libraries: a lambda called at once, constants inside it, templates chosen by them.
#include <type_traits>

#define BOOL_SWITCH(CONDITION, NAME, ...)     \
    [&] {                                     \
        if (CONDITION) {                      \
            constexpr static bool NAME = true;  \
            return __VA_ARGS__();             \
        } else {                              \
            constexpr static bool NAME = false; \
            return __VA_ARGS__();             \
        }                                     \
    }()

template <bool EVEN, bool WIDE> __global__ void k(float *p, int n)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    BOOL_SWITCH(n % 2 == 0, kEven, [&] {
        BOOL_SWITCH(n > 100, kWide, [&] {
            auto kernel = &k<kEven, kWide>;
            kernel<<<1, 128, 0, stream>>>(p, n);
        });
    });
}

// run: n=7
// launch k<false, false> (1,1,1) (128,1,1) 0 [p, 7:i32]
// run: n=200
// launch k<true, true> (1,1,1) (128,1,1) 0 [p, 200:i32]
