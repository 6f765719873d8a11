#include "report/compare.h"

#include "report/report.h"

#define MODELLED_RULE 1.03 /* as a modelled speed-up is accepted: docs/result.md */

static const char *const role_names[] = {"tester", "profiler", "planner", "coder"};

struct sentences {
    struct arena *arena;
    VEC(const char *) list;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentences *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vec_add(s->arena, &s->list, arena_vprintf(s->arena, fmt, ap));
    va_end(ap);
}

/* ---- what may be compared ---- */

static const json_t *files_of(const struct view *v)
{
    return json_object_get(json_object_get(v->result, "provenance"), "files");
}

/* A file of the task that is not the same in both runs; NULL: all are. */
static const char *other_file(const struct view *a, const struct view *b)
{
    const json_t *ours = files_of(a), *theirs = files_of(b), *hash;
    const char *name;

    json_object_foreach((json_t *)ours, name, hash)
    {
        if (!json_equal(hash, json_object_get(theirs, name)))
            return name;
    }
    json_object_foreach((json_t *)theirs, name, hash)
    {
        if (!json_object_get(ours, name))
            return name;
    }
    return NULL;
}

static const char *basis_of(const struct view *v)
{
    return v->measured ? "measured" : "modelled";
}

/* Why b's figures are not to be set against a's, in words that follow "not compared:"; NULL: they may be. */
static const char *bar(struct arena *arena, const struct view *a, const struct view *b)
{
    const char *file;

    if (!a->result || !b->result || !a->device || !b->device)
        return "one of them has no result";
    if (!str_eq(a->run.task_name, b->run.task_name))
        return arena_printf(arena, "another task (%s, not %s)", b->run.task_name, a->run.task_name);
    file = other_file(a, b);
    if (file)
        return arena_printf(arena, "its task has the same name and another %s", file);
    if (a->measured != b->measured)
        return arena_printf(arena, "its times are %s, not %s", basis_of(b), basis_of(a));
    if (!str_eq(a->device->name, b->device->name))
        return arena_printf(arena, "another device (%s, not %s)", b->device->name, a->device->name);
    if (a->regime != b->regime)
        return arena_printf(arena, "it is scored %s, not %s", regime_name(b->regime), regime_name(a->regime));
    return NULL;
}

static void group(struct compare *c, struct sentences *apart)
{
    for (size_t i = 0; i < c->n; i++) {
        c->first[i] = (int)i;
        for (size_t k = 0; k < i && c->first[i] == (int)i; k++)
            if (c->first[k] == (int)k && !bar(apart->arena, c->runs[k], c->runs[i]))
                c->first[i] = (int)k;
        for (size_t k = 0; k < i && c->first[i] == (int)i; k++)
            if (c->first[k] == (int)k)
                say(apart, "%c is not compared with %c: %s.", compare_letter(i), compare_letter(k),
                    bar(apart->arena, c->runs[k], c->runs[i]));
    }
}

/* ---- figures ---- */

/* An original that stays is exactly as fast as itself. */
static struct compare_cell cell_of(const struct view *v, double speedup, double low, double high)
{
    bool stays = v->best && v->best->row.id == 0;

    return (struct compare_cell){
        .speedup = speedup, .low = stays ? speedup : low, .high = stays ? speedup : high, .ratio = NAN};
}

static void judge(struct compare_cell *x, const struct compare_cell *first, bool measured)
{
    x->ratio = x->speedup / first->speedup;
    if (!isfinite(x->ratio) || (measured && !(isfinite(x->low) && isfinite(first->low))))
        x->word = COMPARE_UNKNOWN;
    else if (measured ? x->low > first->high : x->ratio >= MODELLED_RULE)
        x->word = COMPARE_FASTER;
    else if (measured ? x->high < first->low : x->ratio <= 1 / MODELLED_RULE)
        x->word = COMPARE_SLOWER;
    else
        x->word = COMPARE_ALIKE;
}

static void judge_all(const struct compare *c, struct compare_cell cells[])
{
    for (size_t i = 0; i < c->n; i++)
        if (c->first[i] != (int)i)
            judge(&cells[i], &cells[c->first[i]], c->runs[i]->measured);
}

static const struct trial_time *time_of(const struct view *v, const char *dims)
{
    for (size_t i = 0; i < v->n_workloads; i++)
        if (str_eq(v->workloads[i].dims, dims))
            return &v->workloads[i].times[v->regime];
    return NULL;
}

static struct compare_row row_of(const struct compare *c, int first, const char *dims)
{
    struct compare_row row = {.dims = dims, .first = first};

    for (size_t i = 0; i < c->n; i++) {
        const struct trial_time *t = c->first[i] == first ? time_of(c->runs[i], dims) : NULL;
        row.cells[i] =
            t ? cell_of(c->runs[i], t->speedup, t->low, t->high) : cell_of(c->runs[i], NAN, NAN, NAN);
    }
    judge_all(c, row.cells);
    return row;
}

/* Groups have no workload in common, whatever its dims. */
static void add_rows(struct compare *c, struct arena *a)
{
    struct compare_row *rows;
    size_t most = 0;

    for (size_t i = 0; i < c->n; i++)
        most += c->runs[i]->n_workloads;
    rows = arena_array(a, struct compare_row, most + 1);
    for (int first = 0; first < (int)c->n; first++) {
        struct map seen = {0};
        for (size_t i = 0; i < c->n; i++)
            for (size_t w = 0; c->first[i] == first && w < c->runs[i]->n_workloads; w++) {
                const char *dims = c->runs[i]->workloads[w].dims;
                if (map_has(&seen, dims))
                    continue;
                map_put(&seen, dims, c);
                rows[c->n_rows++] = row_of(c, first, dims);
            }
        map_free(&seen);
    }
    c->rows = rows;
}

static void add_geomeans(struct compare *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const json_t *speedup = json_object_get(c->runs[i]->result, "speedup");
        c->geomean[i] = cell_of(c->runs[i], json_num(speedup, "geomean"), json_num(speedup, "low"),
                                json_num(speedup, "high"));
    }
    judge_all(c, c->geomean);
}

static const double *progress_of(const struct view *v, struct arena *a)
{
    double *best = arena_array(a, double, v->n_candidates + 1), so_far = 1;

    for (size_t i = 0; i < v->n_candidates; i++) {
        const struct store_candidate *row = &v->candidates[i].row;
        if (str_eq(row->verdict, "passed") && row->score > so_far)
            so_far = row->score;
        best[i] = so_far;
    }
    return best;
}

/* ---- options ---- */

/* As the command line has it; NULL: not given. A model's 0 or false is the provider's default. */
static const char *value_text(struct arena *a, const json_t *v, bool of_model)
{
    if (!v || json_is_null(v) ||
        (of_model && (json_is_false(v) || (json_is_number(v) && json_number_value(v) == 0))))
        return NULL;
    if (json_is_string(v))
        return json_string_value(v);
    if (json_is_real(v))
        return arena_printf(a, "%g", json_real_value(v));
    if (json_is_boolean(v))
        return json_is_true(v) ? "yes" : "no";
    return json_line(a, v);
}

/* Names have the role before a dot. Where a run lay is no option. */
static void flatten(const json_t *o, const char *prefix, bool of_model, size_t run, struct map *to,
                    struct arena *a)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)o, key, v)
    {
        const char *name = *prefix ? arena_printf(a, "%s.%s", prefix, key) : key;
        struct compare_option *option = map_get(to, name);
        if (str_eq(name, "task_dir") || str_eq(name, "out"))
            continue;
        if (json_is_object(v)) {
            bool unnamed = str_eq(key, "models") || str_eq(key, "roles");
            flatten(v, unnamed ? prefix : name, true, run, to, a);
            continue;
        }
        if (!option) {
            option = arena_new(a, struct compare_option);
            *option = (struct compare_option){.name = name};
            map_put(to, name, option);
        }
        option->values[run] = value_text(a, v, of_model);
    }
}

static void add_options(struct compare *c, struct arena *a)
{
    struct compare_option *list;
    struct map all = {0};

    for (size_t i = 0; i < c->n; i++)
        flatten(c->runs[i]->options, "", false, i, &all, a);
    list = arena_array(a, struct compare_option, all.n + 1);
    for (size_t k = 0; k < all.n; k++) {
        const struct compare_option *o = all.entries[k].value;
        bool shared = true;
        for (size_t i = 1; i < c->n; i++)
            shared = shared && str_eq(o->values[i], o->values[0]);
        if (!shared)
            list[c->n_options++] = *o;
    }
    c->options = list;
    map_free(&all);
}

/* By the options; the model is the one that replied, where one did. */
static const char *backend_of(struct arena *a, const struct view *v, const char *role)
{
    const json_t *models = json_object_get(v->options, "models"), *roles = json_object_get(models, "roles"),
                 *by_role = json_object_get(json_object_get(v->result, "cost"), "by_role"), *o;
    const char *model;
    bool both = json_flag(models, "rules_first", false) && (str_eq(role, "planner") || str_eq(role, "coder"));

    if (json_object_get(roles, "single"))
        role = "single";
    o = json_object_get(roles, role);
    if (!o)
        return "rules";
    model = json_text(json_object_get(by_role, role), "model",
                      json_text(o, "model", json_text(o, "provider", "llm")));
    return both ? arena_printf(a, "rules, then %s", model) : model;
}

/* ---- notes ---- */

static void add_notes(const struct compare *c, struct sentences *notes)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct view *v = c->runs[i], *first = c->runs[c->first[i]];
        if (str_eq(v->run.status, "running"))
            say(notes, "%c goes on, or was killed; its figures are those it has so far.", compare_letter(i));
        else if (!str_eq(v->run.status, "done"))
            say(notes, "%c did not run to its end: %s.", compare_letter(i), v->run.status);
        if (v == first)
            continue;
        if (!str_eq(v->run.astra, first->run.astra))
            say(notes, "%c was run by Astra %s, %c by %s.", compare_letter(i), v->run.astra,
                compare_letter((size_t)c->first[i]), first->run.astra);
        if (!str_eq(v->device->nvrtc, first->device->nvrtc))
            say(notes, "%c was compiled by NVRTC %s, %c by %s.", compare_letter(i),
                v->device->nvrtc ? v->device->nvrtc : "?", compare_letter((size_t)c->first[i]),
                first->device->nvrtc ? first->device->nvrtc : "?");
        if (v->measured && !str_eq(v->device->uuid, first->device->uuid))
            say(notes, "%c and %c were measured on two GPUs of the same kind.", compare_letter(i),
                compare_letter((size_t)c->first[i]));
    }
}

struct compare *compare_runs(struct arena *a, const struct view *const *runs, size_t n)
{
    struct compare *c = arena_new(a, struct compare);
    struct sentences apart = {.arena = a}, notes = {.arena = a};

    *c = (struct compare){.n = n};
    for (size_t i = 0; i < n; i++) {
        c->runs[i] = runs[i];
        c->progress[i] = progress_of(runs[i], a);
        for (size_t r = 0; r < ARRAY_LEN(role_names); r++)
            c->roles[i][r] = backend_of(a, runs[i], role_names[r]);
    }
    group(c, &apart);
    add_rows(c, a);
    add_geomeans(c);
    add_options(c, a);
    add_notes(c, &notes);
    c->apart = apart.list.v;
    c->n_apart = apart.list.n;
    c->notes = notes.list.v;
    c->n_notes = notes.list.n;
    return c;
}

/* ---- words ---- */

const char *compare_word_text(enum compare_word w)
{
    static const char *const words[] = {"", "alike", "faster", "slower"};

    return words[w];
}

const char *compare_what(const struct compare *c, struct arena *a, size_t i)
{
    const struct view *v = c->runs[i];
    const char *agents = json_text(v->options, "agents", "rules");

    if (!v->device)
        return arena_printf(a, "%s, %s, no result", v->run.task_name, agents);
    return arena_printf(a, "%s, %s, %s %s", v->run.task_name, agents,
                        v->measured ? "measured on" : "modelled for", v->device->name);
}

const char *compare_rule(const struct compare *c, struct arena *a)
{
    bool measured = false, modelled = false;

    for (size_t i = 0; i < c->n; i++)
        if (c->first[i] != (int)i) {
            measured = measured || c->runs[i]->measured;
            modelled = modelled || !c->runs[i]->measured;
        }
    if (!measured && !modelled)
        return "No two of these runs can be compared.";
    return arena_printf(a, "%s%s%s",
                        measured ? "Measured speed-ups differ where their 95 % intervals do not touch." : "",
                        measured && modelled ? " " : "",
                        modelled ? "Modelled speed-ups differ by 3 % or more; less counts as alike." : "");
}

static const json_t *by_verdict(const struct view *v)
{
    return json_object_get(json_object_get(v->result, "candidates"), "by_verdict");
}

size_t compare_verdicts(const struct compare *c, struct arena *a, const char *const **names)
{
    const char **list = arena_array(a, const char *, VERDICT_CHEAT + 1);
    size_t n = 0;

    for (int k = 0; k <= VERDICT_CHEAT; k++) {
        const char *name = verdict_name((enum verdict)k);
        bool any = false;
        for (size_t i = 0; i < c->n; i++)
            any = any || json_int(by_verdict(c->runs[i]), name, 0) > 0;
        if (any)
            list[n++] = name;
    }
    *names = list;
    return n;
}

int64_t compare_verdict(const struct compare *c, size_t run, const char *name)
{
    return c->runs[run]->result ? json_int(by_verdict(c->runs[run]), name, 0) : -1;
}

bool compare_diff(const struct compare *c, struct arena *a, size_t from, size_t to, char **diff,
                  struct err *err)
{
    const struct view *x = c->runs[from], *y = c->runs[to];

    if (!x->best || !y->best)
        return err_input(err, "%s was stopped before its original was judged: it has no best file",
                         x->best ? y->folder : x->folder);
    *diff = diff_unified(a, arena_printf(a, "%c/best.cu", compare_letter(from)), x->best->row.text,
                         arena_printf(a, "%c/best.cu", compare_letter(to)), y->best->row.text);
    return true;
}

/* ---- JSON ---- */

static json_t *cells_to_json(const struct compare *c, const struct compare_cell *cells)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->n; i++) {
        const struct compare_cell *x = &cells[i];
        bool interval = c->runs[i]->measured;
        json_t *o = json_object();
        json_put_num(o, "speedup", x->speedup);
        json_put_num(o, "low", interval ? x->low : NAN);
        json_put_num(o, "high", interval ? x->high : NAN);
        json_put_num(o, "ratio", x->ratio);
        json_put_text(o, "differs", x->word == COMPARE_UNKNOWN ? NULL : compare_word_text(x->word));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *run_to_json(const struct compare *c, size_t i)
{
    const struct view *v = c->runs[i];
    json_t *o = json_object(), *backends = json_object(), *progress = json_array();

    for (size_t k = 0; k < v->n_candidates; k++)
        json_array_append_new(progress, json_real(c->progress[i][k]));
    json_put_text(o, "name", ((char[]){compare_letter(i), 0}));
    json_put_text(o, "run", v->folder);
    json_put_text(o, "compared_with",
                  c->first[i] == (int)i ? NULL : ((char[]){compare_letter((size_t)c->first[i]), 0}));
    for (size_t r = 0; r < ARRAY_LEN(role_names); r++)
        json_put_text(backends, role_names[r], c->roles[i][r]);
    json_put(o, "minds", backends);
    json_put_text(o, "agents", json_text(v->options, "agents", "rules"));
    json_put_text(o, "task", v->run.task_name);
    json_put_text(o, "status", v->run.status);
    json_put_text(o, "outcome", json_text(v->result, "outcome", NULL));
    for (size_t k = 0; k < 4; k++) {
        static const char *const kept[] = {"device", "candidates", "cost", "wall_s"};
        json_t *value = json_object_get(v->result, kept[k]);
        json_put(o, kept[k], value ? json_incref(value) : json_null());
    }
    json_put(o, "progress", progress);
    return o;
}

json_t *compare_json(const struct compare *c, struct arena *a)
{
    json_t *o = json_object(), *runs = json_array(), *rows = json_array(), *options = json_object();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(runs, run_to_json(c, i));
    for (size_t i = 0; i < c->n_rows; i++) {
        json_t *row = json_object();
        json_put_text(row, "task", c->runs[c->rows[i].first]->run.task_name);
        json_put_text(row, "dims", c->rows[i].dims);
        json_put(row, "runs", cells_to_json(c, c->rows[i].cells));
        json_array_append_new(rows, row);
    }
    for (size_t k = 0; k < c->n_options; k++)
        json_put(options, c->options[k].name, json_texts(c->options[k].values, c->n));
    json_put_int(o, "schema", 1);
    json_put(o, "runs", runs);
    json_put(o, "apart", json_texts(c->apart, c->n_apart));
    json_put(o, "notes", json_texts(c->notes, c->n_notes));
    json_put_text(o, "rule", compare_rule(c, a));
    json_put(o, "geomean", cells_to_json(c, c->geomean));
    json_put(o, "workloads", rows);
    json_put(o, "options", options);
    return o;
}
