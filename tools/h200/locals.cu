// What a thread's own array costs that PTX keeps in local memory: a walk through it, each element read and the one before it
// stored there, by how many warps do so on how many SMs. `locals OUT.csv` writes group,name,parameter,value,unit as micro does.
#include "figures.cuh"
#include <cstdint>

// Walks `length` places of an array of its own, `rounds` times; the next place waits for what was read. What is stored goes
// where it was read (1), far from it (2) or nowhere (0). Between rounds a word may come from and go to global memory, each
// lane's `pitch` bytes from its neighbour's.
template <typename T, int STORES> __global__ void walk(uint8_t *global, int length, int rounds, int pitch, long long *cycles)
{
    T list[256];
    for (int k = 0; k < 256; k++)
        list[k] = (T)(k & global[0]); // zeros, which nobody knows
    uint8_t *own = global + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * pitch;
    __syncthreads();
    long long start = ticks();
    T here = list[0];
    for (int r = 0; r < rounds; r++) {
        int at = pitch ? own[r] : 0;
        for (int i = 0; i < length; i++) {
            at++;
            T next = list[at];
            if (STORES)
                list[STORES == 1 ? at : at ^ 128] = here;
            here = next;
            at += here;
        }
        list[0] = here;
        if (pitch)
            own[r] = here;
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        cycles[0] = ticks() - start;
    cycles[1] = here;
}

template <typename T, int STORES> static void row(const char *name, uint8_t *global, int blocks, int threads, int length, int pitch)
{
    int rounds = 64;
    std::string where = std::to_string(blocks) + " blocks of " + std::to_string(threads) + "; " + std::to_string(length) + " places; " + std::to_string(pitch) + " bytes apart";
    CUDA(cudaMemset(global, 0, 80 << 20));
    put("walk", name, where, cycles_of([&] { walk<T, STORES><<<blocks, threads, 0, gpu_clock.stream>>>(global, length, rounds, pitch, device_cycles); }) / rounds / length, "cycles");
}

static void measure()
{
    uint8_t *global;
    CUDA(cudaMalloc((void **)&global, 80 << 20));
    for (int blocks : {1, 16, 132})
        for (int threads : {32, 64, 256, 1024})
            for (int length : {24, 96})
                for (int pitch : {0, 128, 512}) {
                    row<uint8_t, 0>("bytes", global, blocks, threads, length, pitch);
                    row<uint8_t, 1>("bytes, stored in place", global, blocks, threads, length, pitch);
                    row<uint8_t, 2>("bytes, stored elsewhere", global, blocks, threads, length, pitch);
                    row<uint32_t, 1>("words, stored in place", global, blocks, threads, length, pitch);
                }
}

int main(int argc, char **argv)
{
    return write_figures(argc, argv, "locals", measure);
}
