/* Statements executed. */
#include "kernel/internal.h"

static enum flow loop(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
                      struct value *returned)
{
    enum flow flow;

    if (s->init)
        exec(in, env, s->init, result, returned);
    for (bool first = true;; first = false) {
        step_count(in, s->at);
        if (s->cond && !(s->kind == ST_DO && first) && !truth(in, s->cond->at, eval(in, env, s->cond)))
            return FLOW_NEXT;
        flow = exec(in, env_inner(in, env), s->a, result, returned);
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow == FLOW_RETURN)
            return flow;
        if (s->step)
            eval(in, env, s->step);
    }
}

/* for (x : array): x starts from element i of what stands behind the colon. */
static enum flow range_loop(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
                            struct value *returned)
{
    static const char name[] = "range#"; /* that no program can say */
    struct cell *all = range_array(in, env, s->cond);
    struct expr array = {.kind = EX_NAME, .at = s->cond->at, .name = name};
    enum flow flow;

    env_bind(in, env, name, all);
    for (int64_t i = 0; i < all->n_elems; i++) {
        const struct value number = value_int(type_int, i);
        struct expr index = {.kind = EX_NUMBER, .at = s->cond->at, .number = &number};
        struct expr element = {.kind = EX_INDEX, .at = s->cond->at, .a = &array, .b = &index};
        struct declarator d = *s->decls;
        struct env *each = env_inner(in, env);

        step_count(in, s->at);
        d.init = &element;
        declare(in, each, &d);
        flow = exec(in, env_inner(in, each), s->a, result, returned);
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow == FLOW_RETURN)
            return flow;
    }
    return FLOW_NEXT;
}

/* A label of the switch around s, in s. */
static bool has_label(const struct stmt *s)
{
    if (!s || s->kind == ST_SWITCH)
        return false;
    if (s->kind == ST_CASE || s->kind == ST_DEFAULT || s->has_case)
        return true;
    for (size_t i = 0; i < s->n_body; i++) {
        if (has_label(s->body[i]))
            return true;
    }
    return has_label(s->a) || has_label(s->b);
}

static enum flow run_switch(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
                            struct value *returned)
{
    struct value v = value_plain(eval(in, env, s->cond));
    const struct stmt *body = s->a;
    size_t start;
    enum flow flow;

    if (!type_is_integer(v.type))
        fail(in->unit, s->cond->at, "switch takes an integer");
    if (body->kind != ST_BLOCK)
        fail(in->unit, body->at, "the body of a switch is a block");
    if (!v.type->scoped)
        v = convert(in, s->cond->at, v, type_promote(v.type), true);
    start = body->n_body;
    for (size_t i = 0; i < body->n_body; i++) {
        if (body->body[i]->kind != ST_CASE && body->body[i]->kind != ST_DEFAULT && has_label(body->body[i]))
            fail(in->unit, body->body[i]->at,
                 "a case within another statement; put it into the switch's own block");
    }
    for (size_t i = 0; i < body->n_body; i++) {
        const struct stmt *c = body->body[i];

        if (c->kind == ST_CASE &&
            truth(in, c->at,
                  binary(in, c->at, OP_EQ, v, convert(in, c->at, eval(in, env, c->cond), v.type, true)))) {
            start = i;
            break;
        }
        if (c->kind == ST_DEFAULT) /* a case behind it may still fit */
            start = i;
    }
    env = env_inner(in, env);
    for (size_t i = start; i < body->n_body; i++) {
        flow = exec(in, env, body->body[i], result, returned);
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}

enum flow exec(struct interp *in, struct env *env, const struct stmt *s, const struct type *result,
               struct value *returned)
{
    enum flow flow;

    step_count(in, s->at);
    switch (s->kind) {
    case ST_CASE:
    case ST_DEFAULT:
    case ST_EMPTY:
        return FLOW_NEXT;
    case ST_EXPR:
        eval(in, env, s->cond);
        return FLOW_NEXT;
    case ST_DECL:
        for (size_t i = 0; i < s->n_decls; i++)
            declare(in, env, &s->decls[i]);
        return FLOW_NEXT;
    case ST_TYPE:
        env_bind_type(in, env, s->name, type_resolve(in, env, s->type));
        return FLOW_NEXT;
    case ST_BLOCK:
        env = env_inner(in, env);
        for (size_t i = 0; i < s->n_body; i++) {
            flow = exec(in, env, s->body[i], result, returned);
            if (flow != FLOW_NEXT)
                return flow;
        }
        return FLOW_NEXT;
    case ST_IF:
        env = env_inner(in, env);
        if (s->init)
            exec(in, env, s->init, result, returned);
        if (truth(in, s->cond->at, eval(in, env, s->cond)))
            return exec(in, env_inner(in, env), s->a, result, returned);
        return s->b ? exec(in, env_inner(in, env), s->b, result, returned) : FLOW_NEXT;
    case ST_RANGE:
        return range_loop(in, env_inner(in, env), s, result, returned);
    case ST_FOR:
    case ST_WHILE:
    case ST_DO:
        return loop(in, env_inner(in, env), s, result, returned);
    case ST_SWITCH:
        env = env_inner(in, env);
        if (s->init)
            exec(in, env, s->init, result, returned);
        return run_switch(in, env, s, result, returned);
    case ST_BREAK:
        return FLOW_BREAK;
    case ST_CONTINUE:
        return FLOW_CONTINUE;
    case ST_RETURN:
        if (s->cond) {
            struct value v = eval(in, env, s->cond);

            if (result && result->kind == TY_SCALAR && result->scalar == KT_VOID &&
                !(v.type->kind == TY_SCALAR && v.type->scalar == KT_VOID))
                fail(in->unit, s->at, "a void function returns a value");
            *returned = result ? convert(in, s->at, v, result, false) : v;
            returned->literal_zero = false;
        } else if (result && !(result->kind == TY_SCALAR && result->scalar == KT_VOID)) {
            fail(in->unit, s->at, "return without a value");
        } else {
            returned->type = type_void;
        }
        return FLOW_RETURN;
    case ST_BAD: {
        struct trap *trap = in->unit->trap;

        trap->err = *s->err;
        longjmp(trap->jump, 1);
    }
    }
    BUG("statement %d", s->kind);
}
