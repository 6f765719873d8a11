/* opnd: one lane of an operand. */
#ifndef PTX_OPND_H
#define PTX_OPND_H

#include "ptx/observe.h"

/* One lane's value of an operand: 2, 4 or 8 bytes, or the low 8 of 16. */
static inline uint64_t opnd_lane(const struct warp *w, const struct opnd *o, uint32_t lane)
{
    if (o->bytes == 2)
        return REG(uint16_t, w, o->off)[lane];
    return o->bytes == 4 ? REG(uint32_t, w, o->off)[lane] : REG(uint64_t, w, o->off)[lane];
}

static inline void opnd_lane_set(struct warp *w, const struct opnd *o, uint32_t lane, uint64_t v)
{
    if (o->bytes == 2)
        REG(uint16_t, w, o->off)[lane] = (uint16_t)v;
    else if (o->bytes == 4)
        REG(uint32_t, w, o->off)[lane] = (uint32_t)v;
    else
        REG(uint64_t, w, o->off)[lane] = v;
}

/* Element k of a vector, or the operand itself. */
static inline const struct opnd *opnd_element(const struct opnd *o, unsigned k)
{
    return o->kind == OPND_VEC ? &o->vec[k] : o;
}

#endif
