/* Loops that the threads of a block, or of more, share. */
#include "rewrite/analysis.h"

bool lane_loop_of(const struct function *f, struct node n, struct lane_loop *loop)
{
    *loop =
        (struct lane_loop){.loop = n, .body = node_field(n, FIELD_BODY), .update = node_field(n, FIELD_UPDATE)};
    struct node declaration = node_field(n, FIELD_INITIALIZER), condition = node_field(n, FIELD_CONDITION);
    struct node declarator = node_field(declaration, FIELD_DECLARATOR);
    if (!node_is(declaration, NODE_DECLARATION) || !node_is(declarator, NODE_INIT_DECLARATOR) ||
        !node_ok(loop->body) || !node_is_binary(f, condition, "<"))
        return false;
    loop->index = function_variable_of(f, node_field(declarator, FIELD_DECLARATOR));
    loop->start = node_field(declarator, FIELD_VALUE);
    loop->bound = node_field(condition, FIELD_RIGHT);
    if (!loop->index || !ctype_is_integer(f, loop->index->type) ||
        !node_text_is(f->s, node_field(condition, FIELD_LEFT), loop->index->name) ||
        variable_assigned_in(f, loop->index, loop->body))
        return false;
    if (!node_is_assignment(f, loop->update, "+=") ||
        !node_text_is(f->s, node_field(loop->update, FIELD_LEFT), loop->index->name))
        return false;
    loop->step = node_field(loop->update, FIELD_RIGHT);

    struct poly start = poly_of(f, loop->start), step = poly_of(f, loop->step);
    int64_t width =
        start.ok ? poly_coefficient(&start, "threadIdx.x") + poly_coefficient(&start, POLY_LANE) : 0;
    if (!step.ok || width < 1 || width > 64)
        return false;
    loop->width = (int)width;
    static const char *const spans[][2] = {[LANES_BLOCK] = {NULL, NULL},
                                           [LANES_GRID_X] = {"blockIdx.x", "gridDim.x"},
                                           [LANES_ROW_Y] = {"blockIdx.y", "gridDim.y"},
                                           [LANES_ROW_Z] = {"blockIdx.z", "gridDim.z"},
                                           [LANES_WARP] = {NULL, NULL}};
    struct poly thread = poly_atom(f, "threadIdx.x"), block = poly_atom(f, "blockDim.x"),
                by = poly_number(width);
    for (int s = LANES_BLOCK; s <= LANES_WARP; s++) {
        struct poly first = thread, lanes = block;
        if (spans[s][0]) {
            first = poly_add(f, poly_mul(f, poly_atom(f, spans[s][0]), block), thread, 1);
            lanes = poly_mul(f, poly_atom(f, spans[s][1]), block);
        }
        if (s == LANES_WARP) {
            first = poly_atom(f, POLY_LANE);
            lanes = poly_number(32);
        }
        first = poly_mul(f, first, by);
        lanes = poly_mul(f, lanes, by);
        if (poly_same(&first, &start) && poly_same(&lanes, &step)) {
            loop->span = (enum lane_span)s;
            return true;
        }
    }
    return false;
}

struct lane_loop *lane_loops(const struct function *f, size_t *count)
{
    size_t n;
    struct node *all = node_find_all(f->a, f->body, NODE_FOR_STATEMENT, &n);
    struct lane_loop *v = arena_array(f->a, struct lane_loop, n + 1);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (lane_loop_of(f, all[i], &v[*count]))
            (*count)++;
    return v;
}

bool step_loop_of(const struct function *f, struct node loop, struct step_loop *l)
{
    size_t n;
    struct node body = node_field(loop, FIELD_BODY), start = node_field(loop, FIELD_INITIALIZER), before;
    struct node *all = named_children(f, body, &n);
    int64_t first;
    *l = (struct step_loop){.loop = loop};
    if (!node_is(loop, NODE_FOR_STATEMENT))
        return false;
    before = node_prev(loop);
    if (!node_is(before, NODE_PREPROC_CALL) || !str_starts(text_of(f, before), "#pragma unroll") || n == 0 ||
        !node_is(body, NODE_COMPOUND_STATEMENT) ||
        !node_is(node_field(loop, FIELD_UPDATE), NODE_UPDATE_EXPRESSION) ||
        !constant_value(f, node_field(node_field(start, FIELD_DECLARATOR), FIELD_VALUE), &first) || first != 0)
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        if (!node_is(all[i], NODE_DECLARATION) || node_has_effect(f, all[i]))
            return false;
    l->question = all[n - 1];
    l->block = node_field(l->question, FIELD_CONSEQUENCE);
    return node_is(l->question, NODE_IF_STATEMENT) && !node_ok(node_field(l->question, FIELD_ALTERNATIVE)) &&
           node_is(l->block, NODE_COMPOUND_STATEMENT);
}
