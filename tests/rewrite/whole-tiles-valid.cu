// Tiles of bytes and halves with a count of valid items, one of several algorithms each.
// transform: whole-tiles 0
// applies: line 22
// has: if (!tile_load(&(in[first]), bytes, valid))
// has: Load(storage.load).Load(&(in[first]), bytes, valid, 0);
// has: if (!tile_store(out + first, halves, valid))
// has: #include <cstdint>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cuda_fp16.h>

template <typename T, int THREADS, int ITEMS> __global__ void widen(T *out, const unsigned char *in, int n)
{
    typedef cub::BlockLoad<unsigned char, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE> Load;
    using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_VECTORIZE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } storage;
    unsigned char bytes[ITEMS];
    const int first = blockIdx.x * THREADS * ITEMS, valid = min(THREADS * ITEMS, n - first);
    Load(storage.load).Load(&(in[first]), bytes, valid, 0);
    __syncthreads();
    T halves[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        halves[i] = (T)(float)bytes[i];
    Store(storage.store).Store(out + first, halves, valid);
}

extern "C" void entry(__half *out, const unsigned char *in, int n, cudaStream_t stream)
{
    widen<__half, 64, 8><<<(n + 511) / 512, 64, 0, stream>>>(out, in, n);
}
