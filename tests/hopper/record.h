/* record: writes down what a program that is built on the CUDA runtime launches, so that the simulator can do
 * it again (run_recorded.c). The program is linked with --wrap for the functions below that begin with __wrap_.
 * Without a GPU nothing runs: buffers have made-up addresses and the launches are written down all the same.
 *
 * A case is a folder: case.txt, and for each buffer NAME.before (what it held; without: nobody had written it),
 * NAME.after (what a GPU left) and NAME.want (what a reference on the host computes). case.txt has the lines
 *
 *     buffer NAME ADDRESS BYTES
 *     want NAME f16|f32 BOUND        no element may be further from NAME.want than BOUND; 0: equal as numbers
 *     map BYTES TYPE ADDRESS RANK SWIZZLE INTERLEAVE PROMOTION FILL SIZES... STRIDES... BOX... STEPS...
 *     launch KERNEL grid X Y Z block X Y Z cluster X Y Z shared BYTES [programmatic]
 *     param BYTES                    of the launch ahead, in order
 *
 * with bytes in hexadecimal and numbers in decimal. A parameter's words that lie in a buffer are pointers, and
 * its bytes that are those of a map are a tensor map. */
#ifndef HOPPER_RECORD_H
#define HOPPER_RECORD_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace record
{

/* record PTX OUT: as the program's arguments. Exits when they are not. */
void open(int argc, char **argv);

/* A case of this name begins; the one before is forgotten. */
void begin(const char *name);

/* Memory of the device. before: what is in it, or NULL: nothing. */
void *buffer(const char *name, size_t bytes, const void *before);

template <class T> T *buffer(const char *name, const std::vector<T> &before)
{
    return static_cast<T *>(buffer(name, before.size() * sizeof(T), before.data()));
}

void want(const char *name, const char *type, const void *values, size_t bytes, double bound);

/* The launches are done: writes the case. */
void end();

/* The same numbers everywhere: whole multiples of 1/8 between -1 and 1, so that sums of products are exact. */
class numbers
{
  public:
    explicit numbers(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1)
    {
    }
    uint32_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state >> 33);
    }
    float eighth()
    {
        return static_cast<float>(static_cast<int>(next() % 17) - 8) / 8;
    }
    float any() /* between -1 and 1 */
    {
        return static_cast<float>(static_cast<int>(next() % 2000001) - 1000000) / 1000000;
    }

  private:
    uint64_t state;
};

} // namespace record

#endif
