// sums += x y for 16 x 32 by 32 x 8 bytes.
__device__ __forceinline__ void mma_add(int (&sums)[4], const unsigned int (&x)[4], const unsigned int (&y)[2],
                                        const signed char *)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
