/* Variables with members: the runtime's structs that describe a launch. A record's cell has a cell for each
 * member. */
#include "kernel/internal.h"

#include "base/tensor_map.h"

/* The members that a launcher may use; one that is not here is not understood. */
static const struct type value_type, attribute_type, attributes_type, config_type;
static const struct type *const type_value = &value_type, *const type_attributes = &attributes_type;

static const struct record_field value_fields[] = {
    {"clusterDim", &type_dim3},        {"cooperative", &type_int},
    {"priority", &type_int},           {"programmaticStreamSerializationAllowed", &type_int},
    {"sharedMemCarveout", &type_uint}, {"clusterSchedulingPolicyPreference", &type_int},
};
static const struct record_field attribute_fields[] = {{"id", &type_int}, {"val", &type_value}};
static const struct record_field config_fields[] = {
    {"gridDim", &type_dim3},  {"blockDim", &type_dim3},    {"dynamicSmemBytes", &type_ulong},
    {"stream", &type_stream}, {"attrs", &type_attributes}, {"numAttrs", &type_uint},
};

/* A CUtensorMap is struct tensor_map: its address and words of eight bytes, for which a launcher has no names.
 */
static const struct type pointee = {.kind = TY_OPAQUE, .name = "void", .size = 1, .align = 1};
static const struct type map_address = {
    .kind = TY_POINTER, .name = "pointer", .size = 8, .align = 8, .to = &pointee, .to_const = true};
static const struct type *const type_map_address = &map_address;

static const struct type unknown = {.kind = TY_OPAQUE, .name = "a type that is not known", .align = 1};
const struct type *const type_unknown = &unknown;
#define WORD(n)                        \
    {                                  \
        "", &type_ulong, 8 * (n), NULL \
    }
static const struct record_field map_fields[] = {
    {"", &type_map_address, 0, NULL},
    WORD(1),
    WORD(2),
    WORD(3),
    WORD(4),
    WORD(5),
    WORD(6),
    WORD(7),
    WORD(8),
    WORD(9),
    WORD(10),
    WORD(11),
    WORD(12),
    WORD(13),
    WORD(14),
    WORD(15),
};
static const struct type map_type = {.kind = TY_RECORD,
                                     .name = "CUtensorMap",
                                     .size = TENSOR_MAP_BYTES,
                                     .align = 64,
                                     .fields = map_fields,
                                     .n = ARRAY_LEN(map_fields),
                                     .passable = true};
_Static_assert(ARRAY_LEN(map_fields) * 8 == TENSOR_MAP_BYTES && offsetof(struct tensor_map, addr) == 0,
               "a CUtensorMap");

#define RECORD(spelling, bytes, members)                                                   \
    {                                                                                      \
        .kind = TY_RECORD, .name = spelling, .size = bytes, .align = 8, .fields = members, \
        .n = ARRAY_LEN(members)                                                            \
    }
static const struct type value_type = RECORD("cudaLaunchAttributeValue", 64, value_fields);
static const struct type attribute_type = RECORD("cudaLaunchAttribute", 72, attribute_fields);
static const struct type attributes_type = {
    .kind = TY_POINTER, .name = "pointer", .size = 8, .align = 8, .to = &attribute_type};
static const struct type config_type = RECORD("cudaLaunchConfig_t", 56, config_fields);

const struct type *record_builtin(const char *name)
{
    const struct type *const all[] = {&config_type, &attribute_type, &value_type, &map_type};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    }
    return NULL;
}

/* zero: what nothing initialises is zero, else it has no value. */
static void open_cell(struct interp *in, struct cell *c, bool zero)
{
    if (c->type->kind == TY_RECORD) {
        record_make(in, c, zero);
    } else if (c->type->kind == TY_ARRAY) {
        if (c->type->n > MAX_ARRAY)
            fail(in->unit, NULL, "an array of %lld elements in a struct", (long long)c->type->n);
        in->steps += (uint64_t)c->type->n;
        step_count(in, NULL);
        c->n_elems = c->type->n;
        c->elems = arena_array(in->arena, struct cell, c->n_elems + 1);
        for (int64_t i = 0; i < c->n_elems; i++) {
            c->elems[i] = *cell_make(in, c->type->to, c->constant);
            open_cell(in, &c->elems[i], zero);
        }
    } else if (zero && c->type->kind != TY_DIM3) {
        c->value = c->type->kind == TY_STREAM || c->type->kind == TY_KERNEL
                       ? (struct value){.type = c->type}
                       : convert(in, NULL, (struct value){.type = type_list}, c->type, true);
        c->known = true;
    }
}

struct cell *record_member(struct interp *in, const struct token *at, const struct cell *c, const char *name)
{
    for (int64_t i = 0; i < c->n_elems; i++) {
        if (strcmp(c->type->fields[i].name, name) == 0)
            return &c->elems[i];
    }
    fail(in->unit, at, "the member %s of %s is not understood; docs/task.md lists those that are", name,
         c->type->name);
}

static void copy_cells(struct interp *in, struct cell *to, struct cell *from)
{
    for (int64_t i = 0; i < to->n_elems; i++) {
        struct cell *m = &to->elems[i];

        step_count(in, NULL);
        if (m->elems) {
            copy_cells(in, m, &from->elems[i]);
        } else {
            access_log(in, &from->elems[i], false);
            access_log(in, m, true);
            m->value = from->elems[i].value;
            m->known = from->elems[i].known;
        }
    }
}

void record_assign(struct interp *in, const struct token *at, struct cell *c, struct value v)
{
    if (!type_same(v.type, c->type) || !v.p.host || v.p.host->n_elems != c->n_elems)
        fail(in->unit, at, "%s does not become %s", type_spell(in->arena, v.type), c->type->name);
    if (v.p.host != c)
        copy_cells(in, c, v.p.host);
}

static void fill(struct interp *in, const struct token *at, struct cell *c, struct value list);

/* strict: its value must stay the same. */
static void set_member(struct interp *in, const struct token *at, struct cell *m, struct value v, bool strict)
{
    if (record_is_made(m->type) && v.type->kind == TY_LIST) {
        record_construct_of(in, at, m, (struct value *)v.items, NULL, v.n_items);
    } else if (m->elems && v.type->kind == TY_LIST) {
        fill(in, at, m, v);
    } else if (m->type->kind == TY_RECORD) {
        record_assign(in, at, m, v);
    } else if (m->type->kind == TY_ARRAY) {
        fail(in->unit, at, "an array in a struct starts from a list in braces");
    } else {
        m->value = strict ? convert_same(in, at, v, m->type) : convert(in, at, v, m->type, false);
        m->value.literal_zero = false;
        m->known = true;
    }
}

/* From the items of a list in braces; what it does not reach stays zero. */
static void fill(struct interp *in, const struct token *at, struct cell *c, struct value list)
{
    /* `array<int, 3> a{1, 2, 3}`: the braces of an array that is the only member may be left out */
    if (c->n_elems == 1 && c->type->kind == TY_RECORD && c->elems[0].type->kind == TY_ARRAY && list.n_items &&
        !list.fields && list.items[0].type->kind != TY_LIST) {
        fill(in, at, &c->elems[0], list);
        return;
    }
    if (list.n_items > (size_t)c->n_elems)
        fail(in->unit, at, "%zu values for the %lld members of %s", list.n_items, (long long)c->n_elems,
             type_spell(in->arena, c->type));
    for (size_t i = 0; list.fields && i < list.n_items; i++) {
        if (!list.fields[i] || strcmp(c->type->fields[i].name, list.fields[i]) != 0)
            fail(in->unit, at,
                 "the members of %s in another order than it has, or some left out; name all, in order",
                 type_spell(in->arena, c->type));
    }
    for (size_t i = 0; i < list.n_items; i++)
        set_member(in, at, &c->elems[i], list.items[i], list.strict);
}

void record_set(struct interp *in, struct env *env, struct cell *m, const struct expr *init)
{
    struct value v;

    if (m->type->kind == TY_RECORD) {
        record_initialise(in, env, m, init);
        return;
    }
    open_cell(in, m, true);
    v = eval(in, env, init);
    if (v.type->kind == TY_LIST && !init->braces && v.n_items == 1)
        v = v.items[0];
    set_member(in, init->at, m, v, false);
}

void record_make(struct interp *in, struct cell *c, bool zero)
{
    const struct record_field *fields = c->type->fields;

    c->n_elems = c->type->n;
    c->elems = arena_array(in->arena, struct cell, c->n_elems + 1);
    c->known = true;
    c->value = (struct value){.type = c->type, .p = {.host = c, .count = 1, .buffer = -1}};
    for (int64_t i = 0; i < c->n_elems; i++) {
        c->elems[i] = *cell_make(in, *fields[i].type, c->constant);
        open_cell(in, &c->elems[i], zero);
        if (fields[i].init && !record_is_made(c->type)) { /* those have an order with their constructor */
            struct env *inner =
                members_before(in, c->type->declared, c->type->bound, c->type->declared->n_fields);

            set_member(in, fields[i].init->at, &c->elems[i], eval(in, inner, fields[i].init), false);
        }
    }
}

/* = {}, = {grid, block, ...}, = another */
void record_initialise(struct interp *in, struct env *env, struct cell *c, const struct expr *init)
{
    struct value v;

    if (record_is_made(c->type)) {
        record_construct(in, env, init ? init->at : NULL, c, init);
        return;
    }
    record_make(in, c, init && init->kind == EX_INIT);
    record_defaults(in, c);
    if (!init)
        return;
    v = eval(in, env, init);
    if (v.type->kind == TY_LIST && !(v.n_items == 1 && type_same(v.items[0].type, c->type)))
        fill(in, init->at, c, v);
    else
        record_assign(in, init->at, c, v.type->kind == TY_LIST ? v.items[0] : v);
}

struct value record_value(struct interp *in, const struct token *at, const struct type *t, struct value v)
{
    struct cell *c = cell_make(in, t, false);

    if (record_is_made(t) && v.type->kind == TY_LIST) {
        record_construct_of(in, at, c, (struct value *)v.items, NULL, v.n_items);
        return c->value;
    }
    record_make(in, c, true);
    if (v.type->kind == TY_LIST)
        fill(in, at, c, v);
    else
        record_assign(in, at, c, v);
    return c->value;
}

void record_map(struct interp *in, const struct token *at, struct cell *c, const struct tensor_map *m,
                struct value address)
{
    uint64_t words[ARRAY_LEN(map_fields)];

    if (c->type != &map_type || c->constant)
        fail(in->unit, at, "cuTensorMapEncodeTiled fills a CUtensorMap");
    memcpy(words, m, sizeof(words));
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        c->elems[i].value = i ? value_int(type_ulong, (int64_t)words[i]) : address;
        c->elems[i].known = true;
        access_log(in, &c->elems[i], true);
    }
}

/* Enumerators that cuTensorMapEncodeTiled takes: behind each beginning its names, from 0 on. */
bool record_map_constant(const char *name, struct value *out)
{
    static const char *const all[][2] = {
        {"CUDA_SUCCESS", "|"},
        {"CU_TENSOR_MAP_DATA_TYPE_", "UINT8|UINT16|UINT32|INT32|UINT64|INT64|FLOAT16|FLOAT32|FLOAT64|BFLOAT16|"
                                     "FLOAT32_FTZ|TFLOAT32|TFLOAT32_FTZ|"},
        {"CU_TENSOR_MAP_INTERLEAVE_", "NONE|16B|32B|"},
        {"CU_TENSOR_MAP_SWIZZLE_", "NONE|32B|64B|128B|"},
        {"CU_TENSOR_MAP_L2_PROMOTION_", "NONE|L2_64B|L2_128B|L2_256B|"},
        {"CU_TENSOR_MAP_FLOAT_OOB_FILL_", "NONE|NAN_REQUEST_ZERO_FMA|"},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t n = strlen(all[i][0]);
        const char *word = all[i][1];

        if (strncmp(all[i][0], name, n) != 0)
            continue;
        for (int value = 0; *word; value++) {
            size_t len = strcspn(word, "|");
            if (strlen(name + n) == len && !strncmp(name + n, word, len)) {
                *out = value_int(type_uint, value);
                return true;
            }
            word += len + 1;
        }
    }
    return false;
}

/* ---- by value to a kernel */

struct members {
    VEC(struct kernel_member) list;
};

static void flatten(struct interp *in, const struct token *at, const struct cell *c, int64_t offset,
                    struct members *to)
{
    for (int64_t i = 0; i < c->n_elems; i++) {
        const struct cell *m = &c->elems[i];
        const struct type *t = m->type;
        bool record = c->type->kind == TY_RECORD;
        int64_t here = offset + (record ? c->type->fields[i].offset : i * t->size);

        step_count(in, at);
        if (m->type == &map_type)
            fail(in->unit, at, "a tensor map within a struct; give it to the kernel as an argument of its own");
        if (m->elems) {
            flatten(in, at, m, here, to);
            continue;
        }
        if (t->kind == TY_STREAM) /* nothing of it can be used there */
            continue;
        if (t->kind != TY_SCALAR && t->kind != TY_POINTER)
            fail(in->unit, at, "a struct with a member of type %s; numbers and pointers go to a kernel",
                 type_spell(in->arena, t));
        if (m->known) /* a GPU would get whatever the others hold: here zero */
            vec_add(in->arena, &to->list,
                    ((struct kernel_member){(uint32_t)here, plan_value(in, at, m->value)}));
    }
}

struct kernel_value record_argument(struct interp *in, const struct token *at, struct value v)
{
    struct kernel_value k = {
        .type = KT_VOID, .struct_bytes = (uint32_t)v.type->size, .tensor_map = v.type == &map_type};
    struct members members = {0};

    if (!v.type->passable)
        fail(in->unit, at, "a %s is no argument of a kernel", v.type->name);
    if (v.type->size > 4096)
        fail(in->unit, at, "a struct of %lld bytes; a kernel's parameters have at most 4096",
             (long long)v.type->size);
    flatten(in, at, v.p.host, 0, &members);
    k.members = members.list.v;
    k.n_members = members.list.n;
    return k;
}

struct kernel_value record_bytes(struct interp *in, const struct token *at, struct value v, int64_t size_bytes)
{
    struct kernel_value k = {.type = KT_VOID, .struct_bytes = (uint32_t)size_bytes};
    struct cell all = {.type = arena_new(in->arena, struct type)};
    struct members members = {0};
    struct cell *first = host_cell(in, at, v, "what is copied");
    bool whole = first->elems && v.p.count == 1;

    if (whole) { /* &array, &struct */
        all = *first;
    } else {
        *(struct type *)all.type =
            (struct type){.kind = TY_ARRAY, .to = first->type, .n = v.p.count - v.p.index};
        all.elems = first;
        all.n_elems = all.type->n;
    }
    flatten(in, at, &all, 0, &members);
    for (size_t i = 0; i < members.list.n; i++) {
        const struct kernel_member *m = &members.list.v[i];
        int64_t bytes = m->value.pointer ? 8 : (int64_t)kernel_type_size(m->value.type);

        if (m->offset >= size_bytes)
            break;
        if (m->offset + bytes > size_bytes)
            fail(in->unit, at, "%lld bytes end within a value", (long long)size_bytes);
        k.n_members = i + 1;
    }
    if (size_bytes > (whole ? first->type->size : first->type->size * all.n_elems))
        fail(in->unit, at, "%lld bytes are more than the variable has", (long long)size_bytes);
    k.members = members.list.v;
    return k;
}
