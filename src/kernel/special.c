/* Specialisations of a class template: which one an instance is. */
#include "kernel/interpret.h"

/* A number that is written where the template has a parameter. */
static bool is_number(const struct template_arg_node *a)
{
    return a->value && a->value->kind == EX_NUMBER;
}

static const struct template_param *own_parameter(const struct type_name *s, const struct template_arg_node *a)
{
    const char *name = NULL;

    if (a->type && a->type->kind == TN_NAME && !a->type->n_args)
        name = a->type->name;
    else if (a->value && a->value->kind == EX_NAME && !a->value->has_targs)
        name = a->value->name;
    for (size_t i = 0; i < s->n_tparams && name; i++) {
        if (str_eq(s->tparams[i].name, name))
            return &s->tparams[i];
    }
    return NULL;
}

/* Is the instance surely no such specialisation: a number that it says is another one? */
static bool is_other(struct interp *in, const struct type_name *s, const struct env *bound)
{
    for (size_t k = 0; k < s->n_special_args && k < bound->names.n; k++) {
        const struct binding *b = &bound->names.v[k];

        if (b->type || !b->cell->known || !type_is_integer(b->cell->type) || !is_number(&s->special_args[k]))
            continue;
        const struct template_arg *arg = eval_template_args(in, NULL, &s->special_args[k], 1);
        if (b->cell->value.i != convert(in, NULL, arg->value, b->cell->type, false).i)
            return true;
    }
    return false;
}

/* The specialisation's own parameters, where it says nothing else than these and numbers; NULL: it does. */
static struct env *own_bound(struct interp *in, const struct type_name *s, const struct env *bound)
{
    struct env *own = arena_new(in->arena, struct env);

    for (size_t k = 0; k < s->n_special_args && k < bound->names.n; k++) {
        const struct binding *b = &bound->names.v[k];
        const struct template_param *p = own_parameter(s, &s->special_args[k]);

        if (p && b->type)
            env_bind_type(in, own, p->name, b->type);
        else if (p)
            env_bind(in, own, p->name, b->cell);
        else if (b->type || !is_number(&s->special_args[k]))
            return NULL;
    }
    return own->names.n == s->n_tparams ? own : NULL;
}

/* Of those that leave parameters open; NULL: nobody knows which. */
static const struct type_name *partial(struct interp *in, const struct type_name *t, struct env **bound)
{
    const struct type_name *found = t;
    struct env *own = NULL;

    for (size_t i = 0; i < t->partial.n; i++) {
        const struct type_name *s = t->partial.v[i];

        if (is_other(in, s, *bound))
            continue;
        own = own_bound(in, s, *bound);
        if (!own || found != t || s->opaque)
            return NULL;
        found = s;
    }
    if (own)
        *bound = own;
    return found;
}

const struct type_name *type_special(struct interp *in, const struct type_name *t, struct env **bound)
{
    for (size_t i = 0; i < t->special.n; i++) {
        const struct type_name *s = t->special.v[i];
        const struct template_arg *args = eval_template_args(in, NULL, s->special_args, s->n_special_args);
        bool same = s->n_special_args == (*bound)->names.n;

        for (size_t k = 0; same && k < s->n_special_args; k++) {
            const struct binding *b = &(*bound)->names.v[k];

            if (!b->type != !args[k].type)
                same = false;
            else if (!b->type && !type_is_integer(b->cell->type))
                fail(in->unit, NULL, "specialisations of %s by what is no type and no integer", t->name);
            else if (b->type)
                same = type_same(b->type, args[k].type);
            else
                same = b->cell->value.i == convert(in, NULL, args[k].value, b->cell->type, false).i;
        }
        if (same) {
            *bound = arena_new(in->arena, struct env);
            return s;
        }
    }
    return partial(in, t, bound);
}
