/* Trees of types, expressions and statements, as parse_*.c make them. */
#ifndef KERNEL_TREE_H
#define KERNEL_TREE_H

#include "token.h"

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

#endif
