/* tensor_map: what a CUtensorMap says, as 128 bytes of our own. NVIDIA's layout of these is not documented: a
 * launcher's cuTensorMapEncodeTiled makes one of these, the simulator reads it, and for a GPU the driver makes
 * its own of it. */
#ifndef BASE_TENSOR_MAP_H
#define BASE_TENSOR_MAP_H

#include <stdint.h>

enum { TENSOR_RANK_MAX = 5, TENSOR_MAP_BYTES = 128 };
#define TENSOR_MAP_MARK 0x614d546eu

struct tensor_map {
    uint64_t addr;
    uint64_t strides[TENSOR_RANK_MAX - 1]; /* bytes, of dimensions 1 and up; dimension 0 is the innermost */
    uint64_t dims[TENSOR_RANK_MAX];        /* elements */
    uint16_t box[TENSOR_RANK_MAX];         /* elements that one copy moves */
    uint8_t type, rank, swizzle,
        promotion; /* CUtensorMapDataType, ..., CUtensorMapSwizzle, CUtensorMapL2promotion */
    uint8_t rest[26];
    uint32_t mark; /* TENSOR_MAP_MARK: it was made by cuTensorMapEncodeTiled */
};
_Static_assert(sizeof(struct tensor_map) == TENSOR_MAP_BYTES, "a CUtensorMap");

enum { TENSOR_SWIZZLE_NONE, TENSOR_SWIZZLE_32B, TENSOR_SWIZZLE_64B, TENSOR_SWIZZLE_128B };

/* Bytes of an element of a CUtensorMapDataType; 0: there is none, or it flushes denormals. */
static inline uint32_t tensor_type_bytes(unsigned type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 0, 4, 0};
    return type < sizeof(bytes) ? bytes[type] : 0;
}

#endif
