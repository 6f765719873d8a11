/* load-ahead: what the fixed steps of a row load is loaded before the first of them computes. A step otherwise
 * waits for its own elements and stores before the next one loads, as the compiler must assume that the store
 * changes them; and weights of a later loop begin on their way only when the threads have met.
 *
 * Right where the later value is the earlier one: nothing between the two places writes it. What no statement
 * of the kernel writes may come from any loop (setting 2); what a loop writes, from the first loop alone, where
 * each step reads and writes one place and no other (setting 1 moves that loop's loads only). */
#include "rewrite/analysis.h"

enum { LOOPS_MOST = 8, LOADS_MOST = 8 };

struct ahead_load {
    struct node declaration, value; /* const packed<T, N> x_v = packed_load<N>(&x[i]); and its right side */
    const struct variable *v, *root;
    const char *name; /* of the array */
};

struct ahead_loop {
    struct step_loop steps;
    struct ahead_load loads[LOADS_MOST];
    size_t n;
};

struct detail {
    const struct function *f;
    struct ahead_loop loops[LOOPS_MOST];
    size_t n;
};

/* Is what the index says known before the first loop, but for what the loop declares before it asks? */
static bool known_before(const struct function *f, const struct ahead_loop *l, struct node e, size_t at)
{
    for (struct node *name = names_in(f, e); node_ok(*name); name++) {
        const struct variable *v = function_variable_of(f, *name);
        if (!v || (v->param && !v->assignments))
            continue;
        bool own = v->from >= node_start(l->steps.loop) && v->from < node_start(l->steps.question);
        if (!own && (v->assignments || v->from >= at || v->array || v->shared))
            return false;
    }
    return true;
}

/* All that the loop reaches of this memory is the place that is loaded. */
static bool only_place(const struct function *f, const struct ahead_loop *l, const struct ahead_load *load)
{
    const char *index = NULL;
    for (struct node *s = nodes_of(f, l->steps.loop, NODE_SUBSCRIPT_EXPRESSION); node_ok(*s); s++) {
        if (pointer_root(f, *s) != load->root)
            continue;
        char *one = text_compact(f->a, text_of(f, *s));
        if (index && !str_eq(index, one))
            return false;
        index = one;
    }
    return index != NULL;
}

static void collect_loop(const struct function *f, struct ahead_loop *l, size_t at, bool first)
{
    for (struct node *s = named_children(f, l->steps.block, NULL); node_ok(*s) && l->n < LOADS_MOST; s++) {
        struct node d = node_field(*s, FIELD_DECLARATOR), value = node_field(d, FIELD_VALUE);
        struct ahead_load load = {.declaration = *s, .value = value};
        if (!node_is(*s, NODE_DECLARATION) || !node_is(d, NODE_INIT_DECLARATOR) ||
            !node_is(value, NODE_CALL_EXPRESSION) || !str_starts(text_of(f, value), "packed_load"))
            continue;
        struct node place = node_field(node_child(node_field(value, FIELD_ARGUMENTS), 0), FIELD_ARGUMENT);
        load.v = function_variable_of(f, node_field(d, FIELD_DECLARATOR));
        load.root = node_is(place, NODE_SUBSCRIPT_EXPRESSION) ? pointer_root(f, place) : NULL;
        if (!load.v || !load.root || !load.root->param || !known_before(f, l, place, at))
            continue;
        bool written = memory_written_in(f, load.root->name, f->body);
        if (written && (!first || !only_place(f, l, &load)))
            continue;
        load.name = fresh_local(f, arena_printf(f->a, "%s_ahead", load.root->name));
        for (size_t i = 0; i < l->n; i++)
            if (str_eq(l->loads[i].name, load.name))
                load.name = NULL;
        if (load.name)
            l->loads[l->n++] = load;
    }
}

static bool collect(const struct function *f, int setting, struct detail *d, struct err *why)
{
    size_t n = 0;
    *d = (struct detail){.f = f};
    for (struct node *s = named_children(f, f->body, NULL); node_ok(*s) && d->n < LOOPS_MOST; s++) {
        struct ahead_loop *l = &d->loops[d->n];
        if (!node_is(*s, NODE_FOR_STATEMENT) || !step_loop_of(f, *s, &l->steps))
            continue;
        struct node top = d->n ? d->loops[0].steps.loop : l->steps.loop;
        if (d->n && setting < 2)
            break;
        collect_loop(f, l, node_start(top), d->n == 0);
        for (size_t i = 0; d->n && i < l->n;
             i++) /* one array for what two loops load would do; none has both */
            for (size_t k = 0; k < d->loops[0].n; k++)
                if (d->loops[0].loads[k].root == l->loads[i].root)
                    return err_input(why, "%s is loaded twice", l->loads[i].root->name);
        n += l->n;
        if (l->n || d->n == 0)
            d->n++;
    }
    return n > 0 || err_input(why, "%s loads nothing in fixed steps", f->name);
}

/* Bytes of a thread's registers that a known number of steps takes; a template's number is not known. */
static int64_t bytes_ahead(const struct detail *d)
{
    int64_t bytes = 0, steps;
    for (size_t i = 0; i < d->n; i++)
        if (constant_value(d->f, node_field(node_field(d->loops[i].steps.loop, FIELD_CONDITION), FIELD_RIGHT),
                           &steps))
            bytes += steps * 16 * (int64_t)d->loops[i].n;
    return bytes;
}

static void ahead_edits(const struct detail *d, struct edits *edits)
{
    const struct function *f = d->f;
    struct str arrays = {0}, loops = {0};
    char *indent = text_indent(f, node_start(d->loops[0].steps.loop));
    for (size_t i = 0; i < d->n; i++) {
        const struct ahead_loop *l = &d->loops[i];
        if (l->n == 0)
            continue;
        struct node condition = node_field(l->steps.loop, FIELD_CONDITION);
        char *item = text_of(f, node_field(condition, FIELD_LEFT)),
             *steps = text_of(f, node_field(condition, FIELD_RIGHT));
        str_addf(&loops, "#pragma unroll\n%s%s{\n%s", indent,
                 text_range(f, node_start(l->steps.loop), node_start(l->steps.block)), indent);
        for (size_t k = 0; k < l->n; k++) {
            str_addf(&arrays, "%s%s %s[%s];%s\n", indent, l->loads[k].v->type, l->loads[k].name, steps,
                     arrays.len ? "" : " // all under way before the first is used");
            str_addf(&loops, "        %s[%s] = %s;\n%s", l->loads[k].name, item, text_of(f, l->loads[k].value),
                     indent);
            edits_node(edits, l->loads[k].value, arena_printf(f->a, "%s[%s]", l->loads[k].name, item));
        }
        str_addf(&loops, "    }\n%s}\n", indent);
    }
    size_t at = str_line_start(f->text, node_start(node_prev(d->loops[0].steps.loop)));
    edits_at(edits, at, arena_printf(f->a, "%s%s", str_take(&arrays, f->a), str_take(&loops, f->a)));
}

/* All kernels that run; the first that changes, or NULL. */
static struct function *ahead_file(const struct transform_input *in, int setting, struct edits *edits)
{
    struct function *first = NULL;
    size_t n;
    struct function **all = functions_open(in, edits->arena, &n);
    for (size_t i = 0; i < n; i++) {
        struct detail d;
        if (!all[i]->global || !collect(all[i], setting, &d, NULL) || bytes_ahead(&d) > 256)
            continue;
        ahead_edits(&d, edits);
        first = first ? first : all[i];
    }
    return first;
}

static void ahead_find(const struct transform_input *in, struct site_list *found)
{
    for (int setting = 2; setting >= 1; setting--) {
        struct function *f = ahead_file(in, setting, &(struct edits){.arena = found->arena});
        if (f)
            site_add(found, f, f->definition, setting,
                     "a step waits for its elements before the next one's are on their way",
                     setting == 1 ? "of the first loop" : "of all loops in fixed steps");
    }
}

static bool ahead_apply(const struct function *f, const struct transform_site *site, struct edits *edits,
                        struct err *why_not)
{
    return ahead_file(f->in, site->setting, edits) || err_input(why_not, "nothing is loaded in fixed steps");
}

const struct transform transform_load_ahead = {
    .name = "load-ahead",
    .summary = "load what the fixed steps of a row need, weights too, before the first of them computes",
    .helps = "latency dram l2",
    .parameters = {{"loops", 1, 0, 2, {1, 2}}},
    .find_in_file = ahead_find,
    .apply = ahead_apply,
};
