#include <cuda_runtime.h>
// For pairs of people in a network, how many of the one's friends the other has, too (links are foretold by it). The
// friends of each are sorted; a thread a pair goes along both lists.
__global__ void meet(int *common, const int *friends, const int *one, const int *other, int n, int degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count = 0, j = 0;
    for (int k = 0; k < degree; k++) {
        int who = friends[(long long)one[i] * degree + k];
        while (j < degree && friends[(long long)other[i] * degree + j] < who)
            j++;
        if (j < degree && friends[(long long)other[i] * degree + j] == who)
            count++;
    }
    common[i] = count;
}
extern "C" void common_friends(int *common, const int *friends, const int *one, const int *other, int n, int people,
                               int degree, cudaStream_t stream)
{
    meet<<<(n + 127) / 128, 128, 0, stream>>>(common, friends, one, other, n, degree);
}
