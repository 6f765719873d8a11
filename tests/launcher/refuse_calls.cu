// Calls that a launcher may not make, each with its reason; they count only where they are reached.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" void go(float *p, int which, cudaStream_t stream)
{
    if (which == 1)
        printf("hello\n");
    else if (which == 2)
        cudaDeviceSynchronize();
    else if (which == 3)
        throw std::runtime_error("no");
    else if (which == 4) {
        std::vector<int> sizes(3);
        sizes.push_back(4);
    } else if (which == 5)
        std::thread([] {}).join();
    else if (which == 6)
        cudaMemcpyAsync(p, &which, 4, cudaMemcpyHostToDevice, stream);
    else if (which == 7)
        cudaGraphInstantiate();
    else if (which == 8)
        p = new float[4];
    else if (which == 9)
        goto end;
    else if (which == 10) {
        try {
            which = 1;
        } catch (...) {
        }
    } else if (which == 11)
        asm("nop");
    else if (which == 12)
        cudaStreamSynchronize(stream);
end:
    return;
}

// run: which=0
// nothing
// run: which=1
// error 11:9 printf is not understood: a launcher prints nothing
// run: which=2
// error 13:9 cudaDeviceSynchronize is not understood: a launcher does not wait
// run: which=3
// error 15:9 launchers do not throw
// run: which=4
// error 17:9 the type std::vector is not known
// run: which=5
// error 20:9 host threads
// run: which=6
// error 22:39 a copy from or to the host
// run: which=7
// error 24:9 cudaGraphInstantiate is not understood; allowed are
// run: which=8
// error 26:13 not understood
// run: which=9
// error 28:9 not understood
// run: which=10
// error 30:9 not understood
// run: which=11
// error 35:9 not understood
// run: which=12
// error 37:9 cudaStreamSynchronize is not understood
