// One of the file's operators takes the enumeration.
enum class Mode { ADD, MULTIPLY };

inline bool operator!=(Mode, const int)
{
    return false;
}

__global__ void k(int n)
{
}

extern "C" void go(int n, cudaStream_t stream)
{
    if (static_cast<Mode>(n) != Mode::ADD)
        k<<<1, 1, 0, stream>>>(1);
}

// run: n=1
// error 15:30 an operator on Mode, in a file that defines operators; name a function instead
