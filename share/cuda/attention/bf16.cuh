// Bfloat16 numbers: sums += x y for 16 x 16 by 16 x 8, and two numbers beside each other.
__device__ __forceinline__ void attention_add(float (&sums)[4], const unsigned int (&x)[4], unsigned int y0,
                                              unsigned int y1, const __nv_bfloat16 *)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}

__device__ __forceinline__ unsigned int attention_pair(float low, float high, const __nv_bfloat16 *)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned int *>(&both);
}
