#include "link.h"
#include "protocol.h"

#include <fcntl.h>
#include <signal.h>

#define END_S 1.0

bool link_contents_open(struct link_contents *c, const struct task *t, struct err *err)
{
    struct arena *a = arena_open();
    const char **names;
    size_t n, len;
    char *bytes, hash[65];
    bool ok = task_files(t, a, &names, &n, err);

    *c = (struct link_contents){json_array(), json_object()};
    for (size_t i = 0; ok && i < n; i++) {
        json_t *f = json_object();
        if (!(ok = fs_read(a, fs_join(a, t->dir, names[i]), &bytes, &len, err))) {
            json_decref(f);
            break;
        }
        char *hex = arena_array(a, char, 2 * len + 1);
        for (size_t k = 0; k < len; k++)
            sprintf(hex + 2 * k, "%02x", (unsigned char)bytes[k]);
        hash_sha256_hex(bytes, len, hash);
        json_put_text(f, "name", names[i]);
        json_put_text(f, "hash", hash);
        json_array_append_new(c->files, f);
        json_put_text(c->hex, hash, hex);
    }
    arena_close(a);
    return ok;
}

void link_contents_close(struct link_contents *c)
{
    json_decref(c->files);
    json_decref(c->hex);
}

bool link_start(struct link *l, struct process *w, struct err *err)
{
    if (!proc_open(&w->proc, l->node->argv[0], l->node->argv, -1, err))
        return false;
    fcntl(w->proc.to, F_SETFL, O_NONBLOCK);
    l->greeted = false;
    l->heard_s = time_s();
    if (l->node->send)
        link_send_script(l, w);
    return true;
}

void link_end(struct process *w)
{
    if (w->proc.pid > 0)
        kill(-w->proc.pid, SIGTERM);
}

void link_stop(struct link *l, struct process *w)
{
    proc_end(&w->proc, END_S);
    str_free(&l->out);
    l->archive_left = 0;
    l->greeted = false;
}

bool link_flush(struct link *l, struct process *w)
{
    return (l->out.len == 0 || proc_send_some(&w->proc, &l->out)) && link_flush_archive(l, w);
}

void link_send(struct link *l, struct process *w, json_t *request)
{
    char *line = json_dumps(request, JSON_COMPACT);

    str_add(&l->out, line);
    str_addc(&l->out, '\n');
    free(line);
    json_decref(request);
    process_asked(w);
    link_flush(l, w); /* one that is gone shows when it is read */
}

bool link_greets(const json_t *line, char words[512])
{
    const json_t *o = json_object_get(line, "node");
    const char *version = json_text(o, "astra", "");

    if (!json_is_object(o))
        snprintf(words, 512, "it does not speak as `astra node` does");
    else if (!str_eq(version, ASTRA_VERSION) || json_int(o, "protocol", 0) != NODE_PROTOCOL)
        snprintf(words, 512, "it is astra %.40s, this is %s", version, ASTRA_VERSION);
    else
        return true;
    return false;
}

bool link_supply(struct link *l, struct process *w, const struct link_contents *c, const json_t *want)
{
    if (!json_is_array(want) || json_array_size(want) > json_array_size(c->files))
        return false;
    for (size_t i = 0; i < json_array_size(want); i++) {
        const char *hash = json_string_value(json_array_get(want, i)),
                   *hex = hash ? json_text(c->hex, hash, NULL) : NULL;
        json_t *o = json_object(), *line = json_object();
        json_put(line, "content", o);
        json_put_text(o, "hash", hash);
        json_put_text(o, "hex", hex);
        if (!hex) {
            json_decref(line);
            return false;
        }
        link_send(l, w, line);
    }
    return true;
}

static bool positive_or_unknown(double v)
{
    return isnan(v) || (v > 0 && v < 1e15);
}

bool link_trial_fits(const json_t *o, const struct task *task)
{
    struct arena *a = arena_open();
    struct trial t;
    bool ok = trial_from_json(o, a, &t, NULL) && (t.n_workloads == 0 || t.n_workloads == task->n_workloads) &&
              positive_or_unknown(t.score) && positive_or_unknown(t.low) && positive_or_unknown(t.high) &&
              (isnan(t.low) || (t.low <= t.score && t.score <= t.high)) && t.line >= 0 && t.col >= 0;

    ok = ok && (t.n_workloads == 0 || t.n_dims == task->n_dims);
    for (size_t k = 0; ok && k < t.n_dims; k++)
        ok = k < task->n_dims && str_eq(t.dim_names[k], task->dims[k]);
    for (size_t i = 0; ok && i < t.n_workloads; i++) {
        ok = memcmp(t.workloads[i].dims, task->workloads + i * task->n_dims, task->n_dims * sizeof(int64_t)) ==
             0;
        for (enum regime r = 0; ok && r < N_REGIMES; r++)
            ok = positive_or_unknown(t.workloads[i].times[r].us) &&
                 positive_or_unknown(t.workloads[i].times[r].speedup);
    }
    arena_close(a);
    return ok;
}

const char *link_device_differs(struct arena *a, const struct trial_device *ours, const struct trial_device *d)
{
    if (!str_eq(ours->name, d->name) || !str_eq(ours->kind, d->kind))
        return arena_printf(a, "it judges on an %.80s, the others on an %s", d->name, ours->name);
    if (!str_eq(ours->nvrtc, d->nvrtc))
        return arena_printf(a, "its compiler is NVRTC %.40s, that of the others %s",
                            d->nvrtc ? d->nvrtc : "unknown", ours->nvrtc ? ours->nvrtc : "unknown");
    if (!trial_device_measures(d))
        return NULL;
    if (!str_eq(ours->driver, d->driver))
        return arena_printf(a, "its driver is %.40s, that of the others %s", d->driver ? d->driver : "unknown",
                            ours->driver ? ours->driver : "unknown");
    if (ours->limits.sm_clock_khz != d->limits.sm_clock_khz ||
        ours->limits.memory_clock_khz != d->limits.memory_clock_khz)
        return arena_printf(
            a, "its GPU's clocks are %lld and %lld MHz, those of the others %lld and %lld",
            (long long)d->limits.sm_clock_khz / 1000, (long long)d->limits.memory_clock_khz / 1000,
            (long long)ours->limits.sm_clock_khz / 1000, (long long)ours->limits.memory_clock_khz / 1000);
    return NULL;
}

void link_error(const json_t *o, const struct task *t, struct err *err)
{
    const char *files[] = {t->path, t->source_path, t->reference_path};
    const char *name;

    pool_error_from_json(o, err);
    name = fs_basename(err->file);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i] && *name && str_eq(fs_basename(files[i]), name)) {
            snprintf(err->file, sizeof(err->file), "%s", files[i]);
            return;
        }
    err->file[0] = 0;
    err->line = err->col = 0;
}
