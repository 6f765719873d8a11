// A program for tools/h200/replace.sh: layers of an activation, timed by itself. The kernel and its launcher are the
// example's own file. It prints a checksum of what it computed, and, without a second word, how many layers it ran a second.
#include KERNEL
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
    static const int shapes[][2] = {{16, 4096}, {64, 8192}, {4096, 14336}, {100, 5000}};
    const int steps = argc > 1 ? atoi(argv[1]) : 200;
    const size_t most = 4096ull * 14336;
    std::vector<__half> host(2 * most);
    cudaStream_t stream;
    __half *in, *out;
    unsigned sum = 0;

    for (size_t i = 0; i < host.size(); i++)
        host[i] = __float2half((float)(i * 2654435761u % 2048) / 512 - 2);
    cudaMalloc(&in, 2 * most * sizeof(*in));
    cudaMalloc(&out, most * sizeof(*out));
    cudaMemcpy(in, host.data(), 2 * most * sizeof(*in), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, most * sizeof(*out));
    cudaStreamCreate(&stream);
    for (auto &s : shapes)
        silu_and_mul(out, in, s[0], s[1], stream);
    cudaStreamSynchronize(stream);
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; i++)
        for (auto &s : shapes)
            silu_and_mul(out, in, s[0], s[1], stream);
    cudaStreamSynchronize(stream);
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cudaMemcpy(host.data(), out, most * sizeof(*out), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < most; i++)
        sum = sum * 31 + (unsigned)(__half2float(host[i]) * 64);
    fprintf(stdout, "%s, checksum %u\n", cudaGetErrorString(cudaGetLastError()), sum);
    if (argc < 3)
        fprintf(stdout, "layers/s: %.1f\n", 4 * steps / s);
    return 0;
}
