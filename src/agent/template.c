/* A stack of steps as a space: the parameters of their transforms, whose points are files. Steps are carried
 * out one after the other, so files form a tree, a level a step; every branch is worked out once, when somebody
 * asks for it. */
#include "agent/agent.h"

struct branch { /* what the first steps left */
    struct agent_step step;
    bool took;        /* the step; one without parameters may not */
    const char *text; /* NULL: the step does not take this setting */
    const struct branch *parent;
    struct branch *children, *next;
    int asked;           /* of a child: the setting that it was asked for */
    const int *settings; /* that the next step's transform has sites for; NULL until asked for */
    size_t n_settings;
};

struct level { /* a step */
    struct agent_step step;
    const struct transform *transform; /* NULL: it is none */
    size_t first, n;                   /* its parameters in the space */
};

struct agent_template {
    struct agent_template_of of;
    struct arena *arena;
    struct agent_versions *versions;
    struct branch *root;
    struct level *levels;
    struct tune_space space;
    int *start;
};

static const struct transform_parameter *parameter_of(const struct level *l, size_t i)
{
    return &l->transform->parameters[i];
}

/* ---- the tree ---- */

/* One without parameters keeps its setting, or takes another that suits the steps before it now, or goes. */
static void carry_out(const struct agent_template *t, const struct level *l, int setting, struct branch *to)
{
    struct arena *scratch = arena_open();
    char *text = (char *)to->parent->text;
    struct err why;

    to->step = (struct agent_step){.transform = l->step.transform, .setting = setting, .other = l->step.other};
    to->took = agent_step_rules(t->versions, &to->step, scratch, &text, &why);
    if (!to->took && l->n == 0) {
        to->step.setting = AGENT_OWN_CHOICE;
        to->took = agent_step_rules(t->versions, &to->step, scratch, &text, &why);
    }
    if (to->took)
        to->step.text = to->text = arena_strdup(t->arena, text);
    else
        to->text = l->n ? NULL : to->parent->text;
    arena_close(scratch);
}

static struct branch *child_of(const struct agent_template *t, struct branch *parent, const struct level *l,
                               int setting)
{
    struct branch *x = parent->children;

    while (x && x->asked != setting)
        x = x->next;
    if (x)
        return x;
    x = arena_new(t->arena, struct branch);
    *x = (struct branch){.parent = parent, .asked = setting, .next = parent->children};
    parent->children = x;
    carry_out(t, l, setting, x);
    return x;
}

static void ask_settings(const struct agent_template *t, struct branch *x, const struct level *l)
{
    const struct transform_site *sites;
    struct err why;
    const struct agent_version *v = agent_versions_get(t->versions, x->text, &why);
    size_t n = v ? agent_version_every_site(v, l->transform, &sites) : 0;
    int *settings = arena_array(t->arena, int, n + 1);

    x->settings = settings;
    x->n_settings = n;
    for (size_t i = 0; i < n; i++)
        settings[i] = sites[i].setting;
}

/* Has the step a site whose first n parameters are these? */
static bool has_site(const struct agent_template *t, struct branch *x, const struct level *l, const int *point,
                     size_t n)
{
    if (!x->settings)
        ask_settings(t, x, l);
    for (size_t i = 0; i < x->n_settings; i++) {
        bool same = true;
        for (size_t k = 0; same && k < n; k++)
            same = transform_value(parameter_of(l, k), x->settings[i]) ==
                   t->space.parameters[l->first + k].values[point[l->first + k]];
        if (same)
            return true;
    }
    return false;
}

static int setting_at(const struct agent_template *t, const struct level *l, const int *point)
{
    int setting = l->n ? 0 : l->step.setting;

    for (size_t k = 0; k < l->n; k++)
        setting += parameter_of(l, k)->unit * t->space.parameters[l->first + k].values[point[l->first + k]];
    return setting;
}

/* The file of the steps whose parameters are among the first n; NULL: one of them does not take its setting, or
 * the next one has no such site. */
static struct branch *walk(const struct agent_template *t, const int *point, size_t n)
{
    struct branch *x = t->root;

    for (size_t i = 0; i < t->of.n_steps; i++) {
        const struct level *l = &t->levels[i];
        size_t known = MIN(l->n, n - MIN(n, l->first));
        if (l->n > 0 && known == 0)
            break;
        if (known && !has_site(t, x, l, point, known))
            return NULL;
        if (known < l->n)
            break;
        x = child_of(t, x, l, setting_at(t, l, point));
        if (!x->text)
            return NULL;
    }
    return x;
}

bool agent_template_legal(const struct agent_template *t, const int *point, size_t n)
{
    return walk(t, point, n) != NULL;
}

void agent_template_file(struct agent_template *t, const int *point, struct agent_file *file)
{
    const struct branch *x = walk(t, point, t->space.n);
    struct agent_step *steps = arena_array(t->arena, struct agent_step, t->of.n_steps + 1);
    size_t n = 0;

    BUG_IF(!x);
    file->text = (char *)x->text;
    for (const struct branch *y = x; y->parent; y = y->parent)
        n += y->took;
    file->steps = steps;
    file->n_steps = n;
    for (const struct branch *y = x; y->parent; y = y->parent)
        if (y->took)
            steps[--n] = y->step;
}

/* ---- the space ---- */

static void add_value(int *list, size_t *n, int value, bool ordered)
{
    size_t at = *n;

    for (size_t i = 0; i < *n; i++)
        if (list[i] == value)
            return;
    while (ordered && at > 0 && list[at - 1] > value) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = value;
    (*n)++;
}

/* The values of a parameter: those that its transform names, or those of the sites where its step stands now;
 * and the one that the step has. */
static struct tune_parameter values_of(const struct agent_template *t, struct branch *x, const struct level *l,
                                       size_t which)
{
    const struct transform_parameter *p = parameter_of(l, which);
    struct tune_parameter out = {.name = arena_printf(t->arena, "%s %s", l->step.transform, p->name)};
    int *list;

    if (!x->settings)
        ask_settings(t, x, l);
    list = arena_array(t->arena, int, p->n_values + x->n_settings + 1);
    for (size_t i = 0; i < p->n_values; i++)
        add_value(list, &out.n, p->values[i], false);
    for (size_t i = 0; i < x->n_settings && p->n_values == 0; i++)
        add_value(list, &out.n, transform_value(p, x->settings[i]), true);
    add_value(list, &out.n, transform_value(p, l->step.setting), true);
    out.values = list;
    return out;
}

static int index_of(const struct tune_parameter *p, int value)
{
    int i = 0;

    while (p->values[i] != value)
        i++;
    return i;
}

/* The parameters, from where the steps as they are lead. False: one of them is not taken. */
static bool lay_out(struct agent_template *t)
{
    size_t most = t->of.n_steps * TRANSFORM_PARAMETERS;
    struct tune_parameter *parameters = arena_array(t->arena, struct tune_parameter, most + 1);
    struct branch *x = t->root;

    t->space.parameters = parameters;
    t->start = arena_array(t->arena, int, most + 1);
    for (size_t i = 0; i < t->of.n_steps; i++) {
        struct level *l = &t->levels[i];
        *l = (struct level){
            .step = t->of.steps[i], .transform = transform_find(t->of.steps[i].transform), .first = t->space.n};
        while (l->transform && l->n < TRANSFORM_PARAMETERS && parameter_of(l, l->n)->name) {
            struct tune_parameter *p = &parameters[t->space.n];
            *p = values_of(t, x, l, l->n);
            t->start[t->space.n++] = index_of(p, transform_value(parameter_of(l, l->n), l->step.setting));
            l->n++;
        }
        x = child_of(t, x, l, l->step.setting);
        if (!x->text)
            return false;
    }
    return true;
}

struct agent_template *agent_template_open(struct arena *a, const struct agent_template_of *of)
{
    struct agent_template *t = arena_new(a, struct agent_template);

    *t = (struct agent_template){.of = *of, .arena = a, .root = arena_new(a, struct branch)};
    *t->root = (struct branch){.text = of->text};
    t->levels = arena_array(a, struct level, of->n_steps + 1);
    t->versions = agent_versions_open(of->task, of->path, of->limits);
    if (lay_out(t) && tune_points(&t->space) > 1 && walk(t, t->start, t->space.n))
        return t;
    agent_template_close(t);
    return NULL;
}

void agent_template_close(struct agent_template *t)
{
    if (t)
        agent_versions_close(t->versions);
}

const struct tune_space *agent_template_space(const struct agent_template *t)
{
    return &t->space;
}

const int *agent_template_start(const struct agent_template *t)
{
    return t->start;
}
