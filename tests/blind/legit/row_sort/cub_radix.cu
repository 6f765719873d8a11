// expect: correct
// CUB's radix sort of a row a block.
// A row a block by CUB's radix sort; beyond the end stand the largest integers.
#include <climits>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

template <int THREADS, int ITEMS> __global__ void __launch_bounds__(THREADS) sort_kernel(int *out, const int *in, int n) {
  using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
  using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } temp;
  long long row = (long long)blockIdx.x * n;
  int key[ITEMS];
  Load(temp.load).Load(in + row, key, n, INT_MAX);
  __syncthreads();
  Sort(temp.sort).Sort(key);
  __syncthreads();
  Store(temp.store).Store(out + row, key, n);
}

extern "C" void row_sort(int *out, const int *in, int rows, int n, cudaStream_t stream) {
  if (n <= 128) sort_kernel<64, 2><<<rows, 64, 0, stream>>>(out, in, n);
  else if (n <= 256) sort_kernel<128, 2><<<rows, 128, 0, stream>>>(out, in, n);
  else if (n <= 512) sort_kernel<128, 4><<<rows, 128, 0, stream>>>(out, in, n);
  else sort_kernel<256, 4><<<rows, 256, 0, stream>>>(out, in, n);
}
