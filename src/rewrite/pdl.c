/* pdl: launches may begin before the kernel ahead has ended (programmatic dependent launch, from sm_90 on). The
 * kernel waits for that end before the first statement that could touch what another kernel writes, on every
 * path, and then lets the next one begin: a trigger orders nothing, and what this launch writes is seen by
 * whoever waits for its end. Indices, and loads of arguments that the task calls stable, go before the wait.
 *
 * A kernel that waits by itself, launched where the launcher still has the attribute that plain-launch left, is
 * only launched with it again.
 *
 * It comes last: no other transform reads the launches that it leaves. */
#include "rewrite/analysis.h"

/* Does every launch pass a stable argument of the launcher for it? */
static bool is_stable(const struct function *f, const struct variable *v)
{
    bool stable = v->param && f->n_launches > 0;

    for (size_t l = 0; stable && l < f->n_launches; l++) {
        struct node arg = node_strip(launch_arg(f, &f->launches[l], v));
        const struct transform_fact *fact =
            node_is(arg, NODE_IDENTIFIER) ? fact_of(f->in, text_of(f, arg)) : NULL;
        stable = fact && fact->stable;
    }
    return stable;
}

/* Is it worked out from registers, shared memory and stable arguments alone? pointer: it makes a pointer, which
 * may be of anything. */
static bool may_come_first(const struct function *f, struct node e, bool pointer)
{
    if (node_is_access(f, e)) {
        const struct variable *root = pointer_root(f, e);
        if (!root || !(is_stable(f, root) || root->shared || (root->array && !root->param)))
            return false;
        pointer = true;
    } else if (node_is(e, NODE_IDENTIFIER)) {
        const struct variable *v = function_variable_of(f, e);
        return !v || pointer || !(v->pointer || (v->array && !v->shared));
    } else if (node_is(e, NODE_CALL_EXPRESSION)) {
        if (!call_is_pure_builtin(f, e))
            return false;
        pointer = false;
    } else if (node_is(e, NODE_ASSIGNMENT_EXPRESSION) || node_is(e, NODE_UPDATE_EXPRESSION) ||
               node_is(e, NODE_LAMBDA_EXPRESSION) ||
               (node_is(e, NODE_FIELD_EXPRESSION) && str_eq(node_op(f, e), "->"))) {
        return false;
    }
    for (uint32_t i = 0, all = node_count(e); i < all; i++)
        if (!may_come_first(f, node_child(e, i), pointer))
            return false;
    return true;
}

static bool declares_pointers(struct node declaration)
{
    for (uint32_t i = 0, all = node_count(declaration); i < all; i++) {
        struct node n = node_child(declaration, i);
        if (node_is(n, NODE_INIT_DECLARATOR) &&
            !node_is(node_field(n, FIELD_DECLARATOR), NODE_POINTER_DECLARATOR))
            return false;
    }
    return true;
}

/* Where the wait goes: before the first statement that is no such declaration; NULL: behind them all. */
static struct node first_dependent(const struct function *f, struct node block)
{

    for (struct node *x = named_children(f, block, NULL); node_ok(*x); x++)
        if (!node_is(*x, NODE_COMMENT) &&
            !(node_is(*x, NODE_DECLARATION) && may_come_first(f, *x, declares_pointers(*x))))
            return *x;
    return (struct node){0};
}

/* Does the kernel wait by itself, always, and ahead of all that it could touch? A loop's first turn does so,
 * too. */
static bool waits_itself(const struct function *f)
{
    struct node next = first_dependent(f, f->body);

    if (node_is(next, NODE_FOR_STATEMENT) && may_come_first(f, node_field(next, FIELD_CONDITION), false))
        next = first_dependent(f, node_field(next, FIELD_BODY));
    for (uint32_t i = 0, all = node_ok(next) ? node_count(next) + 1 : 0; i < all; i++) {
        struct node n = i ? node_child(next, i - 1) : next; /* or a directive around it */
        if (statement_waits(f, n))
            return true;
    }
    return false;
}

/* The attribute that the launcher has made for the launch and does not use any more; NULL: there is none. */
static const struct variable *attribute_left(const struct function *f, const struct launch *l)
{
    const struct function *host = function_open(f->in, f->a, l->host);

    for (size_t i = 0; host && i < host->n_variables; i++) {
        const struct variable *v = &host->variables[i];
        if (str_eq(v->type, "cudaLaunchAttribute") && !v->pointer && v->from < node_start(l->call) &&
            node_start(l->call) < v->to)
            return v;
    }
    return NULL;
}

/* The expressions between <<< and >>>: grid, block, shared memory, stream. */
static struct node *configuration(const struct function *f, const struct launch *l, size_t *n)
{
    return named_children(f, node_child_of(l->call, NODE_KERNEL_CALL_SYNTAX), n);
}

static bool takes_attributes(const struct function *f, const struct launch *l)
{
    size_t n;

    configuration(f, l, &n);
    if (n < 2 || n > 4 || l->n_args != f->n_params) /* default arguments are the chevrons' alone */
        return false;
    for (size_t i = 0; i < l->n_args; i++) /* 0 as a pointer, too */
        if (f->variables[i].pointer && node_is(node_strip(l->args[i]), NODE_NUMBER_LITERAL))
            return false;
    return true;
}

/* Does it stand behind another launch somewhere, or does the task's time count what is ahead of all? */
static bool counts(const struct function *f)
{
    bool any = f->in->stream || f->in->n_plans == 0;

    for (size_t p = 0; p < f->in->n_plans; p++)
        for (size_t i = 1; i < f->in->plans[p].n_steps; i++)
            any = any || (plan_launches(&f->in->plans[p].steps[i], f->qualified) &&
                          f->in->plans[p].steps[i - 1].kind == PLAN_LAUNCH);
    return any;
}

/* A launch that is not seen here has no attribute, and the wait does nothing in it. */
static bool is_legal(const struct function *f)
{
    const char *body = text_of(f, f->body);
    bool legal =
        f->in->limits && f->in->limits->cc_major >= 9 && f->n_launches > 0 && function_only(f, f->name);
    bool own =
        strstr(body, "GridDependency") || strstr(body, "griddepcontrol") || strstr(body, "LaunchCompletion");

    for (size_t l = 0; legal && l < f->n_launches; l++)
        legal = takes_attributes(f, &f->launches[l]) && (!own || attribute_left(f, &f->launches[l]));
    return legal && (!own || waits_itself(f));
}

static void pdl_find(struct function *f, struct site_list *found)
{
    if (is_legal(f) && (waits_itself(f) || counts(f)))
        site_add(found, f, f->definition, 0,
                 "it begins while the kernel ahead ends, and waits only before it touches what that may write",
                 "programmatic dependent launch");
}

static void launch_early(const struct function *f, const struct launch *l, struct edits *edits)
{
    static const char *const members[] = {"gridDim", "blockDim", "dynamicSmemBytes", "stream"};
    const char *config = fresh_name(f, "config"), *indent = text_indent(f, node_start(l->statement));
    struct str settings = {.arena = f->a}, args = {.arena = f->a};
    size_t n;
    struct node *given = configuration(f, l, &n);

    const struct variable *left = waits_itself(f) ? attribute_left(f, l) : NULL;
    const char *attribute = fresh_name(f, "begins_early"), *attributes = arena_printf(f->a, "&%s", attribute);
    const char *made = arena_printf(f->a,
                                    "%s    cudaLaunchAttribute %s;\n"
                                    "%s    %s.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
                                    "%s    %s.val.programmaticStreamSerializationAllowed = 1;\n",
                                    indent, attribute, indent, attribute, indent, attribute);
    if (left) {
        made = "";
        attributes = arena_printf(f->a, left->array ? "%s" : "&%s", left->name);
    }
    for (size_t i = 0; i < n; i++)
        str_addf(&settings, "%s%s    %s.%s = %s;", i ? "\n" : "", indent, config, members[i],
                 text_of(f, given[i]));
    for (size_t i = 0; i < l->n_args; i++)
        str_addf(&args, ", %s", text_of(f, l->args[i]));
    const struct fill_slot slots[] = {{"indent", indent},
                                      {"config", config},
                                      {"made", made},
                                      {"attributes", attributes},
                                      {"settings", str_take(&settings, f->a)},
                                      {"kernel", text_of(f, node_field(l->call, FIELD_FUNCTION))},
                                      {"args", str_take(&args, f->a)}};
    edits_node(edits, l->statement, fill_share(f->a, "cuda/rewrite/launch_early.cu", slots, ARRAY_LEN(slots)));
}

static bool pdl_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                      struct err *why_not)
{
    static const char wait[] = "cudaGridDependencySynchronize(); // the kernel ahead has ended",
                      trigger[] = "cudaTriggerProgrammaticLaunchCompletion(); // the next one may begin";
    struct node next = first_dependent(f, f->body);

    (void)site;
    if (!is_legal(f))
        return err_input(why_not, "%s cannot be launched with attributes", f->name);
    if (waits_itself(f)) {
        next = (struct node){0};
    } else if (node_ok(next)) {
        const char *indent = text_indent(f, node_start(next));
        edits_at(edits, node_start(next), arena_printf(f->a, "%s\n%s%s\n%s", wait, indent, trigger, indent));
    } else {
        edits_at(edits, node_end(f->body) - 1, arena_printf(f->a, "    %s\n    %s\n", wait, trigger));
    }
    for (size_t l = 0; l < f->n_launches; l++)
        launch_early(f, &f->launches[l], edits);
    return true;
}

const struct transform transform_pdl = {
    .name = "pdl",
    .summary = "begin before the kernel ahead has ended, and wait for it (programmatic dependent launch)",
    .helps = "launch",
    .last = true,
    .find = pdl_find,
    .apply = pdl_apply,
};
