/* The CUDA runtime's calls that a launcher may make. They become steps of the plan, or answer from the limits
 * of the device that the plan is for; each gives a cudaError_t as the real one does. */
#include "runtime.h"

#include <limits.h>

const struct token *call_at(const struct call *c, size_t i)
{
    return i < c->n ? c->e->args[i]->at : c->e->at;
}

int64_t call_integer(const struct call *c, size_t i, const char *what)
{
    if (c->args[i].type->kind != TY_SCALAR)
        fail(c->in->unit, call_at(c, i), "%s must be a number", what);
    return to_integer(c->in, call_at(c, i), convert(c->in, call_at(c, i), c->args[i], type_ulong, true), what);
}

static void stream(const struct call *c, size_t i)
{
    struct value v;

    if (i >= c->n)
        fail(c->in->unit, c->e->at, "%s without the launcher's stream", c->e->a->name);
    v = convert(c->in, call_at(c, i), c->args[i], type_stream, false);
    if (!v.stream)
        fail(c->in->unit, call_at(c, i), "%s is on the default stream; give the launcher's stream parameter",
             c->e->a->name);
}

static const struct kernel_limits *limits(const struct call *c)
{
    if (!c->in->limits)
        fail(c->in->unit, c->e->at, "no device is known that could answer %s", c->e->a->name);
    return c->in->limits;
}

static const struct kernel_limits *ask(const struct call *c)
{
    c->in->asked = true;
    return limits(c);
}

/* *pointer = v; the pointer may be to another integer type of the same size. */
void call_give(const struct call *c, size_t i, struct value v)
{
    struct cell *cell = host_cell(c->in, call_at(c, i), c->args[i], "the result's place");

    if (type_is_integer(v.type) && (!type_is_integer(cell->type) || cell->type->size < 4))
        fail(c->in->unit, call_at(c, i), "%s writes an int here, not %s", c->e->a->name,
             type_spell(c->in->arena, cell->type));
    place_write(c->in, call_at(c, i), (struct place){cell, -1}, v);
}

struct value call_buffer(const struct call *c, size_t i, const char *what)
{
    struct value v = c->args[i];

    if (v.type->kind != TY_POINTER || v.p.host || v.p.buffer == -1)
        fail(c->in->unit, call_at(c, i), "%s must be a pointer into a buffer", what);
    if (v.p.buffer <= -2 && c->in->freed.v[-2 - v.p.buffer])
        fail(c->in->unit, call_at(c, i), "%s is workspace that is freed already", what);
    return v;
}

static struct kernel_value plan_pointer(struct value v)
{
    struct kernel_value k = {.type = KT_VOID, .pointer = true};

    if (v.type->to->kind == TY_SCALAR)
        k.type = v.type->to->scalar;
    k.p.buffer = v.p.buffer;
    k.p.offset_bytes = v.p.offset;
    return k;
}

static void add_step(const struct call *c, struct plan_step step)
{
    int col;

    unit_place(c->in->unit, c->e->at->at, &step.line, &col);
    if (c->in->plan.n >= MAX_PLAN_STEPS)
        fail(c->in->unit, c->e->at, "more than %d launches, sets and copies", MAX_PLAN_STEPS);
    vec_add(c->in->arena, &c->in->plan, step);
}

static int call_malloc(const struct call *c)
{
    struct cell *cell = host_cell(c->in, call_at(c, 0), c->args[0], "where the workspace's pointer goes");
    int64_t bytes = call_integer(c, 1, "the size of the workspace");

    if (cell->type->kind != TY_POINTER)
        fail(c->in->unit, call_at(c, 0), "the workspace's pointer goes into a pointer, not %s",
             type_spell(c->in->arena, cell->type));
    if (cell->constant)
        fail(c->in->unit, call_at(c, 0), "an assignment to a constant");
    if (bytes > (int64_t)1 << 40)
        fail(c->in->unit, call_at(c, 1), "a workspace of %lld bytes", (long long)bytes);
    if (c->in->workspaces.n >= 256)
        fail(c->in->unit, c->e->at, "more than 256 workspaces");
    vec_add(c->in->arena, &c->in->workspaces, bytes);
    vec_add(c->in->arena, &c->in->freed, false);
    access_log(c->in, cell, true);
    cell->value = value_buffer(cell->type, -1 - (int32_t)c->in->workspaces.n, 0);
    cell->known = true;
    return 0;
}

static int call_malloc_async(const struct call *c)
{
    stream(c, 2);
    return call_malloc(c);
}

static int call_free(const struct call *c)
{
    struct value v = c->args[0];

    if (v.type->kind == TY_NULL || (v.type->kind == TY_POINTER && !truth(c->in, call_at(c, 0), v)))
        return 0;
    v = call_buffer(c, 0, "what is freed");
    if (v.p.buffer >= 0 || v.p.offset != 0)
        fail(c->in->unit, call_at(c, 0), "only the pointer that cudaMallocAsync gave is freed");
    c->in->freed.v[-2 - v.p.buffer] = true;
    return 0;
}

static int call_free_async(const struct call *c)
{
    stream(c, 1);
    return call_free(c);
}

static int call_memset(const struct call *c)
{
    struct plan_step step = {.kind = PLAN_MEMSET};

    step.to = plan_pointer(call_buffer(c, 0, "what is set"));
    step.byte = (int)(uint8_t)convert(c->in, call_at(c, 1), c->args[1], type_int, false).i;
    step.size_bytes = call_integer(c, 2, "the number of bytes");
    stream(c, 3);
    add_step(c, step);
    return 0;
}

static int call_memcpy(const struct call *c)
{
    struct plan_step step = {.kind = PLAN_COPY};
    int64_t kind = call_integer(c, 3, "the kind of copy");

    if (kind != 3 && kind != 4)
        fail(c->in->unit, call_at(c, 3),
             "a copy from or to the host; allowed are copies between buffers "
             "(cudaMemcpyDeviceToDevice)");
    step.to = plan_pointer(call_buffer(c, 0, "the destination"));
    step.from = plan_pointer(call_buffer(c, 1, "the source"));
    step.size_bytes = call_integer(c, 2, "the number of bytes");
    stream(c, 4);
    add_step(c, step);
    return 0;
}

/* cudaMemcpyToSymbolAsync: values of the launcher's, which its own copy of the stack holds until they are
 * copied. */
static int call_to_symbol(const struct call *c)
{
    struct plan_step step = {.kind = PLAN_CONSTANT, .to = {.pointer = true, .p = {.buffer = -1}}};
    const struct expr *e = c->e->args[0];
    const struct global *g = NULL;
    struct found found = {0};

    if (e->kind == EX_NAME && !e->has_targs && !env_local(c->env, e->name, e->at)) {
        names_find(c->in->unit, use_of(e), &found);
        g = found.n == 1 && found.v[0]->kind == DECL_GLOBAL ? found.v[0]->global : NULL;
    }
    if (!g || !g->constant_memory)
        fail(c->in->unit, call_at(c, 0), "%s copies to the name of a __constant__ variable of the file",
             c->e->a->name);
    struct env *alone = arena_new(c->in->arena, struct env);
    int64_t size = call_integer(c, 2, "the number of bytes"), kind = call_integer(c, 4, "the kind of copy");
    int64_t room = type_resolve(c->in, alone, g->decl.type)->size;

    step.kernel = g->name;
    step.size_bytes = size;
    step.to.p.offset_bytes = call_integer(c, 3, "the offset");
    stream(c, 5);
    if (room == 0)
        fail(c->in->unit, call_at(c, 0), "the size of %s is not understood", e->name);
    if ((kind != 1 && kind != 4) || c->args[1].type->kind != TY_POINTER || !c->args[1].p.host)
        fail(c->in->unit, call_at(c, 1),
             "what goes to constant memory are variables of the launcher "
             "(cudaMemcpyHostToDevice)");
    if (size < 0 || step.to.p.offset_bytes < 0 || size > room - step.to.p.offset_bytes)
        fail(c->in->unit, call_at(c, 2), "%lld bytes at offset %lld go beyond the %lld of %s", (long long)size,
             (long long)step.to.p.offset_bytes, (long long)room, e->name);
    step.from = record_bytes(c->in, call_at(c, 1), c->args[1], size);
    if (size > 0)
        add_step(c, step);
    return 0;
}

static const struct kernel_ref *kernel_of(const struct call *c, size_t i)
{
    if (c->args[i].type->kind != TY_KERNEL)
        fail(c->in->unit, call_at(c, i), "%s takes a kernel here", c->e->a->name);
    if (!c->args[i].kernel)
        fail(c->in->unit, call_at(c, i), "a kernel's address that is null");
    return c->args[i].kernel;
}

static const char *expression_of(const struct call *c, size_t i)
{
    const struct func *f;
    struct env *bound;

    return kernel_expression(c->in, call_at(c, i), kernel_of(c, i), NULL, 0, &f, &bound);
}

static int call_func_attribute(const struct call *c)
{
    const char *kernel = expression_of(c, 0);
    int64_t attribute = call_integer(c, 1, "the attribute"), value;

    if (attribute != 8 && attribute != 14) /* carve-out and cluster hints change no result */
        return 0;
    value = to_integer(c->in, call_at(c, 2), convert(c->in, call_at(c, 2), c->args[2], type_int, false),
                       "the value");
    if (attribute == 14) {
        if (value)
            vec_add(c->in->arena, &c->in->large_clusters, kernel);
        return 0;
    }
    if (value < 0 || value > limits(c)->shared_per_block_optin)
        return 1; /* cudaErrorInvalidValue */
    vec_add(c->in->arena, &c->in->shared_limits, ((struct shared_limit){kernel, value}));
    return 0;
}

bool kernel_device_attribute(const struct kernel_limits *l, int number, int64_t *to)
{
    switch (number) {
#define DEVICE(name, n, member, value) \
    case n:                            \
        *to = value;                   \
        return true;
#include "kernel/runtime.def"
#undef DEVICE
    default:
        return false;
    }
}

const char *kernel_device_member(int number)
{
    switch (number) {
#define DEVICE(name, n, member, value) \
    case n:                            \
        return member;
#include "kernel/runtime.def"
#undef DEVICE
    default:
        return "";
    }
}

static int call_device_attribute(const struct call *c)
{
    const struct kernel_limits *l = ask(c);
    int64_t attribute = call_integer(c, 1, "the attribute"), value;

    if (attribute < 0 || attribute > INT_MAX || !kernel_device_attribute(l, (int)attribute, &value))
        fail(c->in->unit, call_at(c, 1),
             "device attribute %lld is not understood; docs/task.md lists those that are",
             (long long)attribute);
    call_give(c, 0, value_int(type_int, value));
    return 0;
}

struct value properties_member(struct interp *in, const struct token *at, const char *name)
{
    const struct kernel_limits *l = in->limits;

#define DEVICE(attribute, number, member, value)                                                               \
    if (strcmp(member, name) == 0)                                                                             \
        return value_int(strncmp(name, "sharedMem", 9) == 0 || strcmp(name, "totalConstMem") == 0 ? type_ulong \
                                                                                                  : type_int,  \
                         value);
#include "kernel/runtime.def"
#undef DEVICE
    fail(in->unit, at, "the member %s of cudaDeviceProp is not understood; docs/task.md lists those that are",
         name);
}

static int blocks_per_sm(const struct call *c, const char *kernel, int64_t threads, int64_t shared)
{
    const struct kernel_limits *l = ask(c);
    int64_t warps = (threads + l->warp_size - 1) / MAX(l->warp_size, 1), blocks;

    if (threads <= 0 || threads > l->max_threads_per_block || shared < 0 || shared > l->shared_per_block_optin)
        return 0;
    if (l->occupancy)
        return l->occupancy(l->context, kernel, (int)threads, shared);
    blocks = MIN(l->max_threads_per_sm / (warps * l->warp_size), l->max_blocks_per_sm);
    if (shared > 0)
        blocks = MIN(blocks, l->shared_per_sm / (shared + 1024)); /* 1 KB a block is the system's */
    return (int)blocks;
}

static int call_occupancy(const struct call *c)
{
    int64_t threads = convert(c->in, call_at(c, 2), c->args[2], type_int, false).i;

    call_give(c, 0,
              value_int(type_int,
                        blocks_per_sm(c, expression_of(c, 1), threads, call_integer(c, 3, "shared memory"))));
    return 0;
}

/* The block with the most threads on an SM; the larger block when two are equal. */
static int call_block_size(const struct call *c)
{
    const char *kernel = expression_of(c, 2);
    int64_t shared = c->n > 3 ? call_integer(c, 3, "shared memory") : 0;
    int64_t limit = c->n > 4 ? call_integer(c, 4, "the block's limit") : 0;
    int64_t best = 0, best_blocks = 0;

    if (limit <= 0 || limit > limits(c)->max_threads_per_block)
        limit = limits(c)->max_threads_per_block;
    for (int64_t aligned = (limit + 31) / 32 * 32; aligned > 0; aligned -= 32) {
        int64_t threads = MIN(aligned, limit), blocks = blocks_per_sm(c, kernel, threads, shared);

        if (blocks * threads > best_blocks * best) {
            best = threads;
            best_blocks = blocks;
        }
    }
    call_give(c, 0, value_int(type_int, best_blocks * limits(c)->sm_count));
    call_give(c, 1, value_int(type_int, best));
    return 0;
}

/* The values whose addresses argument `at` lists, for the parameters of kernel k. */
static struct value *args_by_addresses(const struct call *c, const struct kernel_ref *k, size_t kernel_arg,
                                       size_t at, size_t *n)
{
    struct value *args = arena_array(c->in->arena, struct value, k->func->n_params + 1);
    const struct func *f;
    struct env *bound;

    kernel_expression(c->in, call_at(c, kernel_arg), k, NULL, 0, &f, &bound);
    *n = f->n_params;
    for (size_t i = 0; i < f->n_params; i++) {
        struct value list = c->args[at];
        struct value element;
        struct cell *cell;
        const struct type *t = type_resolve(c->in, bound, f->params[i].type);

        if (list.type->kind == TY_POINTER && list.p.host)
            list = binary(c->in, call_at(c, at), OP_ADD, list, value_int(type_long, (int64_t)i));
        cell = host_cell(c->in, call_at(c, at), list, "the list of arguments");
        if (!cell->known)
            fail(c->in->unit, call_at(c, at), "the list of arguments has no value for argument %zu", i + 1);
        element = cell->value;
        if (element.type->kind != TY_POINTER)
            fail(c->in->unit, call_at(c, at), "argument %zu in the list is not an address", i + 1);
        cell = host_cell(c->in, call_at(c, at), element, "each argument in the list");
        if (!cell->known)
            fail(c->in->unit, call_at(c, at), "argument %zu in the list points to a variable without a value",
                 i + 1);
        if (cell->type->kind != t->kind || cell->type->size != t->size ||
            (t->kind == TY_SCALAR && cell->type->scalar != t->scalar && type_is_float(t)) ||
            type_is_float(cell->type) != type_is_float(t))
            fail(c->in->unit, call_at(c, at),
                 "argument %zu in the list is the address of a %s, but kernel %s takes a %s", i + 1,
                 type_spell(c->in->arena, cell->type), f->name, type_spell(c->in->arena, t));
        args[i] = convert(c->in, call_at(c, at), cell->value, t, true);
    }
    return args;
}

/* cudaLaunchKernel and cudaLaunchCooperativeKernel: the arguments are addresses of variables. */
static int launch_by_addresses(const struct call *c, bool cooperative)
{
    const struct kernel_ref *k = kernel_of(c, 0);
    struct value config[4] = {c->args[1], c->args[2], c->args[4], c->args[5]};
    size_t n;
    const struct value *args = args_by_addresses(c, k, 0, 3, &n);

    launch(c->in, c->e->at, &(struct launch_call){k, config, 4, args, NULL, n, {.cooperative = cooperative}});
    return 0;
}

static int call_launch(const struct call *c)
{
    return launch_by_addresses(c, false);
}

static int call_launch_cooperative(const struct call *c)
{
    return launch_by_addresses(c, true);
}

/* ---- cudaLaunchKernelEx */

static struct value member_of(const struct call *c, size_t i, const struct cell *record, const char *name)
{
    const struct cell *m = record_member(c->in, call_at(c, i), record, name);

    if (!m->known)
        fail(c->in->unit, call_at(c, i), "the member %s of %s has no value", name, record->type->name);
    return m->value;
}

enum launch_attribute { /* the runtime's numbers */
                        LAUNCH_IGNORE = 0,
                        LAUNCH_COOPERATIVE = 2,
                        LAUNCH_CLUSTER = 4,
                        LAUNCH_CLUSTER_POLICY = 5,
                        LAUNCH_PROGRAMMATIC = 6,
                        LAUNCH_PRIORITY = 8,
                        LAUNCH_CARVEOUT = 14,
};

static void read_attribute(const struct call *c, const struct cell *attribute, struct launch_attributes *to)
{
    int64_t id = member_of(c, 0, attribute, "id").i;
    const struct cell *value = record_member(c->in, call_at(c, 0), attribute, "val");

    switch (id) {
    case LAUNCH_IGNORE:
    case LAUNCH_CLUSTER_POLICY:
    case LAUNCH_PRIORITY:
    case LAUNCH_CARVEOUT: /* no result depends on these */
        break;
    case LAUNCH_COOPERATIVE:
        to->cooperative = member_of(c, 0, value, "cooperative").i != 0;
        break;
    case LAUNCH_CLUSTER:
        memcpy(to->cluster, member_of(c, 0, value, "clusterDim").dim, sizeof(to->cluster));
        for (int k = 0; k < 3; k++)
            if (!to->cluster[k])
                fail(c->in->unit, call_at(c, 0), "a cluster of %u x %u x %u blocks", to->cluster[0],
                     to->cluster[1], to->cluster[2]);
        break;
    case LAUNCH_PROGRAMMATIC:
        to->programmatic = member_of(c, 0, value, "programmaticStreamSerializationAllowed").i != 0;
        break;
    default:
        fail(c->in->unit, call_at(c, 0),
             "launch attribute %lld is not understood; allowed are cudaLaunchAttributeClusterDimension, "
             "cudaLaunchAttributeCooperative and cudaLaunchAttributeProgrammaticStreamSerialization",
             (long long)id);
    }
}

static const struct cell *config_of(const struct call *c, size_t i, struct launch_attributes *attributes)
{
    const struct cell *config = host_cell(c->in, call_at(c, i), c->args[i], "the launch configuration");
    const struct token *at = call_at(c, i);

    if (config->type->kind != TY_RECORD || strcmp(config->type->name, "cudaLaunchConfig_t") != 0)
        fail(c->in->unit, at, "%s takes the address of a cudaLaunchConfig_t here", c->e->a->name);
    int64_t n = member_of(c, i, config, "numAttrs").i;
    for (int64_t k = 0; k < n; k++) {
        struct value p = member_of(c, i, config, "attrs");
        p.p.index += k;
        const struct cell *attribute = host_cell(c->in, at, p, "the list of attributes");
        if (attribute->type->kind != TY_RECORD)
            fail(c->in->unit, at, "the list of attributes is no cudaLaunchAttribute");
        read_attribute(c, attribute, attributes);
    }
    return config;
}

/* by_addresses: cudaLaunchKernelExC. */
static int launch_by_config(const struct call *c, bool by_addresses)
{
    struct launch_attributes attributes = {0};
    const struct cell *m = config_of(c, 0, &attributes);
    const struct kernel_ref *k = kernel_of(c, 1);
    struct value config[4] = {member_of(c, 0, m, "gridDim"), member_of(c, 0, m, "blockDim"),
                              member_of(c, 0, m, "dynamicSmemBytes"), member_of(c, 0, m, "stream")};
    size_t n = c->n - 2;
    const struct value *args = by_addresses ? args_by_addresses(c, k, 1, 2, &n) : c->args + 2;

    launch(c->in, c->e->at,
           &(struct launch_call){k, config, 4, args, by_addresses ? NULL : c->e->args + 2, n, attributes});
    return 0;
}

static int call_launch_ex(const struct call *c)
{
    return launch_by_config(c, false);
}

static int call_launch_exc(const struct call *c)
{
    return launch_by_config(c, true);
}

/* cudaOccupancyMaxActiveClusters */
static int call_max_clusters(const struct call *c)
{
    struct launch_attributes attributes = {0};
    const struct cell *m = config_of(c, 2, &attributes);
    struct value block = member_of(c, 2, m, "blockDim");
    int64_t threads = (int64_t)block.dim[0] * block.dim[1] * block.dim[2], blocks = 1;

    for (int k = 0; k < 3; k++)
        blocks *= MAX(attributes.cluster[k], 1u);
    call_give(c, 0,
              value_int(type_int, blocks_per_sm(c, expression_of(c, 1), threads,
                                                member_of(c, 2, m, "dynamicSmemBytes").i) *
                                      (int64_t)limits(c)->sm_count / blocks));
    return 0;
}

static int call_func_cache(const struct call *c)
{
    kernel_of(c, 0);
    return 0;
}

static int call_get_device(const struct call *c)
{
    call_give(c, 0, value_int(type_int, c->in->limits ? ask(c)->device : 0));
    return 0;
}

static int call_device_count(const struct call *c)
{
    call_give(c, 0, value_int(type_int, 1 + (c->in->limits ? ask(c)->other_devices : 0)));
    return 0;
}

static int call_properties(const struct call *c)
{
    struct cell *cell = host_cell(c->in, call_at(c, 0), c->args[0], "the properties");

    if (cell->type->kind != TY_PROPERTIES)
        fail(c->in->unit, call_at(c, 0), "cudaGetDeviceProperties fills a cudaDeviceProp");
    ask(c);
    access_log(c->in, cell, true);
    cell->value = (struct value){.type = type_properties};
    cell->known = true;
    return 0;
}

static int call_last_error(const struct call *c)
{
    (void)c;
    return 0;
}

static const struct {
    const char *name;
    int (*call)(const struct call *c); /* the cudaError_t; NULL: the text of one */
    size_t least, most;
    const char *instead; /* of what is refused */
} calls[] = {
    {"cudaMallocAsync", call_malloc_async, 3, 3, NULL},
    {"cudaMalloc", call_malloc, 2, 2, NULL},
    {"cudaFreeAsync", call_free_async, 2, 2, NULL},
    {"cudaFree", call_free, 1, 1, NULL},
    {"cudaMemsetAsync", call_memset, 3, 4, NULL},
    {"cudaMemcpyAsync", call_memcpy, 4, 5, NULL},
    {"cudaFuncSetAttribute", call_func_attribute, 3, 3, NULL},
    {"cudaFuncSetCacheConfig", call_func_cache, 2, 2, NULL},
    {"cudaDeviceGetAttribute", call_device_attribute, 3, 3, NULL},
    {"cudaGetDevice", call_get_device, 1, 1, NULL},
    {"cudaGetDeviceCount", call_device_count, 1, 1, NULL},
    {"cudaGetDeviceProperties", call_properties, 2, 2, NULL},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", call_occupancy, 4, 4, NULL},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", call_occupancy, 5, 5, NULL},
    {"cudaOccupancyMaxPotentialBlockSize", call_block_size, 3, 5, NULL},
    {"cudaLaunchCooperativeKernel", call_launch_cooperative, 6, 6, NULL},
    {"cudaLaunchKernel", call_launch, 6, 6, NULL},
    {"cudaLaunchKernelEx", call_launch_ex, 2, 256, NULL},
    {"cudaLaunchKernelExC", call_launch_exc, 3, 3, NULL},
    {"cudaOccupancyMaxActiveClusters", call_max_clusters, 3, 3, NULL},
    {"cudaGetLastError", call_last_error, 0, 0, NULL},
    {"cudaPeekAtLastError", call_last_error, 0, 0, NULL},
    {"cudaGetErrorString", NULL, 1, 1, NULL},
    {"cudaGetErrorName", NULL, 1, 1, NULL},
    {"cudaGetDriverEntryPoint", call_entry_point, 3, 4, NULL},
    {"cudaGetDriverEntryPointByVersion", call_entry_point, 4, 5, NULL},
    {DRIVER_FUNCTION, call_tensor_map, 12, 12, NULL},
    {"cudaMemset", NULL, 0, 9, "write cudaMemsetAsync with the launcher's stream"},
    {"cudaMemcpy", NULL, 0, 9, "write cudaMemcpyAsync with the launcher's stream"},
    {"cudaDeviceSynchronize", NULL, 0, 9, "a launcher does not wait; its caller does"},
    {"cudaStreamSynchronize", NULL, 0, 9, "a launcher does not wait; its caller does"},
    {"cudaStreamCreate", NULL, 0, 9, "everything runs on the launcher's stream"},
    {"cudaStreamCreateWithFlags", NULL, 0, 9, "everything runs on the launcher's stream"},
    {"cudaEventCreate", NULL, 0, 9, "a launcher measures nothing"},
    {"cudaEventRecord", NULL, 0, 9, "a launcher measures nothing"},
    {"cudaSetDevice", NULL, 0, 9, "the caller chooses the device"},
    {"cudaGraphLaunch", NULL, 0, 9, "launch the kernels themselves"},
    {"cudaMemcpyToSymbolAsync", call_to_symbol, 6, 6, NULL},
    {"cudaMemcpyToSymbol", NULL, 0, 9,
     "write cudaMemcpyToSymbolAsync with the launcher's stream, or give the values as arguments of the kernel"},
};

bool runtime_is_call(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        if (strcmp(calls[i].name, name) == 0)
            return true;
    }
    return strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z' &&
           strncmp(name, "cudaSuccess", 11) != 0 && strncmp(name, "cudaError", 9) != 0 &&
           strncmp(name, "cudaDev", 7) != 0 && strncmp(name, "cudaTextureObject", 17) != 0;
}

bool runtime_call(struct interp *in, struct env *env, const struct expr *e, const char *name, struct value *out)
{
    struct call c = {.in = in, .env = env, .e = e, .n = e->n_args};
    struct group g;
    size_t row = 0;

    if (!runtime_is_call(name))
        return false;
    while (row < ARRAY_LEN(calls) && strcmp(calls[row].name, name) != 0)
        row++;
    if (row == ARRAY_LEN(calls))
        fail(
            in->unit, e->at,
            "%s is not understood; allowed are cudaMallocAsync, cudaFreeAsync, cudaMemsetAsync, cudaMemcpyAsync, "
            "cudaFuncSetAttribute, the queries of device attributes, properties and occupancy, "
            "cudaLaunchCooperativeKernel, cudaLaunchKernelEx and cudaGetLastError",
            name);
    if (calls[row].instead)
        fail(in->unit, e->at, "%s is not understood: %s", name, calls[row].instead);
    if (c.n < calls[row].least || c.n > calls[row].most)
        fail(in->unit, e->at, "%s takes %zu arguments, not %zu", name, calls[row].most, c.n);
    c.args = arena_array(in->arena, struct value, c.n + 1);
    if ((in->pending.n || in->fixed_only) && calls[row].call != call_entry_point)
        fail(in->unit, e->at, "%s before the launcher is called, or once for all calls", name);
    group_open(in, &g, e);
    for (size_t i = 0; i < c.n; i++) {
        if (i > 0 ||
            calls[row].call != call_to_symbol) /* the name of a variable of the device has no value here */
            c.args[i] = eval(in, env, e->args[i]);
        group_next(in, &g);
    }
    group_close(in, &g);
    access_log(in, &in->plan_cell, true);
    if (calls[row].call)
        *out = value_int(type_error, calls[row].call(&c));
    else
        *out = (struct value){.type = type_string, .text = "no error"};
    return true;
}

bool runtime_constant(const char *name, struct value *out)
{
    static const struct {
        const char *name;
        int value;
        bool error;
    } constants[] = {
        {"cudaSuccess", 0, true},
        {"cudaErrorInvalidValue", 1, true},
        {"cudaErrorMemoryAllocation", 2, true},
        {"cudaErrorInvalidConfiguration", 9, true},
        {"cudaErrorNotSupported", 801, true},
        {"cudaErrorUnknown", 999, true},
        {"cudaMemcpyHostToHost", 0, false},
        {"cudaMemcpyHostToDevice", 1, false},
        {"cudaMemcpyDeviceToHost", 2, false},
        {"cudaMemcpyDeviceToDevice", 3, false},
        {"cudaMemcpyDefault", 4, false},
        {"cudaFuncAttributeMaxDynamicSharedMemorySize", 8, false},
        {"cudaFuncAttributePreferredSharedMemoryCarveout", 9, false},
        {"cudaFuncAttributeNonPortableClusterSizeAllowed", 14, false},
        {"cudaLaunchAttributeIgnore", LAUNCH_IGNORE, false},
        {"cudaLaunchAttributeAccessPolicyWindow", 1, false},
        {"cudaLaunchAttributeCooperative", LAUNCH_COOPERATIVE, false},
        {"cudaLaunchAttributeSynchronizationPolicy", 3, false},
        {"cudaLaunchAttributeClusterDimension", LAUNCH_CLUSTER, false},
        {"cudaLaunchAttributeClusterSchedulingPolicyPreference", LAUNCH_CLUSTER_POLICY, false},
        {"cudaLaunchAttributeProgrammaticStreamSerialization", LAUNCH_PROGRAMMATIC, false},
        {"cudaLaunchAttributeProgrammaticEvent", 7, false},
        {"cudaLaunchAttributePriority", LAUNCH_PRIORITY, false},
        {"cudaLaunchAttributePreferredSharedMemoryCarveout", LAUNCH_CARVEOUT, false},
        {"cudaSharedmemCarveoutDefault", -1, false},
        {"cudaSharedmemCarveoutMaxShared", 100, false},
        {"cudaSharedmemCarveoutMaxL1", 0, false},
        {"cudaFuncCachePreferNone", 0, false},
        {"cudaFuncCachePreferShared", 1, false},
        {"cudaFuncCachePreferL1", 2, false},
        {"cudaFuncCachePreferEqual", 3, false},
        {"cudaOccupancyDefault", 0, false},
        {"cudaEnableDefault", 0, false},
        {"cudaEnableLegacyStream", 1, false},
        {"cudaEnablePerThreadDefaultStream", 2, false},
        {"cudaDriverEntryPointSuccess", 0, false},
        {"cudaDriverEntryPointSymbolNotFound", 1, false},
        {"cudaDriverEntryPointVersionNotSufficent", 2, false},
#define DEVICE(attribute, number, member, value) {"cudaDevAttr" #attribute, number, false},
#include "kernel/runtime.def"
#undef DEVICE
    };

    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (strcmp(constants[i].name, name) == 0) {
            *out = value_int(constants[i].error ? type_error : type_int, constants[i].value);
            return true;
        }
    }
    return record_map_constant(name, out);
}
