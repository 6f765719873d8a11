/* A capture's launches in a task that `astra init` has just written: what the program launched becomes the
 * workloads, with the shares of the kernel's time as weights. The text of task.yaml is changed in these lines
 * alone. */
#include "capture/internal.h"

enum { MOST_WORKLOADS = 16 };

struct found { /* one shape of the task, as the program launched it */
    int64_t dims[CAPTURE_DIMS];
    double share; /* of the kernel's time; of its launches where no time is known */
};

struct maker {
    struct arena *a;
    const char *folder;
    const struct task *task;
    const json_t *ranking, *kept;
    struct capture_matcher m;
    struct capture_inputs inputs;
    VEC(struct found) found;
    VEC(double) choices[CAPTURE_ARGS]; /* what each floating scalar was */
    uint64_t align[CAPTURE_ARGS];      /* the least of each buffer; 0: the kernel does not get it */
    bool timed;                        /* the shares are of time */
    size_t of_kernel, understood;
    const char *why; /* the first launch is not understood */
    VEC(const char *) notes;
};

/* Is it the kernel of this name, whatever its types? A mangled name has the length in front. */
static bool is_named(struct arena *a, const char *symbol, const char *name)
{
    return str_eq(symbol, name) ||
           (str_starts(symbol, "_Z") && strstr(symbol, arena_printf(a, "%zu%s", strlen(name), name)));
}

/* ---- shares ---- */

static const json_t *shape_of(const json_t *ranking, const json_t *launch)
{
    const json_t *k, *s;
    size_t i, j;

    json_array_foreach(json_object_get(ranking, "kernels"), i, k)
    {
        if (!str_eq(json_text(k, "symbol", ""), json_text(launch, "kernel", "")))
            continue;
        json_array_foreach(json_object_get(k, "shapes"), j,
                           s) if (json_equal(json_object_get(s, "grid"), json_object_get(launch, "grid")) &&
                                  json_equal(json_object_get(s, "block"), json_object_get(launch, "block")) &&
                                  json_count(s, "dynamic_shared_bytes") ==
                                      json_count(launch, "dynamic_shared_bytes")) return s;
    }
    return NULL;
}

/* Launches that are kept with one shape, and differ in their values, share its time evenly. */
static size_t alike(const struct maker *m, const json_t *launch)
{
    const json_t *shape = shape_of(m->ranking, launch), *o;
    size_t i, n = 0;

    json_array_foreach(m->kept, i, o) n += shape_of(m->ranking, o) == shape;
    return MAX(n, (size_t)1);
}

static double share_of(const struct maker *m, const json_t *launch)
{
    const json_t *shape = shape_of(m->ranking, launch);
    double whole = m->timed ? json_num(shape, "share") : (double)json_count(shape, "launches");

    return shape && isfinite(whole) && whole > 0 ? whole / (double)alike(m, launch) : 0;
}

static void look_for_times(struct maker *m, const char *name)
{
    const json_t *o;
    size_t i;

    m->timed = true;
    json_array_foreach(m->kept, i, o)
    {
        const json_t *shape = shape_of(m->ranking, o);
        if (is_named(m->a, json_text(o, "kernel", ""), name) && !(json_num(shape, "share") > 0))
            m->timed = false;
    }
}

/* ---- launches ---- */

static void add_choice(struct maker *m, size_t arg)
{
    double v = m->task->args[arg].value;

    for (size_t i = 0; i < m->choices[arg].n; i++)
        if (m->choices[arg].v[i] == v)
            return;
    vec_add(m->a, &m->choices[arg], v);
}

static void add_found(struct maker *m, const struct capture_kept *k)
{
    const struct task *t = m->task;
    struct found f = {.share = share_of(m, k->o)};

    for (size_t i = 0; i < t->n_args; i++)
        if (m->m.scalar_param[i])
            add_choice(m, i);
    for (size_t i = 0; i < CAPTURE_ARGS; i++)
        if (k->align[i] && (!m->align[i] || k->align[i] < m->align[i]))
            m->align[i] = k->align[i];
    for (size_t i = 0; i < m->found.n; i++)
        if (!memcmp(m->found.v[i].dims, k->dims, t->n_dims * sizeof(*k->dims))) {
            m->found.v[i].share += f.share;
            return;
        }
    memcpy(f.dims, k->dims, sizeof(f.dims));
    vec_add(m->a, &m->found, f);
}

static bool take_launches(struct maker *m, const char *name, struct err *err)
{
    const json_t *o;
    size_t i;

    json_array_foreach(m->kept, i, o)
    {
        struct capture_kept k = {
            .o = o, .symbol = json_text(o, "kernel", ""), .params = json_object_get(o, "parameters")};
        if (!is_named(m->a, k.symbol, name))
            continue;
        m->of_kernel++;
        if (capture_find_dims(&m->m, &k)) {
            m->understood++;
            add_found(m, &k);
            if (!capture_inputs_take(&m->inputs, &k, err))
                return false;
        } else if (!m->why) {
            m->why = k.why ? k.why : "for no dims tried does the task's launcher make this launch";
        }
    }
    return true;
}

static int dearest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return x->share != y->share ? ORDER(y->share, x->share) : memcmp(x->dims, y->dims, sizeof(x->dims));
}

/* ---- task.yaml ---- */

/* The shortest that is the number, of 32 bits where it has no more. */
static const char *number(struct arena *a, double v)
{
    char *text = NULL;
    bool narrow = v == (double)(float)v;

    for (int digits = 1; digits <= 17; digits++) {
        text = arena_printf(a, "%.*g", digits, v);
        if (strtod(text, NULL) == v || (narrow && strtof(text, NULL) == (float)v))
            break;
    }

    return strpbrk(text, ".en") ? text : arena_printf(a, "%s.0", text);
}

/* "  - {name: eps, type: f32, value: 1e-6}" with what the program gave; NULL: another line. */
static const char *scalar_line(struct maker *m, const char *line)
{
    for (size_t i = 0; i < m->task->n_args; i++) {
        const char *head = arena_printf(m->a, "  - {name: %s, ", m->task->args[i].name);
        const char *at = strstr(line, "value");
        struct str out = {.arena = m->a};
        if (!m->choices[i].n || !str_starts(line, head) || !at)
            continue;
        str_addf(&out, "%.*s", (int)(at - line), line);
        str_add(&out, m->choices[i].n > 1 ? "values: [" : "value: ");
        for (size_t k = 0; k < m->choices[i].n; k++)
            str_addf(&out, "%s%s", k ? ", " : "", number(m->a, m->choices[i].v[k]));
        str_add(&out, m->choices[i].n > 1 ? "]} # as captured" : "} # as captured");
        return str_text(&out);
    }
    return NULL;
}

/* A buffer's line with the alignment that its pointers had, where that is less than is promised; NULL: another
 * line. */
static const char *buffer_line(struct maker *m, const char *line)
{
    size_t buffer = 0;

    for (size_t i = 0; i < m->task->n_args; i++) {
        const struct task_arg *arg = &m->task->args[i];
        const char *head = arena_printf(m->a, "  - {name: %s, ", arg->name), *rest = strstr(line, "} #");
        const char *said = strstr(line, ", align: ");
        if (arg->role == ROLE_SCALAR)
            continue;
        if (!str_starts(line, head) || !m->align[buffer] || (int64_t)m->align[buffer] >= arg->align_bytes) {
            buffer++;
            continue;
        }
        rest = rest ? rest : strrchr(line, '}');
        return arena_printf(m->a, "%.*s, align: %llu%s", (int)((said ? said : rest) - line), line,
                            (unsigned long long)m->align[buffer], rest);
    }
    return NULL;
}

/* Integers of which nothing was said get the range that they had; NULL: another line. */
static const char *values_line(struct maker *m, const char *line)
{
    int64_t least[CAPTURE_DIMS];

    for (size_t d = 0; d < m->task->n_dims; d++) {
        least[d] = INT64_MAX;
        for (size_t i = 0; i < m->found.n; i++)
            least[d] = MIN(least[d], m->found.v[i].dims[d]);
    }
    for (size_t i = 0; i < m->task->n_args; i++) {
        const char *values = capture_inputs_values(&m->inputs, i, least), *end = strrchr(line, '}');
        if (values && end && str_starts(line, arena_printf(m->a, "  - {name: %s, ", m->task->args[i].name)))
            return arena_printf(m->a, "%.*s, values: %s} # TODO: by what was captured; do callers promise it?",
                                (int)(end - line), line, values);
    }
    return NULL;
}

/* A guessed "  - rows <= 65536" below what was captured, raised to the next power of two; NULL: another line.
 */
static const char *bound_line(struct maker *m, const char *line)
{
    for (size_t d = 0; d < m->task->n_dims; d++) {
        const char *head = arena_printf(m->a, "  - %s <= ", m->task->dims[d]);
        char *end;
        long long most = 0, bound;
        if (!str_starts(line, head))
            continue;
        bound = strtoll(line + strlen(head), &end, 10);
        for (size_t i = 0; i < m->found.n; i++)
            most = MAX(most, (long long)m->found.v[i].dims[d]);
        if (*end || most <= bound)
            return NULL;
        while (bound < most && bound > 0)
            bound *= 2;
        return arena_printf(m->a, "%s%lld", head, bound);
    }
    return NULL;
}

/* "  - rows * d <= 268435456", the same; NULL: another line. */
static const char *product_line(struct maker *m, const char *line)
{
    const char *at = strstr(line, " <= ");
    char *end;
    long long bound, most = 0;

    if (!str_starts(line, "  - ") || !at || !memchr(line, '*', (size_t)(at - line)))
        return NULL;
    bound = strtoll(at + 4, &end, 10);
    for (size_t i = 0; i < m->found.n; i++) {
        long long product = 1;
        for (size_t d = 0; d < m->task->n_dims; d++)
            if (str_has_word(arena_strndup(m->a, line, (size_t)(at - line)), m->task->dims[d]))
                product *= m->found.v[i].dims[d];
        most = MAX(most, product);
    }
    if (*end || most <= bound || bound < 1)
        return NULL;
    while (bound < most)
        bound *= 2;
    return arena_printf(m->a, "%.*s <= %lld", (int)(at - line), line, bound);
}

static void add_workloads(struct maker *m, struct str *out)
{
    size_t n = MIN(m->found.n, (size_t)MOST_WORKLOADS);

    str_add(out, "workloads: # as captured, dearest first\n");
    for (size_t i = 0; i < n; i++) {
        str_add(out, "  - [");
        for (size_t d = 0; d < m->task->n_dims; d++)
            str_addf(out, "%s%lld", d ? ", " : "", (long long)m->found.v[i].dims[d]);
        str_add(out, "]\n");
    }
    str_addf(out, "weights: [");
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%.6g", i ? ", " : "", MAX(m->found.v[i].share, 1e-6));
    str_addf(out, "] # shares of the kernel's %s\n", m->timed ? "time" : "launches, since no times are known");
}

static bool edit(struct maker *m, const char *path, struct err *err)
{
    struct str out = {.arena = m->a};
    char *text, *end;
    bool in_workloads = false;

    if (!fs_read(m->a, path, &text, NULL, err))
        return false;
    for (char *line = text; *line; line = end) {
        end = line + strcspn(line, "\n");
        const char *old = arena_strndup(m->a, line, (size_t)(end - line)), *fresh;
        end += *end == '\n';
        if ((fresh = values_line(m, old)))
            old = fresh;
        if (str_starts(old, "workloads:")) {
            add_workloads(m, &out);
            in_workloads = true;
            continue;
        }
        in_workloads = in_workloads && str_starts(old, "  - [");
        if (in_workloads)
            continue;
        if (!(fresh = scalar_line(m, old)) && !(fresh = buffer_line(m, old)) && !(fresh = bound_line(m, old)) &&
            !(fresh = product_line(m, old)))
            fresh = old;
        str_addf(&out, "%s\n", fresh);
    }
    if (m->inputs.lines.n)
        str_add(
            &out,
            "# What the program's buffers held: cases of the confirmation alone. They stay on this machine.\ninputs:\n");
    for (size_t i = 0; i < m->inputs.lines.n; i++)
        str_add(&out, m->inputs.lines.v[i]);
    return fs_write_text(path, str_text(&out), err);
}

/* ---- all ---- */

static void note(struct maker *m, const char *text)
{
    vec_add(m->a, &m->notes, text);
}

static void say(struct maker *m, const char *name)
{
    double whole = 0, listed = 0;

    if (!m->of_kernel) {
        note(m, arena_printf(m->a,
                             "the capture keeps no launch of %s: the workloads are guesses; capture with "
                             "--keep %s",
                             name, name));
        return;
    }
    note(m, arena_printf(m->a, "%zu of %zu kept launches of %s are the launcher's, with %zu shape%s",
                         m->understood, m->of_kernel, name, m->found.n, m->found.n == 1 ? "" : "s"));
    if (m->why)
        note(m, arena_printf(m->a, "not understood: %s", m->why));
    if (m->inputs.lines.n)
        note(m, arena_printf(
                    m->a, "%zu of them with what their buffers held: hidden cases, in %s/inputs, for you alone",
                    m->inputs.lines.n, m->folder));
    if (m->inputs.short_of)
        note(m, arena_printf(
                    m->a,
                    "%zu buffers of integers were not kept to their end, and are left out: raise --contents-mb",
                    m->inputs.short_of));
    for (size_t i = 0; i < m->found.n; i++) {
        whole += m->found.v[i].share;
        listed += i < MOST_WORKLOADS ? m->found.v[i].share : 0;
    }
    if (m->found.n > MOST_WORKLOADS)
        note(m, arena_printf(m->a, "the %d dearest shapes are workloads; they have %.1f %% of its %s",
                             MOST_WORKLOADS, 100 * listed / whole, m->timed ? "time" : "launches"));
}

static bool make(struct maker *m, const char *name, const char *path, struct err *err)
{
    const struct ptx_device *device = ptx_device_find("h200");
    struct kernel_limits limits;
    char *text;

    if (!device)
        return err_world(err, "the device h200 is not known here");
    if (m->task->n_args > CAPTURE_ARGS || m->task->n_dims > CAPTURE_DIMS || !m->task->n_dims)
        return err_input(err, "%s: at most %d arguments, and 1 to %d dims, can be found in a capture", path,
                         CAPTURE_ARGS, CAPTURE_DIMS);
    judge_limits(device, &limits);
    if (!fs_read(m->a, m->task->source_path, &text, NULL, err) || !nvrtc_open(&m->m.nvrtc, err) ||
        !capture_side_open(&m->m, &m->m.original, m->task->source_path, text, &limits, err))
        return false;
    look_for_times(m, name);
    if (!take_launches(m, name, err))
        return false;
    if (m->found.n)
        qsort(m->found.v, m->found.n, sizeof(*m->found.v), dearest_first);
    say(m, name);
    return !m->found.n || edit(m, path, err);
}

bool capture_to_task(struct arena *a, const char *folder, const char *capture, const char *kernel,
                     struct capture_task *out, struct err *err)
{
    struct maker m = {.a = a, .folder = folder};
    const char *path = fs_join(a, folder, "task.yaml"), *colons = strrchr(kernel, ':');
    struct task *task = NULL;
    json_t *ranking = NULL;
    bool ok = capture_read(a, capture, &ranking, err);

    if (ok && !task_open(&task, a, folder, err))
        ok = err_context(err, "the task is not whole yet, so nothing of the capture is in it");
    if (ok) {
        m.task = task;
        m.ranking = ranking;
        m.kept = json_object_get(ranking, "launches_kept");
        m.m = capture_matcher_of(a, task, m.kept);
        m.m.written = true;
        m.task = m.m.task;
        m.inputs = (struct capture_inputs){.a = a, .task = m.task, .task_dir = folder, .capture = capture};
        ok = make(&m, colons ? colons + 1 : kernel, path, err);
    }
    kernel_close(m.m.original.kernel);
    nvrtc_close(m.m.nvrtc);
    json_decref(ranking);
    *out = (struct capture_task){.notes = m.notes.v, .n_notes = m.notes.n, .launches = m.understood};
    return ok;
}
