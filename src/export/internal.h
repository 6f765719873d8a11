/* What the targets share. */
#ifndef EXPORT_INTERNAL_H
#define EXPORT_INTERNAL_H

#include "export/export.h"
#include "store/store.h"

/* What the run's store says of it; false: the folder came without its store. */
bool export_stored(const struct export_run *r, struct arena *a, struct store_run *run);

void export_add(struct export_files *out, const char *name, const char *text); /* kept, not copied */

/* What is known of the best version, for whoever meets the file without the run: a line of ASCII each that
 * cannot end a comment. */
struct fact {
    const char *name, *text;
};
struct facts {
    struct arena *arena;
    const char *title;
    VEC(struct fact) list;
};
void facts_read(struct facts *f, const struct export_run *r, struct arena *a);
/* As a C comment with the line feed behind it; `more` stands last in it, or NULL. */
char *facts_comment(const struct facts *f, struct arena *a, const char *more);

/* The judged text below its comment, and the local headers that it includes. */
char *export_kernel(const struct export_run *r, struct arena *a);
bool export_headers(const struct export_run *r, const char *folder, struct export_files *out,
                    struct err *err); /* folder NULL: none */

/* For the reviewer of a patch of a framework: Markdown. words: what the patch does not do, or what one has to
 * know, a sentence each. */
char *pull_text(const struct export_run *r, struct arena *a, const char *kernel, const char *const *words,
                size_t n_words);

/* The text laid out by clang-format; NULL: there is none, or it did more than that. */
char *export_formatted(struct arena *a, const char *text);

bool make_cuda(const struct export_run *r, struct export_files *out, struct err *err);
bool make_torch(const struct export_run *r, struct export_files *out, struct err *err);
bool make_flashinfer(const struct export_run *r, struct export_files *out, struct err *err);
bool make_patch(const struct export_run *r, struct export_files *out, struct err *err);

#endif
