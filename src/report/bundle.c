/* A run's folder read again from its files alone: is everything in it what the result says it is of? run.db is
 * not needed, so that a folder can lie anywhere. */
#include "report/report.h"

bool report_holds(struct report_bundle *b, bool ok, const char *words, ...)
{
    json_t *o = json_object();
    char text[1000];
    va_list ap;

    va_start(ap, words);
    vsnprintf(text, sizeof(text), words, ap);
    va_end(ap);
    json_put_text(o, "words", text); /* which may be cut in the middle of a letter */
    json_array_append(ok ? b->held : b->broken, json_object_get(o, "words"));
    json_decref(o);
    return ok;
}

bool report_hash_is(const char *text, size_t n, const char *recorded)
{
    char hex[65];

    hash_sha256_hex(text, n, hex);
    return str_eq(hex, recorded);
}

static bool read_result(struct report_bundle *b, struct arena *a, const char *path, struct err *err)
{
    const char *file = fs_is_dir(path) ? fs_join(a, path, "result.json") : path;
    char *text, *best, hex[65];
    size_t n;
    struct err why = {0};
    bool same;

    b->folder = fs_is_dir(path) ? arena_strdup(a, path) : fs_dirname(a, path);
    if (!fs_read(a, file, &text, &n, err)) {
        err->kind = ERR_INPUT;
        return false;
    }
    b->result = json_parse(text, n, file, err);
    if (!b->result)
        return false;
    b->provenance = json_object_get(b->result, "provenance");
    b->device = json_object_get(b->result, "device");
    if (!json_is_object(json_object_get(b->provenance, "files")) || !json_is_object(b->device))
        return err_input(
            err, "%s says nothing of where it comes from: it is no result of a run, or of an older one", file);
    report_digest(a, b->result, hex);
    same = str_eq(hex, json_text(b->provenance, "digest", ""));
    report_holds(b, same,
                 same ? "result.json is as it was written" : "result.json was changed after it was written");
    b->best = fs_read(a, fs_join(a, b->folder, "best.cu"), &best, NULL, &why) ? best : "";
    return true;
}

static bool check_files(struct report_bundle *b, struct arena *a)
{
    const json_t *hash;
    const char *name;
    bool all = true;

    json_object_foreach(json_object_get(b->provenance, "files"), name, hash)
    {
        struct err why = {0};
        char *text;
        size_t n;
        bool there = name[0] != '/' && !strstr(name, "..") &&
                     fs_read(a, fs_join(a, b->folder, arena_printf(a, "task/%s", name)), &text, &n, &why);
        if (!there || !report_hash_is(text, n, json_string_value(hash)))
            all = report_holds(
                b, false, there ? "task/%s is not the file that was judged" : "task/%s is not there", name);
    }
    if (json_object_size(json_object_get(b->provenance, "files")) == 0)
        all = report_holds(b, false, "the result names no file of its task");
    if (all)
        report_holds(b, true, "the task's files are those that were judged");
    return all;
}

static void check_best(struct report_bundle *b, struct arena *a)
{
    const char *header = report_header(a, b->result);
    const char *source = json_text(b->provenance, "source", NULL);
    bool improved = str_eq(json_text(b->result, "outcome", ""), "improved");
    struct err why = {0};
    char *original, *diff;
    bool ok = str_starts(b->best, header) && (improved == (*header != 0)), same;

    b->judged = ok ? b->best + strlen(header) : report_judged(b->best);
    report_holds(b, ok,
                 ok ? "best.cu says what the result says"
                    : "best.cu's first comment does not say what the result says");
    same = report_hash_is(b->judged, strlen(b->judged), json_text(b->provenance, "best", ""));
    ok &= report_holds(
        b, same, same ? "best.cu is the text that was judged" : "best.cu is not the text that was judged");
    if (!source || !fs_read(a, fs_join(a, b->task->dir, source), &original, NULL, &why)) {
        report_holds(b, false, "the result does not say which file of the task is the original");
        return;
    }
    b->original = original;
    if (!improved && !str_eq(original, b->best))
        ok = report_holds(b, false, "nothing was improved, and best.cu is not the original");
    same = fs_read(a, fs_join(a, b->folder, "best.diff"), &diff, NULL, &why) &&
           diff_leads(diff, "original.cu", original, "best.cu", b->best);
    ok &= report_holds(b, same,
                       same ? "best.diff leads from the original to best.cu"
                            : "best.diff does not lead from the original to best.cu");
    b->intact = ok;
}

bool report_bundle_open(struct report_bundle *b, struct arena *a, const char *path, struct err *err)
{
    *b = (struct report_bundle){.held = json_array(), .broken = json_array()};
    if (!read_result(b, a, path, err))
        return false;
    if (!check_files(b, a))
        return true;
    if (!task_open(&b->task, a, fs_join(a, b->folder, "task"), err))
        return false;
    check_best(b, a);
    return true;
}

void report_bundle_close(struct report_bundle *b)
{
    json_decref(b->held);
    json_decref(b->broken);
    json_decref(b->result);
}
