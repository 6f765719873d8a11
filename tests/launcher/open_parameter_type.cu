struct Shape {
    int rows, cols;
};
extern "C" void go(float *p, const Shape *shape, cudaStream_t stream)
{
}

// open-error 4:30 parameter shape of the launcher has type const Shape *; allowed are
