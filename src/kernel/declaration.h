/* Declarations of the file, and their parser. */
#ifndef KERNEL_DECLARATION_H
#define KERNEL_DECLARATION_H

#include "tree.h"

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

struct member_start { /* of a constructor: `: name(init)` */
    const char *name;
    struct expr *init; /* EX_INIT, with braces or without */
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
    const struct type_name *owner; /* of a member function or a constructor: its struct; else NULL */
    struct member_start *starts;
    size_t n_starts;
    bool defaulted;    /* = default */
    size_t start, end; /* bytes in the file */
};

struct global {
    const char *name, *scope;
    struct declarator decl;
    const struct template_param *tparams; /* of a variable template */
    size_t n_tparams;
    bool specialised;             /* template <> forms of it exist */
    bool usable;                  /* const or constexpr; others hold state */
    bool device, constant_memory; /* lives on the device, there */
};

struct field {
    const char *name;
    struct type_node *type;
    struct expr *value; /* static constexpr */
    struct expr *init;  /* of data; NULL: none */
};

struct member_type { /* using name = type; in a struct */
    const char *name;
    struct type_node *type;
};

struct type_name { /* typedef, using, struct, enum */
    const char *name, *qualified, *scope;
    struct type_node *alias; /* typedef and using */
    struct type_node *base;  /* the one struct that it comes from; NULL: none */
    uint8_t pack;            /* of #pragma pack; 0: none */
    bool is_struct, is_enum, is_template, specialised, scoped, forward,
        opaque,      /* opaque: a struct whose size is not understood */
        constructed, /* its values are made by a constructor */
        unmade,      /* and how it is copied or destroyed is not understood */
        part_made,   /* and one of these is not understood, so that none that takes something is run */
        has_table;   /* it says virtual: a pointer stands before its members */
    VEC(struct func *) makers, copiers, methods; /* makers: constructors; copiers: those that copy */
    struct template_param *tparams;
    size_t n_tparams;
    struct field *fields;
    size_t n_fields;
    struct member_type *types;
    size_t n_types;
    struct expr *align;
    const struct template_arg_node *special_args; /* template <> struct name<...>; `special` lists these */
    size_t n_special_args;
    VEC(const struct type_name *) special, partial; /* partial: with parameters of its own */
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

struct scope {          /* of declarations */
    const char *prefix; /* "a::b::" */
    bool extern_c;
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

/* declare_type.c */
const char *scope_qualify(struct parser *p, const struct scope *s, const char *name);
/* struct, class, union or enum with a body, or a forward declaration. False when it is something else, such as
 * the type of a variable. */
bool type_definition(struct parser *p, const struct scope *s, struct template_param *tparams, size_t n_tparams,
                     bool is_template);
/* using or typedef */
void type_alias(struct parser *p, const struct scope *s, struct template_param *tparams, size_t n_tparams);

void decl_add(struct unit *u, struct decl d);
void names_find(const struct unit *u, struct name_use use, struct found *found);
const char *last_name(const char *name); /* behind its last `::` */
struct name_use use_of(const struct expr *e);
const struct decl *found_first(const struct found *f, enum decl_kind kind); /* NULL: none */
struct type_name *type_name_find(const struct unit *u, struct name_use use);
const struct type_node *member_type_find(const struct type_name *t, const char *name); /* NULL: none */
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
struct expr *parse_parentheses(struct parser *p); /* (a, b) as EX_INIT */

/* parse_stmt.c */
struct stmt *parse_block(struct parser *p);
struct stmt *parse_function_body(struct unit *u, struct arena *a, const struct func *f);
struct declarator *parse_declarators(struct parser *p, struct type_node *base, const struct specifiers *s,
                                     size_t *n);

#endif
