/* export: the best version of a finished run in the form in which another project takes it in. It reads the
 * run's folder alone, and nothing of a folder whose files are not those that were judged. docs/export.md says
 * what each target makes. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/base.h"
#include "report/report.h"

struct export_run {
    const char *path; /* as the user named it */
    const char *name; /* what the operators are of, of the caller; NULL: the task */
    const char *tree; /* of a patch: the framework's folder, of the caller; NULL: where init found it */
    struct report_bundle bundle;
    bool improved; /* else the original stayed, and there is nothing to take home */
};

/* An error for a run that was not finished or not confirmed, or whose files were changed. Close it in any case.
 */
bool export_open(struct export_run *r, struct arena *a, const char *path, struct err *err);
void export_close(struct export_run *r);

struct export_file {
    const char *name, *text;
};

struct export_files {
    struct arena *arena;
    VEC(struct export_file) list;
    const char *note; /* what the user should know, in words; NULL: nothing */
};

struct export_target {
    const char *name, *summary;
    bool folder; /* several files; else one text, and others beside it */
    bool (*make)(const struct export_run *r, struct export_files *out, struct err *err);
};

const struct export_target *export_targets(size_t *n);
/* NULL for a stranger: err lists those there are. */
const struct export_target *export_target_find(const char *name, struct err *err);

/* All files into `to`, a file's name or, where the target makes a folder, a folder's. What is there is only
 * replaced when `force`. */
bool export_write(const struct export_target *t, const struct export_files *files, const char *to, bool force,
                  struct err *err);

#endif
