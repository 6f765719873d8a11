/* yaml_tree: YAML as a tree that remembers line and column. Only what configuration needs: one document, no
 * anchors, no tags; a key said twice is a mistake, not an update. */
#ifndef BASE_YAML_TREE_H
#define BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"

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

/* path is for messages. */
bool yaml_parse(struct arena *a, const char *path, const char *text, size_t len, const struct yaml_node **root,
                struct err *err);
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL when absent */

#endif
