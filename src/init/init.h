/* init: a task written from a framework's file: the kernel that is named, the declarations that it uses, its
 * host wrapper as a launcher, task.yaml as far as it can be known (docs/task.md). Files are read, never run;
 * nothing outside of the file's repository and the folders of -I is read. */
#ifndef INIT_INIT_H
#define INIT_INIT_H

#include "base/base.h"

struct init_options {
    const char *path;         /* the framework's file */
    const char *kernel;       /* its name, qualified or not, with template arguments or without, or its
                                 line; NULL: list them */
    const char *out;          /* the task's folder; NULL: the kernel's name, here */
    const char *const *flags; /* -IDIR, -DNAME, -DNAME=VALUE, -UNAME, in order */
    size_t n_flags;
    double seconds;               /* of a processor, for shapes to be looked for; 0: as many as is usual */
    const char *compile_commands; /* a file whose flags for `path` come first; NULL: none */
};

struct init_found {   /* a kernel of the file */
    const char *name; /* qualified */
    const char *file;
    int line;
    const char *tparams; /* as the file has them: "typename T, int N"; NULL: no template */
};

struct init_result {
    const struct init_found *kernels; /* when none was named, or the name fits several */
    size_t n_kernels;
    const char *folder;           /* that was written; NULL: none */
    const char *const *questions; /* what the user has to say, one sentence each */
    size_t n_questions;
    const char *const *notes; /* what was understood, or left out, in words */
    size_t n_notes;
};

/* False with the place of what cannot be read. */
bool init_run(struct init_result *r, struct arena *a, const struct init_options *o, struct err *err);

#endif
