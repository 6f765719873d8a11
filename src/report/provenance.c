/* Where a result comes from: the task's files and the suite kept beside it, with their hashes, so that `astra
 * verify` needs nothing but the run's folder. docs/result.md says what each hash is of. */
#include "report/report.h"

static const char header_start[] = "/* Astra ", header_end[] = "*/\n";

static bool keep_task(const struct task *t, struct arena *a, const char *folder, json_t *files, struct err *err)
{
    const char **names, *to;
    char *bytes, hex[65];
    size_t n, len;

    if (!task_files(t, a, &names, &n, err))
        return false;
    if (fs_exists(fs_join(a, t->dir, "origin.json"))) /* of a task that init made */
        names[n++] = "origin.json";
    for (size_t i = 0; i < n; i++) {
        if (!fs_read(a, fs_join(a, t->dir, names[i]), &bytes, &len, err))
            return false;
        hash_sha256_hex(bytes, len, hex);
        json_put_text(files, names[i], hex);
        to = fs_join(a, folder, names[i]);
        if (!fs_mkdirs(fs_dirname(a, to), err) || !fs_write(to, bytes, len, err))
            return false;
    }
    return true;
}

json_t *report_suite(const struct task *t, struct arena *a, uint64_t seed, const struct task_case *more,
                     size_t n_more)
{
    json_t *o = json_object(), *own = json_array(), *others = json_array();
    const struct task_case *cases;
    size_t n;

    task_suite(t, a, seed, &cases, &n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(own, task_case_to_json(t, &cases[i]));
    for (size_t i = 0; i < n_more; i++)
        json_array_append_new(others, task_case_to_json(t, &more[i]));
    json_put_int(o, "seed", (int64_t)seed);
    json_put(o, "rules", own);
    json_put(o, "tester", others);
    return o;
}

bool report_keep(struct store *s, struct arena *a, const char *folder, const struct task *t,
                 const json_t *suite, struct err *err)
{
    json_t *o = json_object(), *files = json_object(), *before;
    const char *text = arena_printf(a, "%s\n", json_pretty(a, suite)), *noted;
    char hex[65];
    bool ok;

    hash_sha256_hex(text, strlen(text), hex);
    json_put(o, "files", files);
    json_put_text(o, "source", task_below(t, t->source_path));
    json_put_text(o, "suite", hex);
    json_put(o, "flags", json_texts(t->flags, t->n_flags));
    json_put_int(o, "seed", json_int(suite, "seed", 0));
    ok = keep_task(t, a, fs_join(a, folder, "task"), files, err) &&
         fs_write_text(fs_join(a, folder, "suite.json"), text, err) &&
         store_get_note(s, a, "provenance", &noted, err);
    before = ok && noted ? json_parse(noted, strlen(noted), "stored provenance", err) : NULL;
    if (before && !json_equal(json_object_get(before, "files"), files))
        ok = err_input(err, "the task's files in %s changed since the run began; start a new run", t->dir);
    ok = ok && store_note(s, "provenance", json_line(a, o), err);
    json_decref(before);
    json_decref(o);
    return ok;
}

bool report_provenance(struct store *s, struct arena *a, const char *best, json_t **out, struct err *err)
{
    const char *noted, *seed, *looks, *remembered;
    char hex[65];

    *out = NULL;
    if (!store_get_note(s, a, "provenance", &noted, err) || !store_get_note(s, a, "hidden_seed", &seed, err) ||
        !store_get_note(s, a, "looks", &looks, err) || !store_get_note(s, a, "remembered", &remembered, err))
        return false;
    *out = noted ? json_parse(noted, strlen(noted), "stored provenance", err) : json_object();
    if (!*out)
        return false;
    json_put(*out, "hidden_seed", seed ? json_integer(strtoll(seed, NULL, 10)) : json_null());
    json_put(*out, "looks", looks ? json_integer(strtol(looks, NULL, 10)) : json_null());
    json_put_int(*out, "memory", remembered ? strtol(remembered, NULL, 10) : 0);
    hash_sha256_hex(best, strlen(best), hex);
    json_put_text(*out, "best", hex);
    return true;
}

void report_digest(struct arena *a, const json_t *result, char hex[65])
{
    const char *text = json_pretty(a, result); /* as it is written, and so as it is read */
    json_t *o = json_parse(text, strlen(text), "result", NULL);

    json_object_del(json_object_get(o, "provenance"), "digest");
    char *line = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    hash_sha256_hex(line, strlen(line), hex);
    free(line);
    json_decref(o);
}

/* Nothing that could end the comment, or begin another. */
static void add_plain(struct str *to, const char *text)
{
    for (const char *p = text ? text : "?"; *p; p++)
        str_addc(to, *p < ' ' || *p > '~' || *p == '*' || *p == '\\' ? '-' : *p);
}

static void add_line(struct str *to, const char *name, const char *text)
{
    str_addf(to, " * %-9s ", name);
    add_plain(to, text);
    str_addc(to, '\n');
}

static const char *hash_of(const json_t *p, const char *name)
{
    return json_text(json_object_get(p, "files"), name, "?");
}

char *report_header(struct arena *a, const json_t *result)
{
    const json_t *p = json_object_get(result, "provenance"), *device = json_object_get(result, "device");
    const json_t *flag;
    double speedup = json_num(json_object_get(result, "speedup"), "geomean");
    size_t n = json_array_size(json_object_get(result, "workloads")), i;
    struct str s = {0}, flags = {.arena = a};

    if (!str_eq(json_text(result, "outcome", ""), "improved") || !json_object_get(p, "files"))
        return arena_strdup(a, "");
    json_array_foreach(json_object_get(p, "flags"), i, flag)
        str_addf(&flags, "%s%s", i ? " " : "", json_string_value(flag));
    str_add(&s, header_start);
    add_plain(&s, json_text(result, "astra", "?"));
    str_add(&s, ": ");
    add_plain(&s, json_text(result, "task", "?"));
    str_addf(&s, ", %.2fx the original's speed (%s of %zu workload%s, %s on ", speedup,
             report_mean_words(result), n, n == 1 ? "" : "s", json_text(device, "basis", "?"));
    add_plain(&s, json_text(device, "name", "?"));
    str_add(&s, ")\n");
    add_line(&s, "original", hash_of(p, json_text(p, "source", "")));
    add_line(&s, "task", hash_of(p, "task.yaml"));
    add_line(&s, "suite", json_text(p, "suite", "?"));
    add_line(&s, "seeds",
             arena_printf(a, "%lld, hidden %lld", json_count(p, "seed"), json_count(p, "hidden_seed")));
    add_line(&s, "compiler",
             arena_printf(a, "NVRTC %s%s%s", json_text(device, "nvrtc", "?"), flags.len ? " " : "",
                          str_text(&flags)));
    add_line(&s, "judged", json_text(p, "best", "?"));
    str_add(
        &s,
        " * SHA-256 each; judged: of all that follows this comment. `astra verify` repeats the judgement. ");
    str_add(&s, header_end);
    return str_take(&s, a);
}

const char *report_judged(const char *text)
{
    const char *end = str_starts(text, header_start) ? strstr(text, header_end) : NULL;

    return end ? end + strlen(header_end) : text;
}
