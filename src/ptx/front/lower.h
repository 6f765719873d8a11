/* What lower.c and liveness.c share. */
#ifndef PTX_LOWER_H
#define PTX_LOWER_H

#include "parse.h"

bool module_lower(struct parsed *p, struct err *err);

struct lower {
    struct parsed *p;
    struct ptx_module *m;
    VEC(struct const_reg) consts;
    uint32_t *const_slots; /* hash table of index + 1 */
    size_t n_const_slots;
    uint32_t pred_bytes, top; /* ends of the predicate part and of the rest */
};

/* Every register of an instruction, sources first; an address's base is a source. */
typedef void visit_fn(void *context, struct opnd *o, bool writes);
void visit_registers(struct insn *i, visit_fn *visit, void *context);

/* Sizes of registers in a warp's file: predicates, 2, 4, 8, 16 bytes a lane. */
static inline int class_of(uint8_t bytes)
{
    return bytes < 2 ? bytes : __builtin_ctz(bytes);
}

static inline uint32_t class_size(int class)
{
    static const uint32_t sizes[] = {4, 64, 128, 256, 512};
    return sizes[class];
}

/* Fuses products with sums as the assembler does, while registers are still those that the text names. */
void contract(struct parsed *p);

/* Finds m->pins, while registers are still those that the text names. */
void hints_look(const struct parsed *p, struct ptx_module *m);

/* Places for the registers of f, from lo->pred_bytes and lo->top on. */
void place_registers(struct lower *lo, struct func *f);

#endif
