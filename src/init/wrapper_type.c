/* What the types in a wrapper stand for: numbers and pointers as a task has them, tensors with their extents.
 */
#include "init/wrapper.h"

#include <ctype.h>

/* A C type, what a task calls it, and how many of it a vector type holds. */
static const struct known_type {
    const char *spelled, *type;
    int lanes;
} known_types[] = {
    {"float", "f32", 1},
    {"double", "f64", 1},
    {"__half", "f16", 1},
    {"half", "f16", 1},
    {"nv_half", "f16", 1},
    {"__nv_bfloat16", "bf16", 1},
    {"nv_bfloat16", "bf16", 1},
    {"bool", "bool", 1},
    {"int8_t", "i8", 1},
    {"char", "i8", 1},
    {"signed char", "i8", 1},
    {"uint8_t", "u8", 1},
    {"unsigned char", "u8", 1},
    {"uchar", "u8", 1},
    {"short", "i16", 1},
    {"int16_t", "i16", 1},
    {"unsigned short", "u16", 1},
    {"uint16_t", "u16", 1},
    {"ushort", "u16", 1},
    {"int", "i32", 1},
    {"int32_t", "i32", 1},
    {"unsigned", "u32", 1},
    {"unsigned int", "u32", 1},
    {"uint32_t", "u32", 1},
    {"uint", "u32", 1},
    {"int64_t", "i64", 1},
    {"long", "i64", 1},
    {"long int", "i64", 1},
    {"long long", "i64", 1},
    {"long long int", "i64", 1},
    {"ptrdiff_t", "i64", 1},
    {"ssize_t", "i64", 1},
    {"uint64_t", "u64", 1},
    {"unsigned long", "u64", 1},
    {"size_t", "u64", 1},
    {"std::size_t", "u64", 1},
    {"unsigned long long", "u64", 1},
    {"unsigned long int", "u64", 1},
    {"unsigned long long int", "u64", 1},
    {"long unsigned int", "u64", 1},
    {"long unsigned", "u64", 1},
    {"long long unsigned int", "u64", 1},
    {"short int", "i16", 1},
    {"unsigned short int", "u16", 1},
    {"half2", "f16", 2},
    {"__half2", "f16", 2},
    {"__nv_bfloat162", "bf16", 2},
    {"nv_bfloat162", "bf16", 2},
    {"float2", "f32", 2},
    {"float3", "f32", 3},
    {"float4", "f32", 4},
    {"double2", "f64", 2},
    {"int2", "i32", 2},
    {"int3", "i32", 3},
    {"int4", "i32", 4},
    {"uint2", "u32", 2},
    {"uint3", "u32", 3},
    {"uint4", "u32", 4},
    {"char2", "i8", 2},
    {"char4", "i8", 4},
    {"uchar4", "u8", 4},
    {"short2", "i16", 2},
    {"short3", "i16", 3},
    {"short4", "i16", 4},
    {"ushort2", "u16", 2},
    {"ushort3", "u16", 3},
    {"ushort4", "u16", 4},
    {"char3", "i8", 3},
    {"uchar2", "u8", 2},
    {"uchar3", "u8", 3},
    {"double3", "f64", 3},
    {"double4", "f64", 4},
    {"dim3", "u32", 3},
    {"cuComplex", "f32", 2},
    {"cufftComplex", "f32", 2},
    {"cufftReal", "f32", 1},
    {"cufftDoubleComplex", "f64", 2},
    {"cufftDoubleReal", "f64", 1},
    {"cuFloatComplex", "f32", 2},
    {"cuDoubleComplex", "f64", 2},
    {"longlong2", "i64", 2},
    {"ulonglong2", "u64", 2},
    {"__nv_fp8_e4m3", "u8", 1},
    {"__nv_fp8_e5m2", "u8", 1},
    {"__nv_fp8x2_e4m3", "u8", 2},
    {"__nv_fp8x4_e4m3", "u8", 4},
};

bool wrapper_is_bits(const char *spelled)
{
    return str_starts(spelled, "__nv_fp8");
}

/* The framework's names of the same types. */
static const struct {
    const char *name, *spelled;
} frameworks[] = {
    {"Half", "__half"},
    {"BFloat16", "__nv_bfloat16"},
    {"SymInt", "int64_t"},
    {"at_half", "__half"},
    {"float16_t", "__half"},
    {"bfloat16_t", "__nv_bfloat16"},
    {"ArrayRef", NULL},
    {"int8", "int8_t"},
    {"int16", "int16_t"},
    {"int32", "int32_t"},
    {"int64", "int64_t"},
    {"uint8", "uint8_t"},
    {"uint16", "uint16_t"},
    {"uint32", "uint32_t"},
    {"uint64", "uint64_t"},
    {"float32", "float"},
    {"float64", "double"},
    {"Float8_e4m3fn", "__nv_fp8_e4m3"},
    {"Float8_e5m2", "__nv_fp8_e5m2"},
};

static const struct {
    const char *names, *type, *spelled;
    int number;
} dtypes[] = {
    {"Byte|UInt8", "u8", "uint8_t", 0},   {"Char|Int8", "i8", "int8_t", 1},
    {"Short|Int16", "i16", "int16_t", 2}, {"Int|Int32", "i32", "int", 3},
    {"Long|Int64", "i64", "int64_t", 4},  {"Half|Float16", "f16", "__half", 5},
    {"Float|Float32", "f32", "float", 6}, {"Double|Float64", "f64", "double", 7},
    {"Bool", "bool", "bool", 11},         {"BFloat16", "bf16", "__nv_bfloat16", 15},
};

int wrapper_dtype(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++) {
        if (str_in(name, dtypes[i].names) || (*name == 'k' && str_in(name + 1, dtypes[i].names)))
            return dtypes[i].number;
    }
    return -1;
}

int wrapper_dtype_of(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++) {
        if (str_eq(type, dtypes[i].type))
            return dtypes[i].number;
    }
    return -1;
}

const char *wrapper_default_type(const char *name)
{
    static const char *const integers[] = {"idx", "index", "IdT", "itype", "int", "offset", "label", "indptr"};

    for (size_t i = 0; i < ARRAY_LEN(integers); i++) {
        if (strcasestr(name, integers[i]))
            return "int32_t";
    }
    if (str_starts(name, "Ind")) /* not Kind */
        return "int32_t";
    return str_starts(name, "size") ? "uint32_t" : "float";
}

const char *wrapper_dtype_spelled(int dtype)
{
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++) {
        if (dtypes[i].number == dtype)
            return dtypes[i].spelled;
    }
    return NULL;
}

const char *wrapper_spelled(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
        if (str_eq(type, known_types[i].type) && known_types[i].lanes == 1)
            return known_types[i].spelled;
    }
    return NULL;
}

const char *wrapper_file_alias(struct wrapper_reader *r, const char *name)
{
    const struct init_names *found = init_named(r->source, name);

    for (size_t i = 0; found && i < found->decls.n; i++) {
        const struct init_decl *d = &r->source->decls.v[found->decls.v[i]];
        const struct token *t = &r->source->tokens.v[d->first];
        size_t end = d->end;

        while (end > d->first && token_is(&r->source->tokens.v[end - 1], ";"))
            end--;
        if (d->is_template || end < d->first + 3)
            continue;
        if (token_is(t, "typedef") && r->source->tokens.v[end - 1].kind == TOK_WORD &&
            str_eq(token_text(r->arena, &r->source->tokens.v[end - 1]), name))
            return init_text(r->source, d->first + 1, end - 1);
        if (token_is(t, "using") && token_is(t + 2, "="))
            return init_text(r->source, d->first + 3, end);
    }
    return NULL;
}

static const struct known_type *resolve(struct wrapper_reader *r, const char *spelled, int depth)
{
    const char *last, *next;

    if (!spelled || depth > 8)
        return NULL;
    if (str_starts(spelled, "const "))
        spelled += 6;
    if (str_starts(spelled, "typename "))
        spelled += 9;
    if (str_starts(spelled, "struct "))
        spelled += 7;
    next = map_get(&r->alias, spelled);
    if (next && !str_eq(next, spelled))
        return resolve(r, next, depth + 1);
    for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
        if (str_eq(spelled, known_types[i].spelled))
            return &known_types[i];
    }
    last = last_name(spelled);
    if (str_starts(spelled, "std::") || str_starts(spelled, "::")) {
        for (size_t i = 0; i < ARRAY_LEN(known_types); i++) {
            if (str_eq(last, known_types[i].spelled))
                return &known_types[i];
        }
    }
    next = wrapper_file_alias(r, last);
    if (next && !str_eq(next, spelled))
        return resolve(r, next, depth + 1);
    for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
        if (str_eq(last, frameworks[i].name))
            return resolve(r, frameworks[i].spelled, depth + 1);
    }
    return NULL;
}

const char *wrapper_resolved(struct wrapper_reader *r, const char *spelled)
{
    const struct known_type *k = resolve(r, spelled, 0);

    return k ? k->spelled : spelled;
}

const char *wrapper_type_name(struct wrapper_reader *r, const char *spelled, int *lanes)
{
    const struct known_type *k = resolve(r, spelled, 0);

    if (lanes)
        *lanes = k ? k->lanes : 1;
    return k ? k->type : NULL;
}

/* What the name of a pointer's type points to; NULL: it is no such name. */
static const char *pointer_alias(struct wrapper_reader *r, const char *spelled)
{
    const char *of = map_get(&r->alias, spelled);

    of = of ? of : wrapper_file_alias(r, last_name(spelled));
    if (!of || !str_ends(of, "*") || strchr(of, '('))
        return NULL;
    size_t len = strlen(of) - 1;
    while (len && of[len - 1] == ' ')
        len--;
    return arena_strndup(r->arena, of, len);
}

struct wrapper_type wrapper_type_of(struct wrapper_reader *r, const struct token *v, size_t first, size_t last)
{
    struct wrapper_type t = {.lanes = 1};
    struct str words = {0};
    const struct known_type *k;
    const char *spelled, *stated;

    for (size_t i = first; i < last; i++) {
        if (token_is(&v[i], "const"))
            t.constant = t.constant || !t.pointer;
        else if (wrapper_sign(&v[i], "* [")) {
            t.pointer = true;
            t.stars++;
        } else if (wrapper_sign(&v[i], "& &&"))
            t.reference = true;
        else if (
            token_in(
                &v[i],
                "__restrict__|__restrict|restrict|__grid_constant__|volatile|static|inline|constexpr|struct|enum|typename"))
            continue;
        else {
            if (words.len && v[i].kind == TOK_WORD && v[i - 1].kind == TOK_WORD)
                str_addc(&words, ' ');
            str_addn(&words, v[i].s, v[i].len);
        }
    }
    spelled = words.s ? str_take(&words, r->arena) : "";
    if (!t.pointer && (stated = pointer_alias(r, spelled))) { /* `using pointer = T *;` */
        t.pointer = true;
        t.stars = 1;
        spelled = stated;
    }
    stated = map_get(&r->alias, spelled);
    if (stated && str_starts(stated, "const "))
        t.constant = true;
    if (str_starts(spelled, "const ")) {
        t.constant = true;
        spelled += 6;
    }
    stated = last_name(spelled);
    t.optional = strcasestr(spelled, "optional<") != NULL;
    t.tensor = str_in(stated, "Tensor|TensorView|Tensor>|TensorView>") || str_ends(spelled, "Tensor") ||
               str_starts(spelled, "Tensor_<") || (strstr(spelled, "Ref<") && str_ends(spelled, "Tensor>")) ||
               (t.optional && (strstr(spelled, "Tensor>") || strstr(spelled, "TensorView>")));
    t.pointer = t.pointer && !t.tensor;
    t.stream =
        str_eq(spelled, "cudaStream_t") || str_eq(spelled, "CUstream") || str_ends(spelled, "CUDAStream");
    if (str_eq(map_get(&r->alias, spelled), "cudaStream_t") ||
        str_eq(wrapper_file_alias(r, spelled), "cudaStream_t"))
        t.stream = true;
    k = resolve(r, spelled, 0);
    t.stream = t.stream || (!k && str_ends(spelled, "Stream_t")); /* of a build for several vendors */
    if (!k && map_has(&r->alias, spelled)) /* a template's parameter, which is a struct */
        spelled = map_get(&r->alias, spelled);
    t.spelled = spelled;
    if (k) {
        t.spelled = k->spelled;
        t.type = k->type;
        t.lanes = k->lanes;
    } else if (t.pointer && t.stars == 1 && !str_eq(spelled, "void"))
        t.type = wrapper_plain_elements(r, spelled, &t.lanes);
    return t;
}

const char *wrapper_cast_of(struct wrapper_reader *r, const struct token *v, size_t first, size_t end,
                            const char *name)
{
    for (size_t i = first; i < end; i++) {
        size_t close = i - 1, open;
        if (!token_is(&v[i], name))
            continue;
        if (token_is(&v[close], "(") && token_is(&v[close - 1], ">"))
            close--;
        if (!wrapper_sign(&v[close], "> )"))
            continue;
        open = close;
        while (open > first - 4 && !wrapper_sign(&v[open], "< ("))
            open--;
        struct wrapper_type t = wrapper_type_of(r, v, open + 1, close);
        if (t.pointer && wrapper_type_name(r, t.spelled, NULL))
            return t.spelled;
    }
    return NULL;
}

/* ---- tensors */

struct wrapper_tensor *wrapper_tensor_find(struct wrapper_reader *r, const struct token *t)
{
    if (t->kind != TOK_WORD)
        return NULL;
    for (size_t i = r->tensors.n; i-- > 0;) {
        if (token_is(t, r->tensors.v[i]->name))
            return r->tensors.v[i];
    }
    return NULL;
}

void wrapper_give_back(struct wrapper_reader *r, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        struct wrapper_tensor *t = wrapper_tensor_find(r, &r->v[i]);
        if (t)
            t->returned = true;
    }
}

struct wrapper_tensor *wrapper_tensor_add(struct wrapper_reader *r, const char *name)
{
    struct wrapper_tensor *t;

    for (size_t i = 0; i < r->tensors.n; i++) {
        if (str_eq(r->tensors.v[i]->name, name))
            return r->tensors.v[i];
    }
    t = arena_new(r->arena, struct wrapper_tensor);
    t->name = t->pointer = arena_strdup(r->arena, name);
    vec_add(r->arena, &r->tensors, t);
    return t;
}

void wrapper_need_dim(struct wrapper_reader *r, const char *name)
{
    const char *spelled = map_get(&r->named, name);

    for (size_t i = 0; i < r->dims.n; i++) {
        if (str_eq(r->dims.v[i].name, name))
            return;
    }
    for (size_t i = 0; i < r->f.n_list; i++) { /* callers give it */
        struct wrapper_type t = wrapper_type_of(r, r->v, r->f.list[i].first, r->f.list[i].last);
        if (str_eq(r->f.list[i].name, name) && t.type && !t.pointer && !t.tensor)
            return;
    }
    vec_add(r->arena, &r->dims, ((struct wrapper_dim){name, spelled ? spelled : "int64_t"}));
}

const char *wrapper_extent(struct wrapper_reader *r, struct wrapper_tensor *t, int i)
{
    int rank = i < 0 ? -i : i + 1;

    if (rank > WRAPPER_RANK)
        rank = WRAPPER_RANK;
    if (rank > t->rank && !r->final)
        t->rank = rank;
    i = i < 0 ? t->rank + i : i;
    if (i < 0 || i >= t->rank || i >= WRAPPER_RANK) {
        wrapper_lost(r, "%s has no extent %d", t->name, i);
        return "1";
    }
    t->shaped = true;
    if (!t->dim[i]) {
        const char *name = arena_printf(r->arena, "%s_size%d", t->name, i);
        if (!r->final)
            return name;
        t->dim[i] = name;
    }
    if (str_is_name(t->dim[i]))
        wrapper_need_dim(r, t->dim[i]);
    return t->dim[i];
}

const char *wrapper_over_dims(struct wrapper_reader *r, const char *text)
{
    struct str out = {0};
    bool known = true;

    for (const char *p = text; *p && known;) {
        size_t len = str_word(p);

        if (!len) {
            known = strchr(" ()+-*/%<>=!&|,", *p) != NULL;
            str_addc(&out, *p++);
            continue;
        }
        char *word = arena_strndup(r->arena, p, len);
        const char *local = map_get(&r->locals, word);
        char *end;
        strtoll(word, &end, 0);
        if (isdigit((unsigned char)*word))
            known = !*end || str_in(end, "u|U|l|L|ul|UL|ll|LL|ull|ULL");
        else if (!local)
            known = false;
        if (isdigit((unsigned char)*word))
            str_addn(&out, word, (size_t)(end - word));
        else
            str_add(&out, local ? local : word);
        p += len;
    }
    if (!known) {
        str_free(&out);
        return NULL;
    }
    return out.s ? str_take(&out, r->arena) : "";
}
