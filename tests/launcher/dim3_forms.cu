// Every way to make a dim3 and to reach its members.
__global__ void k(unsigned a, unsigned b)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    dim3 a(n, 2), b{3, 4, 5}, c = dim3(6), d = {7, 8}, e, f = n;
    const dim3 g(a.x + 1, b.y, c.z);
    e.x = 9;
    e.y += 2;
    e.z = e.x > 1 ? 4 : 1;
    k<<<a, b, 0, stream>>>(c.x, d.z);
    k<<<e, f, 0, stream>>>(g.x, g.y);
    k<<<dim3(n, n), dim3{32u, 2u}, 0, stream>>>(dim3(5, 6).y, 0);
    k<<<{2, 3}, {4}, 0, stream>>>(0, 0);
    e = dim3(1);
    e = a;
    k<<<e, e.y, 0, stream>>>(0, 0);
}

// run: n=16
// launch k (16,2,1) (3,4,5) 0 [6:u32, 1:u32]
// launch k (9,3,4) (16,1,1) 0 [17:u32, 4:u32]
// launch k (16,16,1) (32,2,1) 0 [6:u32, 0:u32]
// launch k (2,3,1) (4,1,1) 0 [0:u32, 0:u32]
// launch k (16,2,1) (2,1,1) 0 [0:u32, 0:u32]
