// File-scope constants, enumerators, tables, constants of structs, in any order of use and in namespaces.
namespace config {
constexpr int THREADS = 4 * 32;
static const float SCALES[] = {0.5f, 2.0f};
enum { WARPS = THREADS / 32, NEXT };
} // namespace config
const int ROWS = config::NEXT + 1;
#define LIMIT (ROWS * 2)
template <typename T> struct Traits {
    static constexpr int bytes = sizeof(T);
    static constexpr int per_load = 16 / bytes;
};
using namespace config;

__global__ void k(int a, int b, float c, int d)
{
}

extern "C" void go(float *p, int i, cudaStream_t stream)
{
    k<<<ROWS, THREADS, 0, stream>>>(WARPS, LIMIT, config::SCALES[i], Traits<double>::per_load);
}

// run: i=1
// launch k (6,1,1) (128,1,1) 0 [4:i32, 12:i32, 2:f32, 2:i32]
