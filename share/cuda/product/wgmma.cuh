// sums += x y for 64 x 16 by 16 x {{n}} elements, by a warpgroup; x and y say where they lie in shared memory, TURNED
// that neighbours there are neighbours along rows or columns.
template <>
struct mma_group<{{eights}}, {{element}}> {
    template <bool X_TURNED, bool Y_TURNED>
    static __device__ __forceinline__ void add(float (&sums)[{{eights}}][4], unsigned long long x, unsigned long long y)
    {
        asm volatile("{ .reg .pred adds; setp.eq.u32 adds, 0, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n{{n}}k16.f32.{{type}}.{{type}}\n"
                     "{{{registers}}},\n"
                     "%{{x}}, %{{y}}, adds, 1, 1, %{{x_turned}}, %{{y_turned}}; }"
                     : {{operands}}
                     : "l"(x), "l"(y), "n"(X_TURNED ? 1 : 0), "n"(Y_TURNED ? 1 : 0));
    }
};
