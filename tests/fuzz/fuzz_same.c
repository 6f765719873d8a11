/* Two texts of PTX, any bytes, an 0x1e between them: the same or not, either way round; a text is itself. */
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = memchr(data, 0x1e, size);
    size_t n = cut ? (size_t)(cut - data) : size;
    const struct ptx_text x = {(const char *)data, n},
                          y = cut ? (struct ptx_text){(const char *)cut + 1, size - n - 1} : x;
    const struct ptx_kernel_pair pair = {"k", "k"};
    bool same = ptx_same(&x, &y, &pair, 1);

    BUG_IF(same != ptx_same(&y, &x, &pair, 1));
    if (same)
        BUG_IF(!ptx_same(&x, &x, &pair, 1) || !ptx_same(&y, &y, &pair, 1));
    return 0;
}
