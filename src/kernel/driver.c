/* What a launcher has of the driver: cuTensorMapEncodeTiled, by its name or as a pointer that the runtime
 * gives. A variable that keeps this pointer between calls is the only state that a launcher may have. */
#include "runtime.h"

#include "base/tensor_map.h"

/* ---- the function as a value */

static const struct func function = {.name = DRIVER_FUNCTION, .qualified = DRIVER_FUNCTION};
static const struct kernel_ref reference = {.func = &function, .name = DRIVER_FUNCTION};

static struct value pointer(void)
{
    return (struct value){.type = type_kernel, .kernel = &reference};
}

bool driver_is(const struct value *v)
{
    return v->type && v->type->kind == TY_KERNEL && v->kernel == &reference;
}

bool driver_named(struct interp *in, const struct expr *e, struct value *out)
{
    if (e->kind != EX_NAME || e->has_targs || e->look == LOOK_STD || !str_eq(e->name, DRIVER_FUNCTION) ||
        is_own_function(in->unit, e))
        return false;
    *out = pointer();
    return true;
}

/* A variable without a value begins as null. What is null at first is tried with both values: see kernel_plan.
 */
void driver_keep(struct interp *in, const struct token *at, const char *name, struct cell *c)
{
    if (c->type->kind != TY_KERNEL)
        fail(in->unit, at,
             "static %s keeps state between calls, which a launcher may not; make it const or local", name);
    if (!c->known)
        c->value = (struct value){.type = type_kernel};
    c->known = true;
    c->fixed = false;
    c->kept = true;
    driver_kept(in, at, c);
    c->constant = driver_is(&c->value);
    if (c->constant)
        return;
    if (in->n_kept++)
        fail(in->unit, at,
             "more than one variable keeps a function of the driver between calls; one is enough");
    if (in->keeps)
        c->value = pointer();
}

void driver_kept(struct interp *in, const struct token *at, const struct cell *c)
{
    if (c->value.kernel && !driver_is(&c->value))
        fail(in->unit, at,
             "a kernel's address that is kept between calls; only a function of the driver may be kept");
}

/* cudaGetDriverEntryPoint(name, where, flags, found) and ...ByVersion(name, where, version, flags, found) */
int call_entry_point(const struct call *c)
{
    const bool versioned = str_eq(last_name(c->e->a->name), "cudaGetDriverEntryPointByVersion");
    const size_t flags = versioned ? 3 : 2, found = flags + 1;

    if (c->n <= flags || c->n > found + 1)
        fail(c->in->unit, c->e->at, "%s takes %zu arguments, not %zu", c->e->a->name, found + 1, c->n);
    if (c->args[0].type->kind != TY_STRING || !str_eq(c->args[0].text, "\"" DRIVER_FUNCTION "\""))
        fail(c->in->unit, call_at(c, 0),
             "of the driver's functions a launcher may ask for \"" DRIVER_FUNCTION "\", and for no other");
    if (versioned && call_integer(c, 2, "the version") < 12000)
        fail(c->in->unit, call_at(c, 2), DRIVER_FUNCTION " is of CUDA 12.0; 12000 is its version");
    if (call_integer(c, flags, "the flags") > 2)
        fail(c->in->unit, call_at(c, flags), "the flags are cudaEnableDefault");
    call_give(c, 1, pointer());
    if (c->n > found && c->args[found].type->kind != TY_NULL && !c->args[found].literal_zero)
        call_give(c, found, value_int(type_uint, 0)); /* cudaDriverEntryPointSuccess */
    return 0;
}

/* ---- tensor maps */

/* Elements of a list that the call is given the address of. */
static void numbers(const struct call *c, size_t i, size_t n, const char *what, uint64_t *to)
{
    for (size_t k = 0; k < n; k++) {
        struct value p = c->args[i];

        if (p.type->kind != TY_POINTER || !p.p.host)
            fail(c->in->unit, call_at(c, i), "%s is an array of the launcher", what);
        p.p.index += (int64_t)k;
        struct cell *cell = host_cell(c->in, call_at(c, i), p, what);
        if (!cell->known || !type_is_integer(cell->type))
            fail(c->in->unit, call_at(c, i), "%s has no value for dimension %zu", what, k);
        access_log(c->in, cell, false);
        to[k] = (uint64_t)cell->value.i;
    }
}

/* What the driver refuses; the manual of cuTensorMapEncodeTiled. */
static bool map_is_valid(const struct tensor_map *m)
{
    uint32_t size = tensor_type_bytes(m->type);

    for (unsigned d = 0; d < m->rank; d++)
        if (!m->dims[d] || m->dims[d] > 1ull << 32 || !m->box[d] || m->box[d] > 256 ||
            (d && (m->strides[d - 1] % 16 || m->strides[d - 1] >= 1ull << 40)))
            return false;
    return m->box[0] * size % 16 == 0 &&
           (m->swizzle == TENSOR_SWIZZLE_NONE || m->box[0] * size <= 16u << m->swizzle);
}

int call_tensor_map(const struct call *c)
{
    struct cell *cell = host_cell(c->in, call_at(c, 0), c->args[0], "the tensor map");
    struct tensor_map m = {.mark = TENSOR_MAP_MARK};
    int64_t type = call_integer(c, 1, "the data type"), rank = call_integer(c, 2, "the rank");
    int64_t swizzle = call_integer(c, 9, "the swizzle"), promotion = call_integer(c, 10, "the L2 promotion");
    struct value address = call_buffer(c, 3, "the tensor's address");
    uint64_t box[TENSOR_RANK_MAX], steps[TENSOR_RANK_MAX];

    if (rank < 1 || rank > TENSOR_RANK_MAX || type < 0 || type > 12 || swizzle < 0 || promotion < 0 ||
        promotion > 3)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    if (!tensor_type_bytes((unsigned)type))
        fail(c->in->unit, call_at(c, 1), "tensor maps of types that flush denormals are not understood");
    if (call_integer(c, 8, "the interleave") != 0)
        fail(c->in->unit, call_at(c, 8),
             "interleaved tensor maps are not understood; CU_TENSOR_MAP_INTERLEAVE_NONE");
    if (call_integer(c, 11, "the fill") != 0)
        fail(c->in->unit, call_at(c, 11), "tensor maps that fill with NaN are not understood");
    if (swizzle > TENSOR_SWIZZLE_128B)
        fail(c->in->unit, call_at(c, 9), "swizzles of other atoms than 16 bytes are not understood");
    m.type = (uint8_t)type;
    m.rank = (uint8_t)rank;
    m.swizzle = (uint8_t)swizzle;
    m.promotion = (uint8_t)promotion;
    numbers(c, 4, m.rank, "the list of sizes", m.dims);
    if (rank > 1)
        numbers(c, 5, m.rank - 1u, "the list of strides", m.strides);
    numbers(c, 6, m.rank, "the list of the box's sizes", box);
    numbers(c, 7, m.rank, "the list of steps", steps);
    for (unsigned d = 0; d < m.rank; d++) {
        if (steps[d] != 1)
            fail(c->in->unit, call_at(c, 7), "steps other than 1 within a box are not understood");
        m.box[d] = (uint16_t)MIN(box[d], 1000u);
    }
    if (address.p.offset % 16 || !map_is_valid(&m))
        return 1;
    record_map(c->in, call_at(c, 0), cell, &m, address);
    return 0;
}
