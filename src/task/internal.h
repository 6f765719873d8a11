/* What the files of task/ share: YAML as a tree with places, and dimension expressions. */
#ifndef TASK_INTERNAL_H
#define TASK_INTERNAL_H

#include "task.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    int line, col;     /* 1-based */
    bool quoted;       /* a text in quotes: never a number, never null */
    const char *text;  /* YAML_TEXT */
    const char **keys; /* YAML_MAP; as written, no key twice */
    const struct yaml_node **key_nodes;
    const struct yaml_node **items; /* of a list, or the values of a map */
    size_t n;
};

/* One document, no anchors, no tags; path is for messages. */
bool yaml_parse(struct arena *a, const char *path, const char *text, size_t len, const struct yaml_node **root,
                struct err *err);
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL when absent */

/* An expression over the dims: integers, names, + - * / %, comparisons, && || !, min(a, b), max(a, b),
 * parentheses. `at` is the text node it came from. */
bool dim_parse(struct arena *a, const char *path, const struct yaml_node *at, const char *const *dims,
               size_t n_dims, const struct dim_expr **out, struct err *err);

/* task_open of a text; dir is where its files are. */
bool task_read(struct task **out, struct arena *a, const char *dir, const char *path, const char *text,
               size_t len, struct err *err);

#endif
