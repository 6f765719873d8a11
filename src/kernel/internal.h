/* Between the files of kernel/: one host compiler front end in small. Text becomes tokens (lex.c), tokens are
 * preprocessed (macro.c) and split into declarations (unit.c); the bodies of the host's functions become trees
 * (parse_*.c), which eval.c, exec.c, call.c and runtime.c run, plan after plan.
 *
 * All memory is arenas', so an error may leave from any depth by longjmp to the nearest trap: fail() does. The
 * public functions set the outermost trap and turn it into `false` with an err. */
#ifndef KERNEL_INTERNAL_H
#define KERNEL_INTERNAL_H

#include <setjmp.h>

#include "kernel/kernel.h"
#include "marks.h"

enum {
    MAX_TOKENS = 200000,     /* before and after macro expansion */
    MAX_DECLARATIONS = 2000, /* functions, types, variables, enumerators: of each */
    MAX_PARSE_DEPTH = 200,   /* nested expressions and statements */
    MAX_EVAL_DEPTH = 600,
    MAX_CALL_DEPTH = 32,
    MAX_STEPS = 500000,    /* evaluated tree nodes of one plan */
    MAX_PLAN_STEPS = 4096, /* launches, sets and copies */
    MAX_ARRAY = 65536,     /* elements of a local array */
};

/* ---- tokens */

enum token_kind { TOK_END, TOK_WORD, TOK_NUMBER, TOK_STRING, TOK_CHAR, TOK_PUNCT };

struct token {
    enum token_kind kind;
    bool line_start, space_before;
    bool foreign;  /* of a header; at is then the #include's, macro the header's name */
    bool inactive; /* in the raw tokens: a condition leaves it out */
    bool quiet;    /* a macro's own name inside its expansion: not expanded again */
    uint8_t pack;  /* what #pragma pack allows at most; 0: anything */
    uint32_t len;
    const char *s;     /* not NUL-terminated */
    size_t at;         /* byte in the file: of the token, or of the macro call it came from */
    const char *macro; /* the outermost macro it came from; NULL when it stands in the file itself */
};

struct comment {
    size_t start, end;
};

struct tokens {
    struct token *v;
    size_t n, cap;
};

struct inclusion { /* of a header that is not read: before[...] of the unit's tokens; name with its <> or "" */
    size_t before;
    const char *name;
};

/* ---- names: lookup.c */

enum look { LOOK_HERE, LOOK_GLOBAL, LOOK_STD }; /* name, ::name, std::name */

struct name_use { /* a name and the place that says it */
    const char *name, *scope;
    enum look look;
    const struct token *at;
};

enum decl_kind { DECL_FUNC, DECL_GLOBAL, DECL_TYPE, DECL_ENUMERATOR, DECL_UNKNOWN };

struct decl {
    enum decl_kind kind;
    const char *name, *scope;
    const struct token *at;
    struct func *func;
    struct global *global;
    struct type_name *type;
    struct enumerator *enumerator;
};

struct parser;

struct using_name { /* in namespace `in`: all of namespace `from`, or its `name` */
    const char *in, *from, *name;
    const struct token *at, *until; /* until: the end of the block; NULL: to the end of the file */
};

struct namespace_alias {
    const char *in, *name, *to; /* all end in `::` */
    const struct token *at;
};

struct found {
    size_t n;
    const struct decl *v[128];
};

struct trap {
    jmp_buf jump;
    struct trap *up;
    struct err err;
};

/* One file. */
struct unit {
    struct arena *arena;
    const char *path, *text;
    size_t len;
    struct trap *trap;
    VEC(size_t) lines; /* offsets of line starts */
    VEC(struct comment) comments;
    bool asks_compiler; /* a condition asks for a macro of the compiler or of a header */
    bool any_words;     /* only the words count: ## takes what it would refuse */
    const struct kernel_header *headers;
    size_t n_headers;
    const char *const *flags;
    size_t n_flags;
    VEC(struct comment) dead;         /* bytes that neither the host's nor the device's compiler sees */
    size_t parse_work;                /* against text that backtracks without end */
    struct tokens raw, tokens;        /* before and after preprocessing, both end in TOK_END */
    VEC(struct inclusion) inclusions; /* of headers that are not read */
    VEC(struct func *) funcs;
    VEC(struct global *) globals;
    VEC(struct type_name *) types;
    VEC(struct enumerator *) enumerators;
    VEC(struct decl) decls;
    VEC(struct using_name) usings;
    VEC(struct namespace_alias) aliases;
    VEC(const char *) namespaces; /* "a::b::" */
    bool operators;               /* the file defines operators of its own */
    bool tuple_like;              /* it says std::tuple_size */
    bool uses_std;                /* using namespace std, using std::min */
    VEC(struct region) regions;   /* top-level declarations in file order, for the device part */
};

_Noreturn void fail(struct unit *u, const struct token *t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void unit_place(const struct unit *u, size_t at, int *line, int *col);
char *token_text(struct arena *a, const struct token *t);
bool token_is(const struct token *t, const char *s);
bool token_in(const struct token *t, const char *list); /* "one|two|three" */
/* The header whose text the token stands in; NULL: none. */
const struct kernel_header *token_header(const struct unit *u, const struct token *t);

void lex_text(struct unit *u);
struct token lex_token(struct unit *u, const char *t, size_t len, size_t i); /* the one that begins at i */
void macro_expand(struct unit *u);

/* system.c: names of the compiler, its library and the toolkit */
bool system_header(const char *name, size_t len); /* whose macros are known by name */
bool system_constant(const char *name);           /* one whose value is known, and is defined everywhere */
bool system_macro(const char *name);              /* may be a macro of one of them */
bool system_predefined(const char *name);         /* is a macro in every file */
bool system_undefined(const char *name);          /* is none on this host */
bool system_replaced(const char *name);           /* is replaced before ## and # see it in an argument */

/* ---- trees */

struct expr;
struct stmt;

enum type_node_kind { TN_NAME, TN_POINTER, TN_REFERENCE, TN_ARRAY, TN_FUNCTION, TN_AUTO, TN_DECLTYPE };

struct template_arg_node { /* one of the two */
    struct type_node *type;
    struct expr *value;
};

struct type_node {
    enum type_node_kind kind;
    const struct token *at;
    bool constant;
    const char *name; /* TN_NAME: canonical for built-in types, "a::b" for others */
    const char *scope;
    enum look look;
    bool rvalue; /* && */
    struct template_arg_node *args;
    size_t n_args;
    struct type_node *to; /* pointer, reference, array */
    struct expr *size;    /* array; NULL for [] */
    struct expr *of;      /* decltype */
};

enum expr_kind {
    EX_NUMBER,
    EX_STRING,
    EX_NAME,
    EX_UNARY,
    EX_POSTFIX,
    EX_BINARY,
    EX_AND,
    EX_OR,
    EX_ASSIGN,
    EX_COND,
    EX_COMMA,
    EX_CAST,
    EX_CONSTRUCT,
    EX_SIZEOF_TYPE,
    EX_ALIGNOF,
    EX_SIZEOF,
    EX_SIZEOF_PACK, /* sizeof...(name) */
    EX_CALL,
    EX_LAUNCH,
    EX_MEMBER,
    EX_INDEX,
    EX_INIT,
    EX_LAMBDA,
    EX_EXPAND, /* a... in a list of arguments */
};

enum op {
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_NOT,
    OP_INV,
    OP_NEG,
    OP_PLUS,
    OP_DEREF,
    OP_ADDR,
    OP_INC,
    OP_DEC,
};

enum cast_kind { CAST_C, CAST_STATIC, CAST_REINTERPRET, CAST_CONST };

struct expr {
    enum expr_kind kind;
    enum op op; /* EX_ASSIGN: OP_NONE is plain `=` */
    enum cast_kind cast;
    bool arrow, braces;
    const struct token *at;
    bool risky;        /* the order of its operands could be seen */
    const char *name;  /* EX_NAME, EX_MEMBER, EX_STRING */
    const char *scope; /* the namespace around it */
    enum look look;
    int64_t string_bytes; /* EX_STRING: with the 0; 0: not known */
    const char **fields;  /* EX_INIT: the members that .x = names; NULL: none */
    struct template_arg_node *targs;
    size_t n_targs;
    bool has_targs;
    const struct value *number;
    struct expr *a, *b, *c;
    struct expr **args, **config; /* calls and lists; a launch's grid, block, shared, stream */
    size_t n_args, n_config;
    struct type_node *type; /* EX_MEMBER: of Type::name */
    struct func *func;      /* EX_LAMBDA */
};

enum stmt_kind {
    ST_EMPTY,
    ST_EXPR,
    ST_DECL,
    ST_TYPE,
    ST_BLOCK,
    ST_IF,
    ST_FOR,
    ST_RANGE, /* decls: the variable, cond: an array's name or a list */
    ST_WHILE,
    ST_DO,
    ST_SWITCH,
    ST_CASE,
    ST_DEFAULT,
    ST_BREAK,
    ST_CONTINUE,
    ST_RETURN,
    ST_BAD,
};

struct declarator {
    const struct token *at;
    const char *name;
    struct type_node *type;
    struct expr *init; /* EX_INIT with braces or parentheses, or any expression; NULL */
    bool constant, is_static, is_constexpr;
    bool assigned;      /* `= init` */
    const char **parts; /* auto [a, b]: their names */
    size_t n_parts;
};

struct stmt {
    enum stmt_kind kind;
    const struct token *at;
    struct expr *cond, *step;
    struct stmt *init, *a, *b; /* body or branches */
    struct stmt **body;        /* block */
    size_t n_body;
    struct declarator *decls;
    size_t n_decls;
    const char *name;       /* ST_TYPE */
    struct type_node *type; /* ST_TYPE */
    struct err *err;        /* ST_BAD: raised when it is reached */
    bool has_case;          /* ST_BAD: labels of a switch in it */
};

/* ---- declarations of the file */

struct template_param {
    const char *name;
    bool is_type, pack;
    struct type_node *type; /* of a value parameter */
    struct template_arg_node fallback;
};

struct capture {      /* of a lambda */
    const char *name; /* NULL: everything */
    bool copy;
    struct expr *init; /* [name = init] */
    const struct token *at;
};

struct param {
    bool pack, by_reference; /* Args... args, the last one; Args &...args */
    const char *name;        /* "" when it has none */
    struct type_node *type;
    struct expr *fallback;
    const struct token *at;
};

struct func {
    const char *name, *qualified, *scope; /* with its named namespaces; these alone, with the last `::` */
    const struct token *at;
    bool is_global, is_device, is_host, is_template, extern_c, is_lambda, variadic;
    bool not_understood, specialised; /* specialised: template <> forms exist */
    bool late_default;                /* a later declaration adds a default argument */
    struct template_param *tparams;
    size_t n_tparams;
    struct type_node *result;
    struct param *params;
    size_t n_params;
    size_t body;       /* index of its `{`; 0 for a declaration */
    struct stmt *tree; /* the body, as parsed; NULL: it is not understood, or nothing of the host's */
    struct capture *captures;
    size_t n_captures;
    size_t start, end; /* bytes in the file */
};

struct global {
    const char *name, *scope;
    struct declarator decl;
    bool usable; /* const or constexpr; others hold state */
    bool device; /* lives on the device */
};

struct field {
    const char *name;
    struct type_node *type;
    struct expr *value; /* static constexpr */
};

struct type_name { /* typedef, using, struct, enum */
    const char *name, *qualified, *scope;
    struct type_node *alias; /* typedef and using */
    uint8_t pack;            /* of #pragma pack; 0: none */
    bool is_struct, is_enum, is_template, specialised, scoped, forward,
        opaque,      /* opaque: a struct whose size is not understood */
        constructed; /* its values are made by code: a constructor, initialisers of members */
    struct template_param *tparams;
    size_t n_tparams;
    struct field *fields;
    size_t n_fields;
    struct expr *align;
};

struct enumerator {
    const char *name;
    const struct type_name *type; /* may be NULL */
    struct expr *value;           /* NULL: one more than the one before */
    const struct enumerator *before;
};

struct region { /* bytes [start, end) are one top-level declaration */
    size_t start, end;
    const struct kernel_header *header; /* of which text; NULL: the file's own */
    const char *scope;
    size_t first, last; /* its tokens in unit->tokens, last exclusive */
    struct func *func;
    size_t first_global, n_globals; /* in unit->globals */
};

struct scope_name {
    const char *name;
    bool is_type;
};

struct parser {
    struct unit *unit;
    struct arena *arena;
    const char *scope;     /* the namespace around */
    size_t effects;        /* calls, assignments and increments so far */
    const struct token *t; /* the present token; the list ends in TOK_END */
    int depth;
    int no_greater;               /* > 0: `>` ends a template argument list */
    int angle;                    /* characters of the present `>>` that closed lists already */
    VEC(struct scope_name) names; /* local types, and variables that hide a type's name; the last one counts */
};

#define declare_in(u, list, item)                                                  \
    do {                                                                           \
        if ((u)->list.n >= MAX_DECLARATIONS)                                       \
            fail((u), NULL, "the file has more than %d " #list, MAX_DECLARATIONS); \
        vec_add((u)->arena, &(u)->list, item);                                     \
    } while (0)

void unit_read(struct unit *u); /* tokens to declarations */

void decl_add(struct unit *u, struct decl d);
void names_find(const struct unit *u, const struct name_use *use, struct found *found);
struct name_use use_of(const struct expr *e);
const struct decl *found_first(const struct found *f, enum decl_kind kind); /* NULL: none */
struct type_name *type_name_find(const struct unit *u, struct name_use use);
size_t funcs_find(const struct unit *u, struct name_use use, bool global, const struct func **out, size_t room);
/* The namespace that `head`, which ends in `::`, names seen from another. */
void using_add(struct parser *p, const char *scope); /* p is behind `using` */
bool scope_known(const struct unit *u, const char *from, const char *head, bool global, const char **scope);

/* parse_type.c */
_Noreturn void parse_fail(struct parser *p, const char *expected);
bool parse_is(const struct parser *p, const char *s);
bool parse_take(struct parser *p, const char *s);
void parse_expect(struct parser *p, const char *s);
void parse_enter(struct parser *p); /* one level deeper; p->depth-- leaves it */
void parse_close_angle(struct parser *p);
void parse_skip_balanced(struct parser *p); /* over one bracketed group, or one token */
char *parse_word(struct parser *p);
char *parse_qualified(struct parser *p, struct expr *e); /* its arguments and where it is looked for go to e */

struct specifiers {
    bool is_const, is_constexpr, is_static, is_extern, is_inline, is_global, is_device, is_host,
        is_constant_memory, is_shared, is_thread_local, has_layout; /* has_layout: alignas and its like */
};
bool parse_at_type(struct parser *p);
struct type_node *parse_specifiers(struct parser *p, struct specifiers *s);
struct type_node *parse_declarator(struct parser *p, struct type_node *base, const char **name,
                                   const struct token **at, struct func *f);
struct type_node *parse_type_id(struct parser *p);
void parse_params(struct parser *p, struct func *f);
void parse_declare_type(struct parser *p, const char *name);
void parse_declare_variable(struct parser *p, const char *name);
struct template_arg_node *parse_template_args(struct parser *p, size_t *n);
void parse_template_params(struct parser *p, struct template_param **params, size_t *n);
void parse_attributes(struct parser *p, struct specifiers *s);
void parse_statement_attributes(struct parser *p); /* [[...]] */

/* parse_expr.c */
struct expr *parse_expr(struct parser *p);       /* with commas */
struct expr *parse_assignment(struct parser *p); /* without */
struct expr *parse_conditional(struct parser *p);
struct expr *parse_braces(struct parser *p);

/* parse_stmt.c */
struct stmt *parse_block(struct parser *p);
struct stmt *parse_function_body(struct unit *u, struct arena *a, const struct func *f);
struct declarator *parse_declarators(struct parser *p, struct type_node *base, const struct specifiers *s,
                                     size_t *n);

/* ---- types and values */

enum type_kind {
    TY_SCALAR,
    TY_POINTER,
    TY_ARRAY,
    TY_DIM3,
    TY_KERNEL,
    TY_STREAM,
    TY_PROPERTIES,
    TY_RECORD, /* with `n` fields */
    TY_STRING,
    TY_NULL,
    TY_OPAQUE,
    TY_LAMBDA,
    TY_LIST,
    TY_CONSTANT, /* std::integral_constant: of type `to`, value n */
};

struct record_field {
    const char *name;
    const struct type *const *type;
    int64_t offset; /* 0 in the runtime's own, which no kernel takes */
};

struct type {
    enum type_kind kind;
    enum kernel_type scalar;
    const char *name; /* C++ spelling */
    int64_t size, align;
    int rank;                         /* integer conversion rank */
    bool is_enum, scoped, to_const;   /* to_const: pointers, points to const */
    bool passable;                    /* records: of this file, so that a kernel may take one */
    const struct type *to, *promoted; /* promoted: of enumerations */
    const struct record_field *fields;
    int64_t n;                        /* array elements, fields */
    const struct type_name *declared; /* structs of the file, for their constants; else NULL */
    struct env *bound;                /* and their template's parameters */
};

struct cell;

struct pointer { /* to host variables (host != NULL) or into a buffer */
    struct cell *host;
    int64_t index, count; /* among the `count` cells from host */
    int32_t buffer;       /* as in kernel_value */
    int64_t offset;
};

struct template_arg;

struct kernel_ref {
    const struct func *func;
    const char *name; /* as written, for messages; func may be one of several with that name */
    const struct template_arg *args;
    size_t n_args;
};

struct value {
    const struct type *type;
    int32_t origin; /* integers made of a pointer: the buffer's number + ORIGIN_BASE; 0: none */
    bool literal_zero;
    bool strict; /* a list in braces: its values stay the same in what they become */
    union {
        int64_t i; /* narrower integers extended by their sign */
        double f;
        struct pointer p;
        uint32_t dim[3];
        const struct kernel_ref *kernel;
        const char *text;
        struct closure *closure;
        struct {
            const struct value *items;
            size_t n_items;
            const char **fields; /* of designators; NULL: none */
        };
        int stream; /* 1: the launcher's, 0: the default */
    };
};

enum { ORIGIN_BASE = 1 << 24 };

struct template_arg {
    const struct type *type; /* NULL: a value */
    struct value value;
};

struct cell { /* a variable */
    const struct type *type;
    struct value value;
    bool known, constant;
    bool fixed;    /* the same in every call: a constant of the file, a constexpr */
    uint64_t mark; /* of group_close */
    uint32_t segment;
    struct cell *elems; /* arrays, records */
    int64_t n_elems;
};

struct binding {
    const char *name;
    const struct token *at; /* seen behind it only; NULL: everywhere */
    bool reference;
    const struct type *type; /* a type name */
    struct cell *cell;
};

struct env {
    struct env *up;
    VEC(struct binding) names;
};

struct closure {
    const struct func *func;
    struct env *env;
};

struct shared_limit;

struct access { /* of a variable, while the order of evaluation counts */
    struct cell *cell;
    bool write;
};

struct interp {
    struct unit *unit;
    struct arena *arena;
    const struct kernel *kernel;
    const struct kernel_limits *limits;
    const uint64_t *buffer_addr;
    uint64_t steps;
    int call_depth, eval_depth;
    struct env file;                   /* file-scope constants evaluated so far */
    VEC(const char *) pending;         /* file-scope names being evaluated */
    const struct token *pending_at;    /* the first of them */
    const struct type_name *enum_open; /* the enumeration whose values are being found */
    int fixed_only;                    /* > 0: in what is evaluated once for all calls */
    VEC(struct access) accesses;
    int groups; /* open ones */
    uint64_t group_serial;
    bool asked;            /* plan.asked */
    struct cell plan_cell; /* stands for what the plan has so far */
    VEC(struct plan_step) plan;
    VEC(int64_t) workspaces;
    VEC(bool) freed;
    VEC(struct shared_limit) shared_limits;
    struct marks marks;
    VEC(const char *) large_clusters; /* kernels that allow clusters of more than 8 blocks */
};

struct shared_limit { /* set by cudaFuncSetAttribute */
    const char *kernel;
    int64_t bytes;
};

/* type.c */
typedef const struct type *const known_type;
extern known_type type_void, type_bool, type_char, type_int, type_uint, type_long, type_ulong, type_longlong,
    type_ulonglong, type_half, type_bf16, type_float, type_double, type_error, type_dim3, type_kernel,
    type_stream, type_properties, type_string, type_null, type_list, type_lambda;
const struct type *type_builtin(const char *name); /* NULL when there is none; knows std:: and every alias */
bool type_builtin_name(const char *name);
const struct type *type_pointer(struct arena *a, const struct type *to, bool to_const);
bool type_same(const struct type *a, const struct type *b);
bool type_is_integer(const struct type *t); /* bool and enums too */
bool type_is_float(const struct type *t);
bool type_is_arithmetic(const struct type *t);
bool type_is_signed(const struct type *t);
const char *type_spell(struct arena *a, const struct type *t);
const struct type *type_resolve(struct interp *in, struct env *env, const struct type_node *n);
const struct type *type_of_enum(struct interp *in, const struct type_name *t);
int64_t enumerator_value(struct interp *in, const struct enumerator *e, const struct type **type);
const struct type *type_resolve_for(struct interp *in, struct env *env, const struct type_node *n,
                                    const struct type *automatic); /* what auto stands for */

/* value.c */
struct value value_int(const struct type *t, int64_t i);
struct value value_float(const struct type *t, double f);
struct value value_null(void);
struct value value_plain(struct value v); /* an integral_constant as its integer */
struct value value_buffer(const struct type *t, int32_t buffer, int64_t offset);
int64_t int_wrap(const struct type *t, __int128 v);
double float_round(const struct type *t, double f);
struct value convert(struct interp *in, const struct token *at, struct value v, const struct type *to,
                     bool explicit_);
bool truth(struct interp *in, const struct token *at, struct value v);
struct value binary(struct interp *in, const struct token *at, enum op op, struct value a, struct value b);
struct value unary(struct interp *in, const struct token *at, enum op op, struct value a);
uint64_t pointer_address(struct interp *in, const struct token *at, struct pointer p);
/* v as `to`, in braces or as a template's argument: refused where the value would not stay the same. */
struct value convert_same(struct interp *in, const struct token *at, struct value v, const struct type *to);
int64_t to_integer(struct interp *in, const struct token *at, struct value v, const char *what);
const struct type *arithmetic_type(const struct type *a, const struct type *b);
const struct type *type_promote(const struct type *t);

/* eval.c */
struct place {
    struct cell *cell;
    int member; /* of a dim3; -1: the whole */
};
/* Operands that C++ evaluates in any order: a variable that one of them writes, no other may touch. */
struct group {
    size_t start, n_cuts;
    size_t cuts[64];
};
void group_open(struct interp *in, struct group *g);
void group_next(struct interp *in, struct group *g, const struct token *at); /* behind each operand */
void group_close(struct interp *in, struct group *g, const struct token *at);
void access_log(struct interp *in, struct cell *c, bool write);
const struct type *type_static(struct interp *in, struct env *env, const struct expr *e); /* NULL: not told */
void step_count(struct interp *in, const struct token *at);
void eval_enter(struct interp *in, const struct token *at); /* one level deeper; in->eval_depth-- leaves it */
struct value eval(struct interp *in, struct env *env, const struct expr *e);
struct place eval_place(struct interp *in, struct env *env, const struct expr *e);
struct value place_read(struct interp *in, const struct token *at, struct place p);
void place_write(struct interp *in, const struct token *at, struct place p, struct value v);
struct cell *host_cell(struct interp *in, const struct token *at, struct value pointer, const char *what);
struct template_arg *eval_template_args(struct interp *in, struct env *env, const struct template_arg_node *n,
                                        size_t count);

/* name.c */
struct binding *env_bind(struct interp *in, struct env *env, const char *name, struct cell *cell);
void env_bind_type(struct interp *in, struct env *env, const char *name, const struct type *type);
struct cell *env_find(struct interp *in, struct env *env,
                      struct name_use use); /* NULL when it is no variable */
const struct binding *env_local(struct env *env, const char *name, const struct token *at);
const struct type *env_find_type(struct env *env, const char *name);
struct cell *cell_make(struct interp *in, const struct type *type, bool constant);
struct value decay(struct interp *in, struct cell *array); /* as the pointer to its first element */
struct env *capture(struct interp *in, struct env *env, const struct func *lambda); /* what a lambda sees */
struct value eval_name(struct interp *in, struct env *env, const struct expr *e);
bool kernel_named(struct interp *in, struct env *env, const struct expr *e, struct value *out);
/* A device function, as a template argument. */
bool function_named(struct interp *in, struct env *env, const struct expr *e, struct value *out);
_Noreturn void unknown_name(struct interp *in, struct env *env, const struct expr *e);

/* declare.c */
void declare(struct interp *in, struct env *env, const struct declarator *d);
/* The array that a range-based loop walks. */
struct cell *range_array(struct interp *in, struct env *env, const struct expr *range);
/* The variable that an expression stands for. No cell: it is a value, or with member -2 some variable. */
struct place place_if_any(struct interp *in, struct env *env, const struct expr *e);
struct value initialise(struct interp *in, struct env *env, const struct type *t, const struct expr *init);

/* exec.c */
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };
enum flow exec(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
               struct value *returned);

/* call.c */
const struct type *call_type(struct interp *in, struct env *env, const struct expr *e); /* NULL: not told */
struct value call_expr(struct interp *in, struct env *env, const struct expr *e);
const struct expr *expand_packs(struct interp *in, struct env *env, const struct expr *e);
struct value call_func(struct interp *in, const struct token *at, const struct func *f, struct env *bound,
                       struct value *args, struct place *places, size_t n);
struct call_args { /* values may be types alone when only those count */
    const struct template_arg *targs;
    size_t n_targs;
    const struct value *values;
    const struct place *places; /* NULL: none is a variable */
    size_t n;
};
enum bound { BOUND, BOUND_NOT, BOUND_MISSING };
enum bound template_bind(struct interp *in, const struct func *f, const struct call_args *args,
                         struct env **out, const char **missing);

/* overload.c: the one of the file's functions that a call means, with its template's parameters; NULL: the name
 * is none of a function of the file. */
const struct func *overload_find(struct interp *in, const struct expr *call, const struct call_args *args,
                                 struct env **bound);
bool is_own_function(const struct unit *u, const struct expr *name);

/* record.c */
const struct type *record_builtin(const char *name); /* NULL: no such struct of the runtime */
void record_make(struct interp *in, struct cell *c, bool zero);
struct cell *record_member(struct interp *in, const struct token *at, const struct cell *c, const char *name);
void record_assign(struct interp *in, const struct token *at, struct cell *c, struct value v);
void record_initialise(struct interp *in, struct env *env, struct cell *c, const struct expr *init);
/* A new variable's value: from a list, or a copy of another. */
struct value record_value(struct interp *in, const struct token *at, const struct type *t, struct value v);
/* As a kernel takes it. */
struct kernel_value record_argument(struct interp *in, const struct token *at, struct value v);

/* launch.c */
#define TEMPLATE_ARGS "types, integers, bool, enumerators and functions"
/* As a template's argument; NULL: it cannot be one. */
const char *spell_value(struct interp *in, const struct token *at, const struct value *v);
struct launch_attributes {
    bool cooperative;
    uint32_t cluster[3]; /* 0: none */
};
struct kernel_value plan_value(struct interp *in, const struct token *at,
                               struct value v); /* a number or pointer */
struct value launch_expr(struct interp *in, struct env *env, const struct expr *e);
struct launch_call {
    const struct kernel_ref *kernel;
    const struct value *config; /* grid, block, shared, stream */
    size_t n_config;
    const struct value *args;
    struct expr *const *arg_exprs; /* where the arguments stand; NULL: at the launch */
    size_t n_args;
    struct launch_attributes attributes;
    bool defaults; /* default arguments may stand for the rest */
};
void launch(struct interp *in, const struct token *at, const struct launch_call *call);
const char *kernel_expression(struct interp *in, const struct token *at, const struct kernel_ref *k,
                              const struct value *args, size_t n_args, const struct func **f,
                              struct env **bound);

/* runtime.c */
bool runtime_call(struct interp *in, struct env *env, const struct expr *e, const char *name,
                  struct value *out);
bool runtime_constant(const char *name, struct value *out);
bool runtime_is_call(const char *name); /* a name of the CUDA runtime's host side */
struct value properties_member(struct interp *in, const struct token *at, const char *name);

/* builtin.c: min, max, sqrt, numeric_limits ... */
bool builtin_call(struct interp *in, const struct expr *e, const char *name, const struct call_args *call,
                  struct value *out);
bool builtin_is_call(const char *name);
bool builtin_constant(struct interp *in, const char *name, const struct template_arg *targs, size_t n_targs,
                      struct value *out);
bool number_parse(const char *s, size_t len, struct value *out); /* an integer or floating literal */
bool char_parse(const char *s, size_t len, int64_t *out);

/* device.c: the file's, and into headers those of its headers, one each */
char *device_part(struct unit *u, struct arena *a, struct kernel_header *headers);
bool is_own_path(const struct token *t); /* __FILE__ and the like */
/* tunable.c */
void tunables_read(struct unit *u, const struct kernel_tunable **out, size_t *n);

#endif
