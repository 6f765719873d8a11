#include <cuda_runtime.h>
// Two keys a thread. Both buckets of each are asked for at once, as vectors of eight bytes, and compared four bytes
// an instruction; only then are payloads read, those of the two keys together.
__device__ __forceinline__ int find(uint2 slots, unsigned remains)
{
    unsigned same = remains * 0x01010101u, a = __vcmpeq4(slots.x, same), b = __vcmpeq4(slots.y, same);
    int at = a ? __ffs(a) - 1 : b ? __ffs(b) + 31 : 64;
    return at >> 3;
}
__global__ void __launch_bounds__(64)
    probe(int2 *__restrict__ out, const uint2 *__restrict__ key, const uint2 *__restrict__ rest,
          const int *__restrict__ payload, int n, int buckets)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n)
        return;
    uint2 keys = key[i];
    unsigned one[2] = {keys.x, keys.y}, remains[4], bucket[4];
    uint2 slots[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned hash = k < 2 ? one[k & 1] * 2654435761u : (one[k & 1] ^ 0x5bd1e995u) * 2246822519u;
        bucket[k] = __umulhi(hash, buckets);
        remains[k] = hash * buckets >> 26;
        slots[k] = __ldg(rest + bucket[k]);
    }
    int row[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int slot = find(slots[k], remains[k]);
        row[k] = slot < 8 ? __ldg(payload + (long long)bucket[k] * 8 + slot) : -1;
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (row[k] == -1) {
            int slot = find(slots[k + 2], remains[k + 2]);
            if (slot < 8)
                row[k] = __ldg(payload + (long long)bucket[k + 2] * 8 + slot);
        }
    out[i] = make_int2(row[0], row[1]);
}
extern "C" void join_probe(int *out, const unsigned *key, const unsigned char *rest, const int *payload, int n,
                           int buckets, cudaStream_t stream)
{
    probe<<<(n / 2 + 63) / 64, 64, 0, stream>>>((int2 *)out, (const uint2 *)key, (const uint2 *)rest, payload, n / 2,
                                                buckets);
}
