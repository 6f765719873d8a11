/* A case as JSON, both ways: how cases that no seed draws reach a worker and a store. Ranges over the dims stay
 * the task's own; everything else is written out. */
#include "internal.h"

#include <inttypes.h>

static json_t *number_to_json(double v)
{
    const char *inf = v > 0 ? "inf" : "-inf";

    if (isfinite(v))
        return json_real(v);
    return json_string(isnan(v) ? "nan" : inf);
}

static bool number_from_json(const json_t *o, double *v)
{
    const char *text = json_string_value(o);

    *v = json_is_number(o) ? json_number_value(o) : NAN;
    if (str_eq(text, "inf") || str_eq(text, "-inf"))
        *v = *text == '-' ? -INFINITY : INFINITY;
    return json_is_number(o) || !isnan(*v) || str_eq(text, "nan");
}

static json_t *values_to_json(const struct task_values *v)
{
    json_t *o = json_object(), *special = json_array();

    json_put_text(o, "kind", task_value_name(v->kind));
    json_put_num(o, "low", v->low);
    json_put_num(o, "high", v->high);
    json_put_num(o, "constant", v->constant);
    for (size_t i = 0; i < v->n_special; i++)
        json_array_append_new(special, number_to_json(v->special[i]));
    json_put(o, "special", special);
    json_put_num(o, "special_share", v->special_share);
    json_put_int(o, "turn", v->turn);
    json_put_int(o, "rung", v->rung);
    json_put(o, "patterned", json_boolean(v->patterned));
    json_put(o, "sprinkled", json_boolean(v->sprinkled));
    json_put(o, "tied", json_boolean(v->tied));
    json_put(o, "faint", json_boolean(v->faint));
    json_put(o, "outdone", json_boolean(v->outdone));
    json_put_int(o, "power", v->power);
    return o;
}

json_t *task_case_to_json(const struct task *t, const struct task_case *c)
{
    json_t *o = json_object(), *dims = json_array(), *values = json_object();
    char seed[24];

    for (size_t i = 0; i < t->n_dims; i++)
        json_array_append_new(dims, json_integer(c->dims[i]));
    for (size_t i = 0; i < t->n_args; i++)
        if (t->args[i].role != ROLE_SCALAR || c->values[i].kind == VALUE_CONSTANT)
            json_put(values, t->args[i].name, values_to_json(&c->values[i]));
    snprintf(seed, sizeof(seed), "%" PRIu64, c->seed); /* JSON's integers have a sign */
    json_put(o, "dims", dims);
    json_put_text(o, "seed", seed);
    json_put(o, "values", values);
    json_put_text(o, "distribution", c->distribution);
    json_put_text(o, "why", c->why);
    return o;
}

enum { MOST_POWER = 1000 };

static bool values_from_json(const json_t *o, struct arena *a, struct task_values *v)
{
    const json_t *special = json_object_get(o, "special");
    double *list = arena_array(a, double, json_array_size(special) + 1);

    if (!task_value_parse(json_text(o, "kind", ""), &v->kind))
        return false;
    v->low = json_num(o, "low");
    v->high = json_num(o, "high");
    v->constant = json_num(o, "constant");
    v->special_share = json_num(o, "special_share");
    v->turn = (unsigned)json_int(o, "turn", 0);
    v->rung = (unsigned)json_int(o, "rung", 0) % N_RUNGS;
    v->patterned = json_is_true(json_object_get(o, "patterned"));
    v->sprinkled = json_is_true(json_object_get(o, "sprinkled"));
    v->tied = json_is_true(json_object_get(o, "tied"));
    v->faint = json_is_true(json_object_get(o, "faint"));
    v->outdone = json_is_true(json_object_get(o, "outdone"));
    v->power = (int)CLAMP(json_int(o, "power", 0), -MOST_POWER, MOST_POWER);
    v->special = list;
    v->n_special = json_array_size(special);
    for (size_t i = 0; i < v->n_special; i++)
        if (!number_from_json(json_array_get(special, i), &list[i]))
            return false;
    return isfinite(v->low) && isfinite(v->high) && isfinite(v->constant) && isfinite(v->special_share) &&
           (v->high_expr || v->kind == VALUE_PERMUTATION ||
            (v->kind != VALUE_INDEX && !task_value_ordered(v->kind)));
}

bool task_case_from_json(const struct task *t, const json_t *o, struct arena *a, struct task_case *c,
                         struct err *err)
{
    const json_t *list = json_object_get(o, "dims"), *all = json_object_get(o, "values");
    int64_t *dims = arena_array(a, int64_t, t->n_dims + 1);
    struct task_values *values = arena_array(a, struct task_values, t->n_args + 1);

    for (size_t i = 0; i < t->n_dims; i++)
        dims[i] = json_integer_value(json_array_get(list, i));
    if (json_array_size(list) != t->n_dims || !task_in_domain(t, dims))
        return err_world(err, "not a case of %s: its dims are outside the domain", t->name);
    for (size_t i = 0; i < t->n_args; i++) {
        const json_t *v = json_object_get(all, t->args[i].name);
        values[i] = t->args[i].values;
        if (v && !values_from_json(v, a, &values[i]))
            return err_world(err, "not a case of %s: the values of %s", t->name, t->args[i].name);
    }
    *c = (struct task_case){.dims = dims,
                            .seed = strtoull(json_text(o, "seed", "0"), NULL, 10),
                            .values = values,
                            .distribution = arena_strdup(a, json_text(o, "distribution", "")),
                            .why = arena_strdup(a, json_text(o, "why", ""))};
    return true;
}

/* Of one input; false: a file is not there, or, with err, is none. */
static bool real_case(const struct task *t, struct arena *a, const struct task_input *input,
                      struct task_case *c, struct err *err)
{
    enum { MOST = 1 << 30 };
    struct task_values *values = arena_array(a, struct task_values, t->n_args + 1);

    for (size_t i = 0; i < t->n_args; i++) {
        char *data;
        values[i] = t->args[i].values;
        if (!input->files[i])
            continue;
        if (!fs_exists(input->files[i]) ||
            !pack_read(a, input->files[i], MOST, &data, &values[i].stored_bytes, err))
            return false;
        values[i].stored = data;
    }
    *c = (struct task_case){.dims = input->dims,
                            .seed = 1,
                            .values = values,
                            .distribution = "as captured",
                            .why = "what a program's buffers held",
                            .wild = true,
                            .real = true};
    return true;
}

bool task_real(const struct task *t, struct arena *a, const struct task_case **cases, size_t *n_cases,
               size_t *absent, struct err *err)
{
    struct task_case *list = arena_array(a, struct task_case, t->n_inputs + 1);
    struct err why = {0};

    *n_cases = *absent = 0;
    *cases = list;
    for (size_t i = 0; i < t->n_inputs && why.kind == ERR_NONE; i++) {
        if (real_case(t, a, &t->inputs[i], &list[*n_cases], &why))
            ++*n_cases;
        else
            ++*absent;
    }
    if (why.kind != ERR_NONE)
        *err = why;
    return why.kind == ERR_NONE;
}
