// Launches of many rounds of short blocks: what a round takes by the block's size, by how many blocks an SM holds, by what a
// thread loads and stores, with and without a barrier. `rounds OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

static char *pool;
static const size_t POOL = (size_t)8 << 30;

enum { LOAD = 1, STORE = 2, BARRIER = 4, TWICE = 8 };

// A thread loads a value of each of two arrays (one for TWICE absent), and stores their sum.
template <typename T, int KIND> __global__ void short_block(T *to, const T *a, const T *b)
{
    extern __shared__ char room[];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    T v = (T)i;
    if (KIND & LOAD)
        v = a[i];
    if (KIND & TWICE)
        v = v + b[i];
    if (KIND & BARRIER)
        __syncthreads();
    if (KIND & STORE)
        to[i] = v;
    else if (v == (T)77)
        room[0] = 1;
}

template <typename T, int KIND> static void rounds(const char *name, int threads, int resident, size_t blocks, bool hot)
{
    cudaStream_t s = gpu_clock.stream;
    size_t bytes = blocks * threads * sizeof(T), shared = resident ? (size_t)(227 << 10) / resident - 1024 : 0;
    CUDA(cudaFuncSetAttribute(short_block<T, KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    auto at = [&](int i, int q) { return (T *)(pool + (hot ? (size_t)q : (size_t)(i % 4 * 3 + q)) * ((size_t)640 << 20)); };
    double us = median_us(4, [&](int i) { short_block<T, KIND><<<(unsigned)blocks, threads, shared, s>>>(at(i, 0), at(i, 1), at(i, 2)); });
    put("rounds", name, std::to_string(sizeof(T)) + " B; " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + (resident ? "; " + std::to_string(resident) + " an SM" : std::string("")) + (hot ? "; L2" : "; DRAM"), us, "us");
    (void)bytes;
}

template <typename T> static void all(int threads, int resident, size_t blocks, bool hot)
{
    rounds<T, LOAD>("load", threads, resident, blocks, hot);
    rounds<T, STORE>("store", threads, resident, blocks, hot);
    rounds<T, LOAD | STORE>("load, store", threads, resident, blocks, hot);
    rounds<T, LOAD | TWICE | STORE>("two loads, store", threads, resident, blocks, hot);
    rounds<T, LOAD | BARRIER | STORE>("load, barrier, store", threads, resident, blocks, hot);
}

static void measure()
{
    CUDA(cudaMalloc((void **)&pool, POOL));
    CUDA(cudaMemset(pool, 1, POOL));

    for (int threads : {128, 256, 512, 1024}) {
        size_t blocks = (size_t)sms * 2048 / threads * 40; // forty rounds
        all<uint16_t>(threads, 0, blocks, false);
        all<float>(threads, 0, blocks, false);
        all<unsigned long long>(threads, 0, blocks, false);
    }
    for (int threads : {256, 1024})
        for (int resident : {1, 2, 4})
            if (resident * threads < 2048) {
                size_t blocks = (size_t)sms * resident * 40;
                all<uint16_t>(threads, resident, blocks, false);
                all<float>(threads, resident, blocks, false);
            }
    for (int threads : {256, 1024}) { // eight rounds, that stay in the L2
        size_t blocks = (size_t)sms * 2048 / threads * 8;
        all<uint16_t>(threads, 0, blocks, true);
        all<float>(threads, 0, blocks, true);
    }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "rounds", measure);
}
