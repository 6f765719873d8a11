/* Types: the built-in ones as a table, and what the file's own names stand for. Sizes and conversion ranks are
 * those of 64-bit Linux. */
#include "kernel/internal.h"

#define SCALAR(id, kt, spelling, bytes, rank_)                                                        \
    {                                                                                                 \
        .kind = TY_SCALAR, .scalar = kt, .name = spelling, .size = bytes, .align = bytes ? bytes : 1, \
        .rank = rank_                                                                                 \
    }

static const struct type scalars[] = {
    SCALAR(void, KT_VOID, "void", 0, 0),
    SCALAR(bool, KT_BOOL, "bool", 1, 1),
    SCALAR(char, KT_I8, "char", 1, 2),
    SCALAR(schar, KT_I8, "signed char", 1, 2),
    SCALAR(uchar, KT_U8, "unsigned char", 1, 2),
    SCALAR(short, KT_I16, "short", 2, 3),
    SCALAR(ushort, KT_U16, "unsigned short", 2, 3),
    SCALAR(int, KT_I32, "int", 4, 4),
    SCALAR(uint, KT_U32, "unsigned int", 4, 4),
    SCALAR(long, KT_I64, "long", 8, 5),
    SCALAR(ulong, KT_U64, "unsigned long", 8, 5),
    SCALAR(longlong, KT_I64, "long long", 8, 6),
    SCALAR(ulonglong, KT_U64, "unsigned long long", 8, 6),
    SCALAR(half, KT_F16, "__half", 2, 0),
    SCALAR(bf16, KT_BF16, "__nv_bfloat16", 2, 0),
    SCALAR(float, KT_F32, "float", 4, 0),
    SCALAR(double, KT_F64, "double", 8, 0),
    {.kind = TY_SCALAR,
     .scalar = KT_I32,
     .name = "cudaError_t",
     .size = 4,
     .align = 4,
     .rank = 4,
     .is_enum = true},
    {.kind = TY_DIM3, .name = "dim3", .size = 12, .align = 4},
    {.kind = TY_KERNEL, .name = "a kernel's address", .size = 8, .align = 8},
    {.kind = TY_STREAM, .name = "cudaStream_t", .size = 8, .align = 8},
    {.kind = TY_PROPERTIES, .name = "cudaDeviceProp", .size = 0, .align = 8},
    {.kind = TY_STRING, .name = "const char *", .size = 8, .align = 8},
    {.kind = TY_NULL, .name = "nullptr", .size = 8, .align = 8},
    {.kind = TY_LIST, .name = "a list in braces"},
    {.kind = TY_LAMBDA, .name = "a lambda", .size = 1, .align = 1},
};

const struct type *const
    type_void = &scalars[0],
    *const type_bool = &scalars[1], *const type_char = &scalars[2], *const type_int = &scalars[7],
    *const type_uint = &scalars[8], *const type_long = &scalars[9], *const type_ulong = &scalars[10],
    *const type_longlong = &scalars[11], *const type_ulonglong = &scalars[12], *const type_half = &scalars[13],
    *const type_bf16 = &scalars[14], *const type_float = &scalars[15], *const type_double = &scalars[16],
    *const type_error = &scalars[17], *const type_dim3 = &scalars[18], *const type_kernel = &scalars[19],
    *const type_stream = &scalars[20], *const type_properties = &scalars[21], *const type_string = &scalars[22],
    *const type_null = &scalars[23], *const type_list = &scalars[24], *const type_lambda = &scalars[25];

static const struct {
    const char *name, *canonical;
} aliases[] = {
    {"unsigned", "unsigned int"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"ssize_t", "long"},
    {"intptr_t", "long"},
    {"uintptr_t", "unsigned long"},
    {"int8_t", "signed char"},
    {"uint8_t", "unsigned char"},
    {"int16_t", "short"},
    {"uint16_t", "unsigned short"},
    {"int32_t", "int"},
    {"uint32_t", "unsigned int"},
    {"int64_t", "long"},
    {"uint64_t", "unsigned long"},
    {"uchar", "unsigned char"},
    {"ushort", "unsigned short"},
    {"uint", "unsigned int"},
    {"ulong", "unsigned long"},
    {"half", "__half"},
    {"half2", "__half2"},
    {"nv_bfloat16", "__nv_bfloat16"},
    {"nv_bfloat162", "__nv_bfloat162"},
    {"__nv_fp8_storage_t", "unsigned char"},
    {"__nv_fp8x2_storage_t", "unsigned short"},
    {"__nv_fp8x4_storage_t", "unsigned int"},
    {"cudaError", "cudaError_t"},
    {"cuuint32_t", "unsigned int"},
    {"cuuint64_t", "unsigned long"},
    {"CUresult", "unsigned int"},
    {"CUtensorMap_st", "CUtensorMap"},
    {"CUtensorMapDataType", "unsigned int"},
    {"CUtensorMapInterleave", "unsigned int"},
    {"CUtensorMapSwizzle", "unsigned int"},
    {"CUtensorMapL2promotion", "unsigned int"},
    {"CUtensorMapFloatOOBfill", "unsigned int"},
    {"cudaDriverEntryPointQueryResult", "unsigned int"},
    {"CUstream_st", "cudaStream_t"},
    {"byte", "unsigned char"},
    {"intmax_t", "long"},
    {"uintmax_t", "unsigned long"},
    {"int_fast32_t", "long"},
    {"uint_fast32_t", "unsigned long"},
    {"cuComplex", "float2"},
    {"cuDoubleComplex", "double2"},
};

/* Of the toolkit: structs of up to four numbers. */
static const struct {
    const char *base;
    const struct type *of;
} vectors[] = {
    {"char", &scalars[3]},      {"uchar", &scalars[4]},  {"short", &scalars[5]},      {"ushort", &scalars[6]},
    {"int", &scalars[7]},       {"uint", &scalars[8]},   {"long", &scalars[9]},       {"ulong", &scalars[10]},
    {"longlong", &scalars[11]}, {"float", &scalars[15]}, {"ulonglong", &scalars[12]}, {"double", &scalars[16]},
};

static struct type vector_types[ARRAY_LEN(vectors)][4];
static struct record_field vector_fields[ARRAY_LEN(vectors)][4];

#define PACKED(spelling, bytes)                                                         \
    {                                                                                   \
        .kind = TY_OPAQUE, .name = (spelling), .size = (bytes), .align = MIN(bytes, 4), \
    }
/* The states of random numbers are those that a launcher has pointers to. */
static const struct type packed_types[] = {
    PACKED("__half2", 4),         PACKED("__nv_bfloat162", 4),       PACKED("__nv_fp8_e4m3", 1),
    PACKED("__nv_fp8x2_e4m3", 2), PACKED("__nv_fp8x4_e4m3", 4),      PACKED("__nv_fp8_e5m2", 1),
    PACKED("__nv_fp8x2_e5m2", 2), PACKED("__nv_fp8x4_e5m2", 4),      PACKED("curandState", 48),
    PACKED("curandState_t", 48),  PACKED("curandStateXORWOW_t", 48), PACKED("curandStatePhilox4_32_10_t", 64),
};

/* Enumerations of CUB that templates take, each with its names from 0 on. */
#define CUB_ENUM(spelling, all)    \
    {                              \
        {.kind = TY_SCALAR,        \
         .scalar = KT_U32,         \
         .name = "cub::" spelling, \
         .size = 4,                \
         .align = 4,               \
         .rank = 4,                \
         .is_enum = true,          \
         .promoted = &scalars[7]}, \
            all                    \
    }
static const struct {
    struct type type;
    const char *names;
} cub_enums[] = {
    CUB_ENUM("BlockScanAlgorithm", "BLOCK_SCAN_RAKING|BLOCK_SCAN_RAKING_MEMOIZE|BLOCK_SCAN_WARP_SCANS"),
    CUB_ENUM("BlockReduceAlgorithm",
             "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY|BLOCK_REDUCE_RAKING|BLOCK_REDUCE_WARP_REDUCTIONS"),
    CUB_ENUM("BlockLoadAlgorithm",
             "BLOCK_LOAD_DIRECT|BLOCK_LOAD_STRIPED|BLOCK_LOAD_VECTORIZE|BLOCK_LOAD_TRANSPOSE|"
             "BLOCK_LOAD_WARP_TRANSPOSE|BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED"),
    CUB_ENUM("BlockStoreAlgorithm",
             "BLOCK_STORE_DIRECT|BLOCK_STORE_STRIPED|BLOCK_STORE_VECTORIZE|BLOCK_STORE_TRANSPOSE|"
             "BLOCK_STORE_WARP_TRANSPOSE|BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED"),
};

bool cub_constant(const char *name, struct value *out)
{
    name += 5 * str_starts(name, "cub::");
    for (size_t i = 0; i < ARRAY_LEN(cub_enums); i++) {
        const char *at = cub_enums[i].names;

        for (int64_t k = 0; *at; k++) {
            size_t len = strcspn(at, "|");

            if (len == strlen(name) && strncmp(at, name, len) == 0) {
                *out = value_int(&cub_enums[i].type, k);
                return true;
            }
            at += len + (at[len] == '|');
        }
    }
    return false;
}

static void vector_types_fill(void)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    static char names[ARRAY_LEN(vectors)][4][16];

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        for (int n = 1; n <= 4; n++) {
            int64_t each = vectors[i].of->size, size = each * n;

            vector_fields[i][n - 1] =
                (struct record_field){members[n - 1], &vectors[i].of, each * (n - 1), NULL};
            snprintf(names[i][n - 1], sizeof(names[i][n - 1]), "%s%d", vectors[i].base, n);
            vector_types[i][n - 1] = (struct type){.kind = TY_RECORD,
                                                   .name = names[i][n - 1],
                                                   .size = size,
                                                   .align = n == 3 ? each : MIN(size, 16),
                                                   .fields = vector_fields[i],
                                                   .n = n,
                                                   .passable = true};
        }
    }
}

static struct map builtins; /* every name of the types above */

static void builtin_put(const char *name, const struct type *t)
{
    map_put(&builtins, name, (void *)t);
}

__attribute__((constructor)) static void builtins_fill(void)
{
    vector_types_fill();
    for (size_t i = 0; i < 22; i++) /* the rest have no name in C++ */
        if (scalars[i].kind != TY_KERNEL)
            builtin_put(scalars[i].name, &scalars[i]);
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        for (size_t n = 0; n < 4; n++)
            builtin_put(vector_types[i][n].name, &vector_types[i][n]);
    for (size_t i = 0; i < ARRAY_LEN(packed_types); i++)
        builtin_put(packed_types[i].name, &packed_types[i]);
    for (size_t i = 0; i < ARRAY_LEN(cub_enums); i++) {
        builtin_put(cub_enums[i].type.name, &cub_enums[i].type);
        builtin_put(cub_enums[i].type.name + strlen("cub::"), &cub_enums[i].type);
    }
    builtin_put("PFN_" DRIVER_FUNCTION, type_kernel);
    builtin_put("PFN_" DRIVER_FUNCTION "_v12000", type_kernel);
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        builtin_put(aliases[i].name, type_builtin(aliases[i].canonical));
}

const struct type *type_builtin(const char *name)
{
    const struct type *t = map_get(&builtins, name);

    return t ? t : record_builtin(name);
}

bool type_builtin_name(const char *name)
{
    return type_builtin(name) ||
           str_in(name, "integral_constant|bool_constant|true_type|false_type|conditional_t|cudaDeviceAttr|"
                        "cudaFuncAttribute|cudaMemcpyKind|cudaLaunchAttributeID|long double");
}

const struct type *type_pointer(struct arena *a, const struct type *to, bool to_const)
{
    struct type *t = arena_new(a, struct type);

    *t = (struct type){
        .kind = TY_POINTER, .name = "pointer", .size = 8, .align = 8, .to = to, .to_const = to_const};
    return t;
}

bool type_same(const struct type *a, const struct type *b)
{
    while (a != b) {
        if (a->kind != b->kind)
            return false;
        switch (a->kind) {
        case TY_POINTER:
            if (a->to_const != b->to_const)
                return false;
            break;
        case TY_ARRAY:
            if (a->n != b->n)
                return false;
            break;
        case TY_SCALAR:
        case TY_CONSTANT:
        case TY_OPAQUE:
        case TY_RECORD:
            return strcmp(a->name, b->name) == 0;
        default:
            return true;
        }
        a = a->to;
        b = b->to;
    }
    return true;
}

bool type_is_integer(const struct type *t)
{
    return t->kind == TY_SCALAR && t->scalar >= KT_BOOL && t->scalar <= KT_U64;
}

bool type_is_float(const struct type *t)
{
    return t->kind == TY_SCALAR && t->scalar >= KT_F16;
}

bool type_is_arithmetic(const struct type *t)
{
    return t->kind == TY_SCALAR && t->scalar != KT_VOID;
}

bool type_is_signed(const struct type *t)
{
    return t->kind == TY_SCALAR && (t->scalar == KT_I8 || t->scalar == KT_I16 || t->scalar == KT_I32 ||
                                    t->scalar == KT_I64 || t->scalar >= KT_F16);
}

const char *type_spell(struct arena *a, const struct type *t)
{
    if (t->kind == TY_POINTER)
        return arena_printf(a, "%s%s%s*", t->to_const ? "const " : "", type_spell(a, t->to),
                            t->to->kind == TY_POINTER ? "" : " ");
    if (t->kind == TY_ARRAY)
        return arena_printf(a, "%s[%lld]", type_spell(a, t->to), (long long)t->n);
    return t->name;
}

/* ---- what names stand for */

static const struct type *resolve(struct interp *in, struct env *env, const struct type_node *n,
                                  const struct type *automatic);

struct env *bind_template(struct interp *in, struct env *env, const struct template_param *tparams,
                          size_t n_tparams, const struct type_node *n)
{
    struct env *bound = arena_new(in->arena, struct env);
    struct template_arg *args = eval_template_args(in, env, n->args, n->n_args);

    if (n->n_args > n_tparams)
        fail(in->unit, n->at, "%s takes %zu template arguments", n->name, n_tparams);
    for (size_t i = 0; i < n_tparams; i++) {
        const struct template_param *p = &tparams[i];
        struct template_arg arg;

        if (i < n->n_args)
            arg = args[i];
        else if (p->fallback.type || p->fallback.value)
            arg = *eval_template_args(in, bound, &p->fallback, 1);
        else
            fail(in->unit, n->at, "%s needs a template argument for %s", n->name, p->name);
        if (p->is_type != !!arg.type)
            fail(in->unit, n->at, "the template argument for %s of %s must be a %s", p->name, n->name,
                 p->is_type ? "type" : "value");
        if (p->is_type) {
            env_bind_type(in, bound, p->name, arg.type);
        } else {
            const struct type *of = type_resolve_for(in, bound, p->type, arg.value.type);
            struct cell *c = cell_make(in, of, true);

            c->value = convert_same(in, n->at, arg.value, of);
            c->known = true;
            env_bind(in, bound, p->name, c);
        }
    }
    return bound;
}

static bool is_enable_if(const struct type_node *n)
{
    return n->kind == TN_NAME && n->look == LOOK_STD && n->n_args && n->args[0].value &&
           (str_eq(n->name, "enable_if_t") || str_eq(n->name, "enable_if::type"));
}

bool type_enabled(struct interp *in, struct env *env, const struct type_node *n)
{
    while (n && n->kind == TN_POINTER)
        n = n->to;
    return !n || !is_enable_if(n) || truth(in, n->at, eval(in, env, n->args[0].value));
}

static const char *arg_spell(struct interp *in, const struct token *at, const struct template_arg *arg)
{
    return arg->type ? type_spell(in->arena, arg->type) : spell_value(in, at, &arg->value);
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* #pragma pack */
static int64_t packed(const struct type_name *s, int64_t align)
{
    return s->pack ? MIN(align, s->pack) : align;
}

/* Of member i; the extents of an array may be static constants, and its elements of a type that stand before
 * it. */
static const struct type *field_type(struct interp *in, const struct type_name *t, struct env *bound, size_t i)
{
    const struct type_node *n = t->fields[i].type;

    return type_resolve(in, members_before(in, t, bound, n->kind == TN_ARRAY ? i : 0), n);
}

/* What the struct comes from, where its own members surely stand behind all of it; NULL: nobody knows. Padding
 * at its end could be theirs, unless it is plain data (Itanium C++ ABI 2.2, POD). */
static const struct type *base_of(struct interp *in, const struct type_name *t, struct env *env)
{
    const struct type *base = type_resolve(in, members_before(in, t, env, 0), t->base);
    const struct record_field *last = base->kind == TY_RECORD && base->n ? &base->fields[base->n - 1] : NULL;
    if (base->declared && base->declared->constructed)
        return NULL;
    bool plain = base->declared && !base->declared->base && !base->declared->has_table;

    for (int64_t i = 0; last && i < base->n; i++)
        plain = plain && !base->fields[i].init;
    return last && (plain || last->offset + (*last->type)->size == base->size) ? base : NULL;
}

static void layout_struct(struct interp *in, const struct type_name *s, struct env *env, int64_t *size,
                          int64_t *align)
{
    int64_t at = 0, most = 1;

    if (s->base) {
        const struct type *base = base_of(in, s, env);

        at = base ? base->size : 0;
        most = base ? base->align : 1;
        if (!base || (s->has_table && !(base->declared && base->declared->has_table)))
            return;
    } else if (s->has_table) {
        at = most = 8;
    }
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct type *t;

        if (s->fields[i].value)
            continue;
        t = field_type(in, s, env, i);
        if (t->size == 0) { /* not understood: so is the whole */
            *size = 0;
            *align = 1;
            return;
        }
        at = round_up(at, packed(s, t->align)) + t->size;
        most = MAX(most, packed(s, t->align));
        if (at > INT32_MAX)
            fail(in->unit, s->fields[i].type->at, "struct %s is larger than 2 GB", s->name);
    }
    if (s->align) {
        int64_t wanted = to_integer(in, s->align->at, eval(in, env, s->align), "the alignment");

        if (wanted > 0 && wanted <= 4096)
            most = MAX(most, wanted);
    }
    *size = round_up(MAX(at, 1), most);
    *align = most;
}

/* Its members, with their places. Types that are never values leave it opaque. */
static void make_record(struct interp *in, const struct type_name *t, struct env *env, struct type *s)
{
    const struct type *base = t->base ? base_of(in, t, env) : NULL;
    const size_t inherited = base ? (size_t)base->n : 0;
    struct record_field *fields = arena_array(in->arena, struct record_field, t->n_fields + inherited + 1);
    const struct type **types = arena_array(in->arena, const struct type *, t->n_fields + 1);
    int64_t at = base ? base->size : 0, n = 0;

    if (!base && t->has_table) /* where its virtual functions are, which only the host knows */
        at = 8;
    for (size_t i = 0; i < inherited; i++)
        fields[i] = base->fields[i];
    fields += inherited;
    for (size_t i = 0; i < t->n_fields; i++) {
        const struct type *of;

        if (t->fields[i].value)
            continue;
        types[n] = of = field_type(in, t, env, i);
        at = round_up(at, packed(t, of->align));
        fields[n] = (struct record_field){t->fields[i].name, &types[n], at, t->fields[i].init};
        at += of->size;
        n++;
        while (of->kind == TY_ARRAY)
            of = of->to;
        if (t->fields[i].type->kind == TN_REFERENCE ||
            (of->kind != TY_SCALAR && of->kind != TY_POINTER && of->kind != TY_RECORD && of->kind != TY_DIM3 &&
             of->kind != TY_STREAM && of->kind != TY_KERNEL))
            return;
    }
    s->kind = TY_RECORD;
    s->fields = fields - inherited;
    s->n = n + (int64_t)inherited;
    s->passable = true;
}

/* Are its constructors, and what copies it, understood? */
static bool is_makeable(const struct type_name *t)
{
    return !t->unmade && !t->base;
}

static const struct type *resolve_struct(struct interp *in, struct env *env, const struct type_name *t,
                                         const struct type_node *n)
{
    struct type *s = arena_new(in->arena, struct type);
    struct env *bound = t->is_template ? bind_template(in, env, t->tparams, t->n_tparams, n) : NULL;
    const struct type_name *general = t;

    const struct type_name *special = bound ? type_special(in, t, &bound) : t;
    t = special ? special : t;
    *s = (struct type){.kind = TY_OPAQUE, .name = t->qualified, .align = 1, .declared = t, .bound = bound};
    if (general->is_template) {
        struct template_arg *args = eval_template_args(in, env, n->args, n->n_args);

        s->name = arena_printf(in->arena, "%s<", general->qualified);
        for (size_t i = 0; i < n->n_args; i++) {
            const char *arg = arg_spell(in, n->at, &args[i]);

            if (!arg)
                fail(in->unit, n->at, "template argument %zu of %s is %s; allowed are " TEMPLATE_ARGS, i + 1,
                     t->name, type_spell(in->arena, args[i].value.type));
            s->name = arena_printf(in->arena, "%s%s%s", s->name, i ? ", " : "", arg);
        }
        s->name = arena_printf(in->arena, "%s>", s->name);
        if (strlen(s->name) > 2000)
            fail(in->unit, n->at, "the template arguments of %s are too long", t->name);
    }
    if (!t->opaque && special)
        layout_struct(in, t, bound, &s->size, &s->align);
    if (s->size > 0 && (!t->constructed || is_makeable(t)))
        make_record(in, t, bound, s);
    return s;
}

/* std::integral_constant<int, 4> and its short forms; NULL for other names. */
static const struct type *resolve_constant(struct interp *in, struct env *env, const struct type_node *n)
{
    const struct type *of = type_bool;
    struct value v = value_int(type_bool, strcmp(n->name, "true_type") == 0);
    struct type *t;

    if (strcmp(n->name, "integral_constant") == 0 && n->n_args == 2 && n->args[0].type && n->args[1].value) {
        of = resolve(in, env, n->args[0].type, NULL);
        v = eval(in, env, n->args[1].value);
    } else if (strcmp(n->name, "bool_constant") == 0 && n->n_args == 1 && n->args[0].value) {
        v = eval(in, env, n->args[0].value);
    } else if (strcmp(n->name, "true_type") != 0 && strcmp(n->name, "false_type") != 0) {
        return NULL;
    }
    if (!type_is_integer(of))
        fail(in->unit, n->at, "an integral_constant of %s", type_spell(in->arena, of));
    t = arena_new(in->arena, struct type);
    *t = (struct type){.kind = TY_CONSTANT, .size = 1, .align = 1, .to = of};
    t->n = convert(in, n->at, v, of, false).i;
    t->name =
        arena_printf(in->arena, "std::integral_constant<%s, %lld>", type_spell(in->arena, of), (long long)t->n);
    return t;
}

/* The underlying type that g++ gives an enumeration without one: the first that holds all values. */
static const struct type *fitting(int64_t least, int64_t most)
{
    if (least < 0)
        return least >= INT32_MIN && most <= INT32_MAX ? type_int : type_long;
    return most <= UINT32_MAX ? type_uint : type_ulong;
}

/* As g++ does it: a signed type, when that holds all values. */
static const struct type *promoted(const struct type *under, int64_t most)
{
    if (under == type_ulong)
        return type_long;
    return under == type_uint && most <= INT32_MAX ? type_int : under;
}

const struct type *type_of_enum(struct interp *in, const struct type_name *own)
{
    struct type *e = arena_new(in->arena, struct type);
    const struct type *under = type_int, *of;
    int64_t least = 0, most = 0;

    if (own->alias) {
        under = resolve(in, NULL, own->alias, NULL);
    } else if (!own->scoped) {
        const struct type_name *outer = in->enum_open;

        in->enum_open = own;
        for (size_t i = 0; i < in->unit->enumerators.n; i++) {
            if (in->unit->enumerators.v[i]->type != own)
                continue;
            int64_t v = enumerator_value(in, in->unit->enumerators.v[i], &of);
            least = MIN(least, v);
            most = MAX(most, v);
        }
        in->enum_open = outer;
        under = fitting(least, most);
    }
    *e = *under;
    e->promoted = own->alias || own->scoped ? type_promote(under) : promoted(under, most);
    e->name = *own->qualified ? own->qualified : "an enumeration";
    e->is_enum = true;
    e->scoped = own->scoped;
    e->declared = own;
    return e;
}

/* Type::name, of a struct of the file; NULL: it has none of that name. */
static const struct type *resolve_member(struct interp *in, struct env *env, const struct type_node *n)
{
    const char *colon = strrchr(n->name, ':');
    struct type_node head = *n;
    const struct type *t;
    const struct type_node *member;

    if (!colon || colon == n->name || n->look == LOOK_STD)
        return NULL;
    head.name = arena_strndup(in->arena, n->name, (size_t)(colon - 1 - n->name));
    if (!(n->look == LOOK_HERE && env_find_type(env, head.name)) &&
        !type_name_find(in->unit, (struct name_use){head.name, n->scope, n->look, n->at}))
        return NULL;
    t = resolve(in, env, &head, NULL);
    if (!t->declared || !t->declared->is_struct)
        return NULL;
    if (t->declared->specialised || (t->declared->partial.n && !t->size))
        fail(in->unit, n->at,
             "%s has specialisations that are not understood; use if constexpr or ?:", t->declared->name);
    member = member_type_find(t->declared, colon + 1);
    return member ? resolve(in, members_before(in, t->declared, t->bound, 0), member, NULL) : NULL;
}

/* A type or a template of the file, with the arguments of n. */
static const struct type *resolve_own(struct interp *in, struct env *env, const struct type_name *own,
                                      const struct type_node *n)
{
    if (own->is_enum)
        return type_of_enum(in, own);
    if (own->is_struct)
        return resolve_struct(in, env, own, n);
    return resolve(in, own->is_template ? bind_template(in, env, own->tparams, own->n_tparams, n) : NULL,
                   own->alias, NULL);
}

const struct type *type_template(struct interp *in, struct env *env, const struct type_node *n)
{
    const struct type_name *own;
    struct type *t;

    if (n->kind != TN_NAME || n->n_args || (n->look == LOOK_HERE && env_find_type(env, n->name)))
        return NULL;
    own = type_name_find(in->unit, (struct name_use){n->name, n->scope, n->look, n->at});
    if (!own || !own->is_template)
        return NULL;
    t = arena_new(in->arena, struct type);
    *t = (struct type){.kind = TY_OPAQUE, .name = own->qualified, .align = 1, .declared = own};
    return t;
}

static const struct type *resolve_name(struct interp *in, struct env *env, const struct type_node *n)
{
    const struct type *t = n->look == LOOK_HERE ? env_find_type(env, n->name) : NULL;
    const struct type_name *own;

    if (t && t->declared && t->declared->is_template && !t->bound && n->n_args)
        return resolve_own(in, env, t->declared, n);
    if (t)
        return t;
    for (struct env *e = env; e && n->look == LOOK_HERE; e = e->up) {
        const struct type_node *member = e->within ? member_type_find(e->within, n->name) : NULL;
        const struct type *base = e->within && !member && e->within->base && !strstr(n->name, "::")
                                      ? type_resolve(in, e->up, e->within->base)
                                      : NULL;

        if (base && base->declared)
            member = member_type_find(base->declared, n->name);

        if (member)
            return resolve(in, e, member, NULL);
    }
    own = type_name_find(in->unit, (struct name_use){n->name, n->scope, n->look, n->at});
    if (own)
        return resolve_own(in, env, own, n);
    t = resolve_member(in, env, n);
    if (t)
        return t;
    t = type_builtin(n->name);
    if (t)
        return t;
    if (str_in(n->name, "cudaDeviceAttr|cudaFuncAttribute|cudaMemcpyKind|cudaLaunchAttributeID"))
        return type_int;
    t = resolve_constant(in, env, n);
    if (t)
        return t;
    if ((str_eq(n->name, "conditional_t") || str_eq(n->name, "conditional::type")) && n->n_args == 3 &&
        n->args[0].value && n->args[1].type && n->args[2].type)
        return resolve(in, env,
                       truth(in, n->at, eval(in, env, n->args[0].value)) ? n->args[1].type : n->args[2].type,
                       NULL);
    if (is_enable_if(n)) {
        if (!type_enabled(in, env, n))
            fail(in->unit, n->at, "the condition of %s does not hold", n->name);
        return n->n_args > 1 && n->args[1].type ? resolve(in, env, n->args[1].type, NULL) : type_void;
    }
    if (in->pointee == n)
        return type_unknown;
    fail(
        in->unit, n->at,
        "the type %.200s is not understood; allowed are the integer and floating types, __half, __nv_bfloat16, vector "
        "types such as float4, pointers, dim3, cudaError_t, cudaStream_t, cudaDeviceProp and this file's own",
        n->name);
}

static const struct type *resolve_kind(struct interp *in, struct env *env, const struct type_node *n,
                                       const struct type *automatic)
{
    const struct type *to;
    struct value function;
    struct type *t;

    switch (n->kind) {
    case TN_NAME:
        return resolve_name(in, env, n);
    case TN_POINTER:
        if (n->to->kind == TN_AUTO && automatic && automatic->kind == TY_KERNEL)
            return automatic; /* auto *f = &kernel */
        in->pointee = n->to;
        if (n->to->kind == TN_DECLTYPE && driver_named(in, n->to->of, &function))
            return type_kernel;
        to = resolve(in, env, n->to, automatic && automatic->kind == TY_POINTER ? automatic->to : automatic);
        /* auto *p, where auto stands for the pointee */
        return type_pointer(in->arena, to,
                            n->to->constant || (n->to->kind == TN_AUTO && automatic &&
                                                automatic->kind == TY_POINTER && automatic->to_const));
    case TN_REFERENCE:
        return resolve(in, env, n->to, automatic);
    case TN_FUNCTION:
        return type_kernel;
    case TN_AUTO:
        if (!automatic)
            fail(in->unit, n->at, "auto needs an initial value");
        return automatic;
    case TN_DECLTYPE: {
        if (n->of->kind == EX_UNARY && n->of->op == OP_ADDR && driver_named(in, n->of->a, &function))
            return type_kernel;
        const struct type *of = type_static(in, env, n->of);

        if (!of || n->of->kind == EX_INDEX || n->of->kind == EX_COND || n->of->kind == EX_ASSIGN ||
            n->of->kind == EX_COMMA || n->of->kind == EX_UNARY)
            fail(in->unit, n->at, "what decltype gives here is not understood; write the type");
        return of;
    }
    case TN_ARRAY:
        break;
    }
    t = arena_new(in->arena, struct type);
    to = resolve(in, env, n->to, automatic);
    *t = (struct type){.kind = TY_ARRAY, .name = "array", .to = to, .align = to->align, .n = -1};
    if (n->size) {
        t->n = to_integer(in, n->at, eval(in, env, n->size), "the size of an array");
        if (t->n < 0 || t->n > INT32_MAX)
            fail(in->unit, n->at, "an array of %lld elements", (long long)t->n);
        if (to->size > 0 && t->n > INT32_MAX / to->size)
            fail(in->unit, n->at, "an array of more than 2 GB");
        t->size = t->n * to->size;
    }
    return t;
}

static const struct type *resolve(struct interp *in, struct env *env, const struct type_node *n,
                                  const struct type *automatic)
{
    const struct type *t;

    eval_enter(in, n->at);
    t = resolve_kind(in, env, n, automatic);
    in->eval_depth--;
    return t;
}

const struct type *type_resolve(struct interp *in, struct env *env, const struct type_node *n)
{
    return resolve(in, env, n, NULL);
}

const struct type *type_resolve_for(struct interp *in, struct env *env, const struct type_node *n,
                                    const struct type *automatic)
{
    return resolve(in, env, n, automatic);
}
