/* What a call of a function object computes. The object is made where it is passed, so that its members are the
 * constructor's arguments, and operator() is one returned expression: its text with all of them put in. Types
 * are converted where the class would. */
#include "rewrite/functor.h"

static struct node class_of(const struct function *f, const char *name)
{
    struct node found = {0};
    for (struct node *c = nodes_of(f, source_root(f->s), NODE_STRUCT_SPECIFIER); node_ok(*c); c++) {
        if (!node_text_is(f->s, node_field(*c, FIELD_NAME), name) || !node_ok(node_field(*c, FIELD_BODY)))
            continue;
        if (node_ok(found))
            return (struct node){0};
        found = *c;
    }
    return found;
}

bool functor_of(const struct function *f, struct node made, struct functor *o)
{
    struct node c = node_is(made, NODE_CALL_EXPRESSION) ? class_of(f, call_name(f, made)) : (struct node){0};
    uint32_t n_args = node_count(node_field(made, FIELD_ARGUMENTS));
    *o = (struct functor){.f = f, .made = made, .fields = node_field(c, FIELD_BODY)};
    if (!node_ok(c) || node_has_effect(f, node_field(made, FIELD_ARGUMENTS)))
        return false;
    if (node_is(node_parent(c), NODE_TEMPLATE_DECLARATION))
        o->templates = node_field(node_parent(c), FIELD_PARAMETERS);
    for (struct node *d = named_children(f, o->fields, NULL); node_ok(*d); d++) {
        struct node declarator = node_field(*d, FIELD_DECLARATOR),
                    name = node_field(declarator, FIELD_DECLARATOR);
        if (!node_is(*d, NODE_FUNCTION_DEFINITION))
            continue;
        if (node_is(name, NODE_OPERATOR_NAME)) {
            if (node_ok(o->call))
                return false;
            o->call = *d;
        } else if (node_count(node_field(declarator, FIELD_PARAMETERS)) == n_args) {
            o->constructor = *d;
        }
    }
    struct node body = node_field(o->call, FIELD_BODY);
    return node_count(body) == 1 && node_is(node_child(body, 0), NODE_RETURN_STATEMENT) &&
           node_count(node_child(body, 0)) == 1 && (n_args == 0 || node_ok(o->constructor));
}

/* A type of the class, as the function that makes the object writes it; NULL: it is told by an argument. */
static char *type_there(const struct functor *o, struct node e)
{
    const struct function *f = o->f;
    struct node callee = node_field(o->made, FIELD_FUNCTION);
    struct edits edits = {.arena = f->a};
    size_t n, n_params;
    while (node_is(callee, NODE_QUALIFIED_IDENTIFIER))
        callee = node_field(callee, FIELD_NAME);
    struct node *said = named_children(f, node_field(callee, FIELD_ARGUMENTS), &n),
                *params = named_children(f, o->templates, &n_params);
    if (!node_is(callee, NODE_TEMPLATE_FUNCTION))
        n = 0;
    static const enum node_kind kinds[] = {NODE_IDENTIFIER, NODE_TYPE_IDENTIFIER};
    for (size_t i = 0; node_ok(o->templates) && i < n_params; i++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct node alone[] = {e, {0}}, *all = node_kind(e) == kinds[k] ? alone : nodes_of(f, e, kinds[k]);
            for (; node_ok(*all); all++) {
                if (!str_has_word(text_of(f, params[i]), text_of(f, *all)))
                    continue;
                if (i >= n)
                    return NULL;
                edits_node(&edits, *all, text_of(f, said[i]));
            }
        }
    return edits_range(&edits, f, node_start(e), node_end(e));
}

/* An argument as a parameter of this declaration gets it. */
static char *converted(const struct functor *o, struct node parameter, const struct functor_argument *arg)
{
    struct node type = node_field(parameter, FIELD_TYPE);
    char *there = node_ok(type) ? type_there(o, type) : NULL;
    if (!there)
        return NULL;
    return arg->type && str_eq(text_compact(o->f->a, arg->type), text_compact(o->f->a, there))
               ? arena_printf(o->f->a, "%s", arg->text)
               : arena_printf(o->f->a, "static_cast<%s>(%s)", there, arg->text);
}

/* The position of a name among a function's parameters; -1: it is none. */
static int parameter_of(const struct function *f, struct node definition, const char *name,
                        struct node *parameter)
{
    size_t n;
    struct node *all =
        named_children(f, node_field(node_field(definition, FIELD_DECLARATOR), FIELD_PARAMETERS), &n);
    for (size_t i = 0; i < n; i++) {
        struct node d = node_field(all[i], FIELD_DECLARATOR);
        if (node_is(d, NODE_REFERENCE_DECLARATOR))
            d = node_child(d, 0);
        *parameter = all[i];
        if (node_text_is(f->s, d, name))
            return (int)i;
    }
    return -1;
}

/* The class's expression with each name that is a parameter's replaced by what is passed, and each member's by
 * what the constructor gave it. */
static char *put_in(const struct functor *o, struct node definition, struct node e,
                    const struct functor_argument *args, size_t n)
{
    const struct function *f = o->f;
    struct edits edits = {.arena = f->a};
    for (struct node *type = nodes_of(f, e, NODE_TYPE_IDENTIFIER); node_ok(*type); type++) {
        char *text = type_there(o, *type);
        if (!text)
            return NULL;
        edits_node(&edits, *type, text);
    }
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        struct node parameter;
        const char *word = text_of(f, *name);
        if (node_is(node_parent(*name), NODE_QUALIFIED_IDENTIFIER))
            continue; /* ::max(max, v) */
        int which = parameter_of(f, definition, word, &parameter);
        if (which >= 0) {
            char *text = (size_t)which < n ? converted(o, parameter, &args[which]) : NULL;
            if (!text)
                return NULL;
            edits_node(&edits, *name, text);
            continue;
        }
        for (struct node *field = named_children(f, o->fields, NULL); node_ok(*field); field++) {
            if (!node_is(*field, NODE_FIELD_DECLARATION) ||
                !node_text_is(f->s, node_field(*field, FIELD_DECLARATOR), word))
                continue;
            if (node_same(definition, o->constructor))
                return NULL;
            struct node given = {0};
            for (struct node *init = nodes_of(f, o->constructor, NODE_FIELD_INITIALIZER); node_ok(*init);
                 init++)
                if (node_text_is(f->s, node_child(*init, 0), word))
                    given = node_child(*init, 1);
            size_t passed;
            struct node *all = named_children(f, node_field(o->made, FIELD_ARGUMENTS), &passed);
            struct functor_argument *made = arena_array(f->a, struct functor_argument, passed + 1);
            for (size_t i = 0; i < passed; i++)
                made[i] = (struct functor_argument){text_of(f, all[i]), expression_type(f, all[i])};
            char *text = node_count(given) == 1 && node_count(node_field(o->constructor, FIELD_BODY)) == 0
                             ? put_in(o, o->constructor, node_child(given, 0), made, passed)
                             : NULL;
            char *type = text ? type_there(o, node_field(*field, FIELD_TYPE)) : NULL;
            if (!type)
                return NULL;
            bool plain = parameter_of(f, o->constructor, text_of(f, node_child(given, 0)), &parameter) >= 0 &&
                         str_eq(text_of(f, node_field(parameter, FIELD_TYPE)),
                                text_of(f, node_field(*field, FIELD_TYPE)));
            edits_node(&edits, *name, plain ? text : arena_printf(f->a, "static_cast<%s>(%s)", type, text));
        }
    }
    return edits_range(&edits, f, node_start(e), node_end(e));
}

char *functor_value(const struct functor *o, const struct functor_argument *args, size_t n)
{
    struct node returned = node_child(node_child(node_field(o->call, FIELD_BODY), 0), 0);
    char *type = type_there(o, node_field(o->call, FIELD_TYPE));
    char *value = type ? put_in(o, o->call, returned, args, n) : NULL;
    return value ? arena_printf(o->f->a, "static_cast<%s>(%s)", type, value) : NULL;
}
