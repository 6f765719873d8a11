extern "C" void sort(uint *keys_out, uint *values_out, uint *keys, uint *values, int batch, int length, cudaStream_t stream)
{
    const int blocks = batch * length / 1024;
    bitonicSortShared<<<blocks, 512, 0, stream>>>(keys_out, values_out, keys, values, length, 1);
}
