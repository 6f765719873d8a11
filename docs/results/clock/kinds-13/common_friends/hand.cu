#include <cuda_runtime.h>
// A warp a pair: the other's friends go to shared memory, and each lane looks for its friends of the one by halving.
__global__ void __launch_bounds__(128)
    meet(int *__restrict__ common, const int *__restrict__ friends, const int *__restrict__ one,
         const int *__restrict__ other, int n, int degree, int half)
{
    __shared__ int list[4][512];
    int i = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (i >= n)
        return;
    const int *mine = friends + (long long)one[i] * degree, *theirs = friends + (long long)other[i] * degree;
    int *known = list[threadIdx.x >> 5];
    for (int k = lane; k < degree; k += 32)
        known[k] = theirs[k];
    __syncwarp();
    int count = 0;
    for (int k = lane; k < degree; k += 32) {
        int who = mine[k], below = 0;
        for (int step = half; step > 0; step >>= 1)
            if (below + step <= degree && known[below + step - 1] < who)
                below += step;
        count += below < degree && known[below] == who;
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (lane == 0)
        common[i] = count;
}
extern "C" void common_friends(int *common, const int *friends, const int *one, const int *other, int n, int people,
                               int degree, cudaStream_t stream)
{
    int half = 1;
    while (half * 2 <= degree)
        half *= 2;
    meet<<<(n + 3) / 4, 128, 0, stream>>>(common, friends, one, other, n, degree, half);
}
