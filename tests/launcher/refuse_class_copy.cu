// A copy that leaves a member out is more than the members copied.
struct Rows {
    Rows() : length(1), more(2)
    {
    }
    Rows(const Rows &other) : length(other.length), more(0)
    {
    }
    int length, more;
};

__global__ void k(Rows x)
{
}

extern "C" void go(int n, cudaStream_t s)
{
    Rows x;
    k<<<1, 1, 0, s>>>(x);
}

// run: n=5
// error 18:10 launcher: a variable of type Rows, of which a constructor, a copy or its end is not understood; make a plain struct of it, and give the values where the variable is declared
