/* Best per shape: which of two versions a launcher takes, by one comparison over its arguments. */
#include "agent/agent.h"

/* The step "dispatch rows * d <=" with setting 8192 takes the other version where rows * d <= 8192. */
static const char DISPATCH[] = "dispatch ", TIMES[] = " * ";

struct choosing {
    const struct task *task;
    const struct agent_version_of *versions;
    size_t n_versions;
    struct arena *arena;
    int64_t *values;  /* of the operand, by workload */
    double score;     /* of the best choice so far, */
    size_t low, high; /* its versions up to the threshold and above, */
    size_t args[2];   /* and the operand: args[1] == n_args: no product */
    int64_t last_low, first_high;
};

/* Of the original's speed on one workload: less is a loss. */
#define AS_GOOD 0.99

/* The fastest version over the workloads on one side of a threshold that nowhere there loses to the original;
 * *log_sum of its speed-ups. The original itself always is such. */
static size_t fastest(const struct choosing *c, int64_t from, int64_t to, double *log_sum)
{
    size_t best = 0;

    *log_sum = 0;
    for (size_t v = 1; v < c->n_versions; v++) {
        double sum = 0;
        for (size_t w = 0; w < c->task->n_workloads && sum > -INFINITY; w++) {
            double x = c->versions[v].speedups[w];
            if (c->values[w] >= from && c->values[w] <= to)
                sum = x >= AS_GOOD ? sum + log(x) : -INFINITY;
        }
        if (sum > *log_sum) {
            *log_sum = sum;
            best = v;
        }
    }
    return best;
}

static bool is_whole(const struct task_arg *arg)
{
    return arg->role == ROLE_SCALAR && arg->type != KT_F32 && arg->type != KT_F64;
}

/* The thresholds between the values that the operand has in the workloads. */
static void try_operand(struct choosing *c, size_t x, size_t y)
{
    const struct task *t = c->task;
    struct kernel_value *values = arena_array(c->arena, struct kernel_value, t->n_args);

    for (size_t w = 0; w < t->n_workloads; w++) {
        task_launch_values(t, t->workloads + w * t->n_dims, values);
        c->values[w] = values[x].i;
        if (values[x].i < 0 ||
            (y < t->n_args && (values[y].i < 0 || values[x].i > INT32_MAX || values[y].i > INT32_MAX)))
            return;
        if (y < t->n_args)
            c->values[w] *= values[y].i;
        if (c->values[w] > INT32_MAX) /* a step's setting is an int */
            return;
    }
    for (size_t w = 0; w < t->n_workloads; w++) {
        int64_t last_low = c->values[w], first_high = INT64_MAX;
        double low_sum, high_sum;
        for (size_t k = 0; k < t->n_workloads; k++)
            if (c->values[k] > last_low)
                first_high = MIN(first_high, c->values[k]);
        if (first_high == INT64_MAX)
            continue;
        size_t low = fastest(c, INT64_MIN, last_low, &low_sum),
               high = fastest(c, first_high, INT64_MAX, &high_sum);
        double score = exp((low_sum + high_sum) / (double)t->n_workloads);
        if (low == high || score <= c->score)
            continue;
        c->score = score;
        c->low = low;
        c->high = high;
        c->args[0] = x;
        c->args[1] = y;
        c->last_low = last_low;
        c->first_high = first_high;
    }
}

static double mean_of(const struct choosing *c, size_t version)
{
    double sum = 0;

    for (size_t w = 0; w < c->task->n_workloads; w++)
        sum += log(c->versions[version].speedups[w]);
    return sum;
}

bool agent_dispatch_rules(const struct task *t, const struct agent_version_of *versions, size_t n, double least,
                          struct arena *a, struct agent_strategy *s, size_t *base)
{
    struct choosing c = {.task = t,
                         .versions = versions,
                         .n_versions = n,
                         .arena = a,
                         .values = arena_array(a, int64_t, t->n_workloads),
                         .score = least};

    for (size_t i = 0; i < t->n_args; i++)
        if (is_whole(&t->args[i]))
            try_operand(&c, i, t->n_args);
    for (size_t i = 0; i < t->n_args; i++)
        for (size_t k = i + 1; k < t->n_args; k++)
            if (is_whole(&t->args[i]) && is_whole(&t->args[k]))
                try_operand(&c, i, k);
    if (c.low == c.high)
        return false;
    /* The original stands beside the other, the slower version beside the faster. */
    bool low_is_other = c.low == 0 || (c.high != 0 && mean_of(&c, c.low) < mean_of(&c, c.high));
    const struct agent_version_of *other = &versions[low_is_other ? c.low : c.high];
    const char *relation = low_is_other ? "<=" : ">=", *x = t->args[c.args[0]].name,
               *operand =
                   c.args[1] == t->n_args ? x : arena_printf(a, "%s%s%s", x, TIMES, t->args[c.args[1]].name);
    struct agent_step *step = arena_new(a, struct agent_step);
    *base = low_is_other ? c.high : c.low;
    *step = (struct agent_step){.transform = arena_printf(a, "%s%s %s", DISPATCH, operand, relation),
                                .setting = (int)(low_is_other ? c.last_low : c.first_high),
                                .other = other == versions ? NULL : arena_copy(a, other, sizeof(*other))};
    *s = (struct agent_strategy){
        .name = arena_printf(a, "%s for %s %s %d", other->name, operand, relation, step->setting),
        .reason =
            arena_printf(a,
                         "%s is the faster one where %s %s %d: with a launcher that chooses, %.3f times the "
                         "original's speed by the workloads' own times",
                         other->name, operand, relation, step->setting, c.score),
        .plan = "both versions in one file, chosen by size in the launcher",
        .steps = step,
        .n_steps = 1,
        .expected_gain = c.score / exp(mean_of(&c, *base) / (double)t->n_workloads),
        .confidence = 0.9};
    return true;
}

bool agent_is_dispatch(const struct agent_step *step)
{
    return str_starts(step->transform, DISPATCH);
}

/* As the version's own launcher calls its parameters, and a product in 64 bits. */
static const char *condition_of(const struct task *t, const struct kernel *version,
                                const struct agent_step *step, struct arena *a)
{
    char *operand = arena_strdup(a, step->transform + strlen(DISPATCH)), *relation = strrchr(operand, ' '),
         *second;
    const char *names[2] = {NULL, NULL}, *asked[2] = {operand, NULL};

    if (!relation)
        return NULL;
    *relation++ = 0;
    second = strstr(operand, TIMES);
    if (second) {
        *second = 0;
        asked[1] = second + strlen(TIMES);
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < MIN(t->n_args, version->n_params); i++)
            if (str_eq(t->args[i].name, asked[k]))
                names[k] = version->params[i].name;
    if (!names[0] || (asked[1] && !names[1]))
        return NULL;
    return asked[1] ? arena_printf(a, "(long long)%s * %s %s %d", names[0], names[1], relation, step->setting)
                    : arena_printf(a, "%s %s %d", names[0], relation, step->setting);
}

bool agent_dispatch(const struct task *t, const char *path, const struct agent_step *step, struct arena *a,
                    char **text, struct err *why_not)
{
    struct kernel *other = NULL, *version = NULL;
    struct transform_choice choice = {.original = !step->other};
    char *own = step->other ? arena_strdup(a, step->other->text) : NULL;
    bool ok = (own || fs_read(a, t->source_path, &own, NULL, why_not)) &&
              task_kernel_open(&other, a, t, t->source_path, own, why_not) &&
              task_kernel_open(&version, a, t, path, *text, why_not);

    if (ok) {
        choice.condition = condition_of(t, version, step, a);
        choice.comment = step->other ? "At these sizes another version is the faster one."
                                     : "At these sizes the original is the faster one.";
        ok = (choice.condition || err_input(why_not, "%s names no argument of the task", step->transform)) &&
             transform_dispatch(a, other, version, &choice, text, why_not);
    }
    kernel_close(other);
    kernel_close(version);
    return ok;
}
