#include <cuda_runtime.h>
// How often a pattern stands in each string of a database's column (the strings lie end to end, `start` says where).
// A thread a string.
__global__ void search(int *hits, const unsigned char *text, const int *start, const unsigned char *pattern, int rows,
                       int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int count = 0;
    for (int at = start[row]; at + m <= start[row + 1]; at++) {
        int k = 0;
        while (k < m && text[at + k] == pattern[k])
            k++;
        if (k == m)
            count++;
    }
    hits[row] = count;
}
extern "C" void like_count(int *hits, const unsigned char *text, const int *start, const unsigned char *pattern,
                           int rows, int bytes, int m, cudaStream_t stream)
{
    search<<<(rows + 127) / 128, 128, 0, stream>>>(hits, text, start, pattern, rows, m);
}
