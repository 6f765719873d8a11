/* What the processes counted, read and ranked. The files are the library's, but a program that crashed may have
 * written anywhere: every number is looked at before it is used. */
#include "capture/internal.h"
#include "inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

struct shape_row { /* one record, of all processes and devices */
    const struct capture_record *of;
    const char *name;
    uint64_t launches, in_graphs, timed;
    double time_ns, square_ns, min_ns, max_ns;
    double first_ns;   /* NAN */
    double all_ns;     /* of all launches, as far as can be told; NAN */
    uint64_t untimed;  /* launches whose time is not known at all */
    uint64_t told;     /* launches that windows of times say something of, */
    double told_ns;    /* and what */
    uint64_t borrowed; /* launches that have another shape's time */
};

struct kernel_row {
    const char *name;
    VEC(struct shape_row *) shapes;
    uint64_t launches, in_graphs, untimed;
    double all_ns;
};

struct reader {
    struct arena *a;
    struct map shapes, kernels; /* struct shape_row by name and shape, struct kernel_row by name */
    json_t *processes, *kept;
    uint64_t recorded, graphs, unknown_graphs, lost, nameless, dropped, unfinished, unended, n_windows;
    size_t n_files, n_broken;
    uint32_t devices; /* a bit each, the last one for all above */
    bool cupti, windows, events;
    uint64_t launches; /* also those that have no record */
    double wall_ns;
    const char *broken, *words;
};

/* ---- reading ---- */

static bool good_record(const struct capture_file *f, const struct capture_record *r)
{
    return r->name < f->n_names && memchr(f->names + r->name, 0, f->n_names - r->name) && r->in_graph <= 1 &&
           (r->timed <= r->launches + r->in_graph || f->times == CAPTURE_WINDOWS) &&
           r->told_launches <= r->launches && isfinite(r->square_ns) && isfinite(r->told_ns);
}

static struct shape_row *shape_of(struct reader *rd, const char *name, const struct capture_record *r)
{
    char *key = arena_printf(rd->a, "%s %u %u %u %u %u %u %u", name, r->grid[0], r->grid[1], r->grid[2],
                             r->block[0], r->block[1], r->block[2], r->dynamic_bytes);
    struct shape_row *s = map_get(&rd->shapes, key);
    struct kernel_row *k = map_get(&rd->kernels, name);

    if (s)
        return s;
    s = arena_zalloc(rd->a, sizeof(*s));
    *s = (struct shape_row){.of = r, .name = name, .first_ns = NAN, .min_ns = INFINITY};
    map_put(&rd->shapes, key, s);
    if (!k) {
        k = arena_zalloc(rd->a, sizeof(*k));
        k->name = name;
        map_put(&rd->kernels, name, k);
    }
    vec_add(rd->a, &k->shapes, s);
    return s;
}

static void take_record(struct reader *rd, const struct capture_file *f, const struct capture_record *r)
{
    struct shape_row *s = shape_of(rd, f->names + r->name, r);

    uint64_t launches = MAX(r->launches, r->timed); /* CUPTI may see what did not come by the hooks */

    s->launches += launches;
    s->in_graphs += r->in_graph ? launches : 0;
    s->told += r->told_launches;
    s->told_ns += r->told_ns;
    s->timed += r->timed;
    s->time_ns += (double)r->time_ns;
    s->square_ns += r->square_ns;
    if (r->timed) {
        s->min_ns = MIN(s->min_ns, (double)r->min_ns);
        s->max_ns = MAX(s->max_ns, (double)r->max_ns);
    }
    if (r->first_ns)
        s->first_ns = (double)r->first_ns;
    rd->devices |= 1u << MIN(r->device, 31);
}

static void take_file(struct reader *rd, const struct capture_file *f)
{
    json_t *p = json_object();
    uint64_t launches = 0;
    size_t bad = 0;

    for (uint32_t i = 0; i < f->n_records; i++) {
        if (!good_record(f, &f->records[i])) {
            bad++;
            continue;
        }
        take_record(rd, f, &f->records[i]);
        launches += f->records[i].launches;
    }
    rd->n_broken += bad > 0;
    rd->broken = bad ? arena_printf(rd->a, "process %u: %zu records make no sense", f->pid, bad) : rd->broken;
    rd->cupti |= f->times == CAPTURE_CUPTI;
    rd->windows |= f->times == CAPTURE_WINDOWS;
    rd->events |= f->times == CAPTURE_EVENTS;
    rd->n_windows += f->windows;
    rd->recorded += f->recorded;
    rd->graphs += f->graphs;
    rd->unknown_graphs += f->times == CAPTURE_CUPTI ? 0 : f->unknown_graph;
    rd->lost += f->lost;
    rd->launches += launches + f->lost + f->graphs + f->hooked;
    rd->nameless += f->nameless;
    rd->dropped += f->dropped;
    rd->unfinished += f->unfinished;
    rd->unended += !f->ended;
    rd->wall_ns += (double)f->wall_ns;
    if (f->words[0])
        rd->words = arena_printf(rd->a, "%.*s", (int)sizeof(f->words), f->words);
    json_put_int(p, "pid", f->pid);
    json_put_int(p, "parent", f->parent);
    json_put_text(p, "program", arena_printf(rd->a, "%.*s", (int)sizeof(f->program), f->program));
    json_put_int(p, "launches", (int64_t)launches);
    json_put_int(p, "launches_seen_by_hooks", (int64_t)(f->times == CAPTURE_CUPTI ? f->hooked : launches));
    json_put_num(p, "wall_s", 1e-9 * (double)f->wall_ns);
    json_put_num(p, "timing_share_of_wall", f->wall_ns ? (double)f->spent_ns / (double)f->wall_ns : NAN);
    json_put_int(p, "one_in", (int64_t)f->every);
    json_put_flag(p, "ended", f->ended != 0);
    json_array_append_new(rd->processes, p);
}

static bool take_path(struct reader *rd, const char *path, struct err *err)
{
    struct capture_file *f;
    size_t size;
    char *text;

    if (!fs_read(rd->a, path, &text, &size, err))
        return false;
    f = (struct capture_file *)(void *)text; /* an arena aligns */
    if (size != sizeof(*f) || memcmp(f->magic, CAPTURE_MAGIC, sizeof(f->magic)) != 0 ||
        f->version != CAPTURE_VERSION || f->bytes != sizeof(*f) || f->n_records > CAPTURE_RECORDS ||
        f->n_names > CAPTURE_NAMES) {
        rd->n_broken++;
        rd->broken = arena_printf(rd->a, "%s is cut short, or not of this version of Astra", path);
        return true;
    }
    rd->n_files++;
    take_file(rd, f);
    return true;
}

static bool is_dims(const json_t *list)
{
    const json_t *d;
    size_t i;

    json_array_foreach(list, i, d) if (!json_is_integer(d) || json_integer_value(d) < 0 ||
                                       json_integer_value(d) > INT32_MAX) return false;
    return json_array_size(list) == 3;
}

/* What the library writes of a launch, as far as its readers count on it. */
static bool is_launch(const json_t *o)
{
    const json_t *p;
    size_t i;

    json_array_foreach(json_object_get(o, "parameters"), i, p) if (!json_is_object(p)) return false;
    return json_is_string(json_object_get(o, "kernel")) && json_is_array(json_object_get(o, "parameters")) &&
           is_dims(json_object_get(o, "grid")) && is_dims(json_object_get(o, "block"));
}

/* A line that a crash cut short is left out, and said. */
static bool take_kept(struct reader *rd, const char *path, struct err *err)
{
    struct err broken = {0};
    char *text;

    if (!fs_read(rd->a, path, &text, NULL, err))
        return false;
    for (char *line = text, *end; *line; line = end + (*end != 0)) {
        end = line + strcspn(line, "\n");
        json_t *o = *end ? json_parse(line, (size_t)(end - line), path, &broken) : NULL;
        if (is_launch(o)) {
            json_array_append_new(rd->kept, o);
            continue;
        }
        json_decref(o);
        rd->n_broken++;
        rd->broken = arena_printf(rd->a, "%s holds a line that is no launch", path);
    }
    return true;
}

/* ---- ranking ---- */

static double threads_of(const struct capture_record *r)
{
    double n = 1;

    for (int d = 0; d < 3; d++)
        n *= (double)r->grid[d] * (double)r->block[d];
    return n;
}

/* The mean of the kernel's shape that has times and whose number of threads is nearest; NAN. */
static double borrowed_mean(const struct kernel_row *k, const struct shape_row *s)
{
    double best = INFINITY, mean = NAN;

    for (size_t i = 0; i < k->shapes.n; i++) {
        const struct shape_row *o = k->shapes.v[i];
        double apart = fabs(log(threads_of(o->of) / threads_of(s->of)));
        if (o->timed && apart < best) {
            best = apart;
            mean = o->time_ns / (double)o->timed;
        }
    }
    return mean;
}

/* All launches' time from those that were timed. Launches inside graphs that have none get the mean of the same
 * kernel in the same shape outside. With windows a shape that fell between them gets the time of the nearest.
 */
static void sum_up(const struct reader *rd, const struct kernel_row *k, struct shape_row *s)
{
    double mean = s->timed ? s->time_ns / (double)s->timed : s->first_ns;

    if (!isfinite(mean) && rd->windows && isfinite(mean = borrowed_mean(k, s)))
        s->borrowed = s->launches;
    s->all_ns = s->launches && isfinite(mean) ? s->told_ns + mean * (double)(s->launches - s->told) : 0;
    s->untimed = isfinite(mean) ? 0 : s->launches;
}

static int by_time(const void *a, const void *b)
{
    const struct kernel_row *x = *(const struct kernel_row *const *)a,
                            *y = *(const struct kernel_row *const *)b;

    if (x->all_ns != y->all_ns)
        return ORDER(y->all_ns, x->all_ns);
    return x->launches != y->launches ? ORDER(y->launches, x->launches) : strcmp(x->name, y->name);
}

static int shapes_by_time(const void *a, const void *b)
{
    const struct shape_row *x = *(const struct shape_row *const *)a, *y = *(const struct shape_row *const *)b;

    return x->all_ns != y->all_ns ? ORDER(y->all_ns, x->all_ns) : ORDER(y->launches, x->launches);
}

static json_t *dims(const uint32_t d[3])
{
    return json_pack("[i, i, i]", (int)d[0], (int)d[1], (int)d[2]);
}

static json_t *shape_json(const struct shape_row *s, double whole)
{
    json_t *o = json_object();
    double mean = s->timed ? s->time_ns / (double)s->timed : NAN;

    json_put(o, "grid", dims(s->of->grid));
    json_put(o, "block", dims(s->of->block));
    json_put_int(o, "dynamic_shared_bytes", s->of->dynamic_bytes);
    json_put_int(o, "launches", (int64_t)s->launches);
    json_put_int(o, "in_graphs", (int64_t)s->in_graphs);
    json_put_int(o, "timed", (int64_t)s->timed);
    json_put_num(o, "share", whole > 0 && !s->untimed ? s->all_ns / whole : NAN);
    json_put_num(o, "mean_us", 1e-3 * mean);
    json_put_num(o, "min_us", s->timed ? 1e-3 * s->min_ns : NAN);
    json_put_num(o, "max_us", s->timed ? 1e-3 * s->max_ns : NAN);
    json_put_num(o, "spread_us",
                 s->timed > 1 ? 1e-3 * sqrt(MAX(0, s->square_ns / (double)s->timed - mean * mean)) : NAN);
    json_put_num(o, "first_us", 1e-3 * s->first_ns);
    return o;
}

static json_t *kernel_json(struct arena *a, const struct kernel_row *k, double whole)
{
    json_t *o = json_object(), *shapes = json_array();

    json_put_text(o, "name", capture_demangled(a, k->name));
    json_put_text(o, "symbol", k->name);
    json_put_num(o, "share", whole > 0 && k->untimed < k->launches ? k->all_ns / whole : NAN);
    json_put_num(o, "time_ms", k->untimed < k->launches ? 1e-6 * k->all_ns : NAN);
    json_put_int(o, "launches", (int64_t)k->launches);
    json_put_int(o, "in_graphs", (int64_t)k->in_graphs);
    json_put_int(o, "without_time", (int64_t)k->untimed);
    for (size_t i = 0; i < k->shapes.n; i++)
        json_array_append_new(shapes, shape_json(k->shapes.v[i], whole));
    json_put(o, "shapes", shapes);
    return o;
}

static json_t *unseen_json(const struct reader *rd, uint64_t without_time, uint64_t borrowed)
{
    json_t *o = json_object();
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {{"launches_without_time", without_time},
                  {"launches_timed_by_another_shape", borrowed},
                  {"launches_without_room", rd->lost},
                  {"kernels_without_name", rd->nameless},
                  {"graph_launches_without_nodes", rd->unknown_graphs},
                  {"records_dropped_by_cupti", rd->dropped},
                  {"times_unfinished", rd->unfinished},
                  {"processes_cut_off", rd->unended},
                  {"files_broken", rd->n_broken}};

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        json_put_int(o, counts[i].name, (int64_t)counts[i].n);
    json_put_text(o, "broken", rd->broken);
    json_put_text(o, "cupti", rd->words);
    return o;
}

static json_t *ranked(struct reader *rd)
{
    json_t *o = json_object(), *kernels = json_array();
    struct kernel_row **rows = arena_array(rd->a, struct kernel_row *, rd->kernels.n + 1);
    const struct {
        bool used;
        const char *name;
    } ways[] = {{rd->cupti, "cupti"}, {rd->windows, "cupti in windows"}, {rd->events, "events"}};
    const char *way = NULL;
    double whole = 0;
    uint64_t launches = 0, without_time = 0, borrowed = 0;

    for (size_t i = 0; i < rd->kernels.n; i++) {
        struct kernel_row *k = rows[i] = rd->kernels.entries[i].value;
        for (size_t j = 0; j < k->shapes.n; j++) {
            struct shape_row *s = k->shapes.v[j];
            sum_up(rd, k, s);
            borrowed += s->borrowed;
            k->launches += s->launches;
            k->in_graphs += s->in_graphs;
            k->untimed += s->untimed;
            k->all_ns += s->all_ns;
        }
        qsort(k->shapes.v, k->shapes.n, sizeof(*k->shapes.v), shapes_by_time);
        whole += k->all_ns;
        launches += k->launches;
        without_time += k->untimed;
    }
    qsort(rows, rd->kernels.n, sizeof(*rows), by_time);
    for (size_t i = 0; i < rd->kernels.n; i++)
        json_array_append_new(kernels, kernel_json(rd->a, rows[i], whole));
    json_put_int(o, "schema", 1);
    json_put_text(o, "astra", ASTRA_VERSION);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (ways[i].used)
            way = way ? arena_printf(rd->a, "%s and %s", way, ways[i].name) : ways[i].name;
    json_put_text(o, "times", way ? way : "none");
    json_put_int(o, "windows", (int64_t)rd->n_windows);
    json_put_num(o, "gpu_ms", 1e-6 * whole);
    json_put_num(o, "wall_s", 1e-9 * rd->wall_ns);
    json_put_int(o, "launches", (int64_t)launches);
    json_put_int(o, "graph_launches", (int64_t)rd->graphs);
    json_put_int(o, "recorded_into_graphs", (int64_t)rd->recorded);
    json_put_int(o, "devices", __builtin_popcount(rd->devices));
    json_put(o, "kernels", kernels);
    json_put(o, "processes", json_incref(rd->processes));
    json_put(o, "launches_kept", json_incref(rd->kept));
    json_put(o, "not_seen", unseen_json(rd, without_time, borrowed));
    return o;
}

bool capture_read(struct arena *a, const char *folder, json_t **ranking, struct err *err)
{
    struct reader rd = {.a = a, .processes = json_array(), .kept = json_array()};
    struct dirent *e;
    DIR *dir = opendir(folder);
    bool ok = true;

    if (!dir)
        return err_input(err, "%s: %s; `astra capture -- PROGRAM ...` makes a capture", folder,
                         strerror(errno));
    while (ok && (e = readdir(dir)))
        if (str_ends(e->d_name, CAPTURE_SUFFIX))
            ok = take_path(&rd, fs_join(a, folder, e->d_name), err);
        else if (str_ends(e->d_name, CAPTURE_KEPT))
            ok = take_kept(&rd, fs_join(a, folder, e->d_name), err);
    closedir(dir);
    if (ok && !rd.launches && rd.n_broken)
        ok = err_input(err, "%s", rd.broken);
    else if (ok && !rd.launches)
        ok = err_input(
            err,
            "%s: nothing was counted: either the library has said above why, or no kernel was launched that it "
            "could see. It sees what goes to the driver through the "
            "loader; not a program that is linked statically, setuid, in a container of its own, or that clears "
            "LD_PRELOAD",
            folder);
    if (ok)
        *ranking = ranked(&rd);
    json_decref(rd.processes);
    json_decref(rd.kept);
    map_free(&rd.shapes);
    map_free(&rd.kernels);
    return ok;
}
