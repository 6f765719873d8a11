/* tree: a version of a task that `astra init` made, back in the framework's own files. origin.json names the
 * files, their SHA-256 and the declarations; the #line of the task's source say where each declaration stood.
 */
#ifndef EXPORT_TREE_H
#define EXPORT_TREE_H

#include "base/base.h"
#include "source/source.h"

struct tree_file {    /* one that init read */
    const char *path; /* from the tree's root on, as origin.json has it */
    char *text;       /* as it is */
    struct edits edits;
};

struct tree {
    struct arena *arena;
    const char *root;   /* real */
    const char *kernel; /* qualified */
    const char *entry;  /* the launcher */
    VEC(struct tree_file) files;
    VEC(const char *) words; /* what the reviewer has to do or know, a sentence each */
};

struct tree_version {
    const char *path, *text;
};

/* Reads origin.json's text and the files that it names below root (NULL: where init found them). An error for a
 * file that is missing, leads out of the tree, or is not what init read. */
bool tree_open(struct tree *t, struct arena *a, const char *origin, const char *root, struct err *err);
/* Edits the files so that they hold `now` where they held `was`, the text that init wrote. An error when device
 * code cannot be placed; what of the launch cannot is said in t->words. */
bool tree_place(struct tree *t, const struct tree_version *was, const struct tree_version *now,
                struct err *err);
/* tree_site.c: the same for the launcher's statements, at the host's launches. */
struct tree_launcher {
    const struct source *was, *now;
    struct node was_node, now_node; /* the functions */
};
void tree_place_launch(struct tree *t, const struct tree_launcher *l);
/* Refuses at the host's launches what lies outside of these conditions and the host does not refuse itself. */
void tree_guard(struct tree *t, const char *const *conditions, size_t n);

/* Last part of a name: "b" of "a::b". */
const char *tree_last(const char *qualified);
bool tree_same(struct arena *a, const char *x, const char *y); /* the same tokens */
void tree_say(struct tree *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
