// Plain structs by value: lists, members one by one, copies, nested, in templates.
struct Shape {
    int rows, cols;
};

template <typename T> struct Params {
    const T *in;
    T *out;
    Shape shape;
    float scale;
    short strides[3];
    bool causal;
};

struct Twice {
    __device__ float operator()(float x) const
    {
        return 2 * x;
    }
};

template <typename P, typename F> __global__ void k(P params, F f)
{
}

__global__ void plain(Shape shape, long n)
{
}

static Shape transposed(const Shape &s)
{
    return Shape{s.cols, s.rows};
}

static void fill(Params<float> *p, int rows)
{
    p->shape.rows = rows;
    p->strides[1] = 7;
}

extern "C" void go(float *out, const float *in, int rows, int cols, float s, cudaStream_t stream)
{
    Params<float> p = {in, out + 1, {rows, cols}, s};
    k<<<p.shape.rows, 32, 0, stream>>>(p, Twice{});
    Params<float> q;
    q = p;
    fill(&q, p.shape.cols * 2);
    q.causal = true;
    k<Params<float>, Twice><<<1, 32, 0, stream>>>(q, Twice());
    auto shape = transposed(p.shape);
    plain<<<shape.rows, 32, 0, stream>>>(shape, sizeof(Params<float>));
    plain<<<1, 32, 0, stream>>>({shape.rows + 1, 2}, 0);
    Shape one;
    one.cols = 5;
    void *args[] = {&one, &rows};
    (void)args;
    plain<<<1, 32, 0, stream>>>(one, sizeof(Shape));
}

// run: rows=3 cols=4 s=0.5
// launch k<Params<float>, Twice> (3,1,1) (32,1,1) 0 [{40 @0=in @8=out+4 @16=3:i32 @20=4:i32 @24=0.5:f32 @28=0:i16 @30=0:i16 @32=0:i16 @34=0:bool}, {1}]
// launch k<Params<float>, Twice> (1,1,1) (32,1,1) 0 [{40 @0=in @8=out+4 @16=8:i32 @20=4:i32 @24=0.5:f32 @28=0:i16 @30=7:i16 @32=0:i16 @34=1:bool}, {1}]
// launch plain (4,1,1) (32,1,1) 0 [{8 @0=4:i32 @4=3:i32}, 40:i64]
// launch plain (1,1,1) (32,1,1) 0 [{8 @0=5:i32 @4=2:i32}, 0:i64]
// launch plain (1,1,1) (32,1,1) 0 [{8 @4=5:i32}, 8:i64]
