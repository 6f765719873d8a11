/* The exact answers of a task without a reference: the original, compiled so that its mathematics are calls,
 * run on the simulator with a shadow in double beside every floating value. */
#include "internal.h"

enum { MOST_INSNS = 4000000 }; /* of a case: a dearer one keeps the original's answers */

enum ptx_real exact_real(enum kernel_type t)
{
    static const enum ptx_real reals[] = {
        [KT_F16] = PTX_F16, [KT_BF16] = PTX_BF16, [KT_F32] = PTX_F32, [KT_F64] = PTX_F64};
    return reals[t];
}

static bool read_shadow(struct judge *j, const struct stage *s, struct ptx_shadow *shadow, size_t case_i,
                        struct derived *to, struct err *err)
{
    const struct case_data *d = &j->data[case_i];

    for (size_t o = 0; o < j->n_outputs; o++) {
        const struct task_arg *arg = &j->task->args[j->outputs[o]];
        size_t n = (size_t)d->elements[j->outputs[o]];
        int64_t bytes;
        uint64_t addr = stage_arg(s, j->outputs[o], &bytes);
        if (!type_is_floating(arg->type))
            continue;
        unsigned char *real = mem_alloc((size_t)bytes + 1); /* read, so that the pages are there */
        bool ok = !bytes || s->ops->read((struct stage *)s, addr, real, (size_t)bytes, err);
        free(real);
        if (!ok)
            return false;
        to->values[o] = arena_array(j->arena, double, n + 1);
        to->lost[o] = arena_array(j->arena, bool, n + 1);
        ptx_shadow_read(shadow, s->mem, addr, exact_real(arg->type), n, to->values[o], to->lost[o]);
    }
    return true;
}

bool exact_run(struct judge *j, struct version *v, struct ptx_shadow *shadow, struct arena *scratch,
               size_t case_i, struct derived *to, struct err *err)
{
    const struct task_case *about = &j->cases[case_i];
    const struct stage_data data = {.values = about->values,
                                    .seed = about->seed,
                                    .inputs = (const unsigned char *const *)j->data[case_i].inputs,
                                    .place = rng_hash(j->options.seed, case_i)};
    const struct stage_check check = {.where = "exact", .max_insns = MOST_INSNS};
    struct stage_ran ran;
    struct fate fate = {0};
    struct stage s;
    bool ok;

    if (!stage_open(&s, j, &stage_sim, v->task, about->dims, &data, err)) {
        ptx_shadow_close(shadow);
        return false;
    }
    s.shadow = shadow;
    v->task = task_of_case(scratch, j->task, about);
    ok = stage_verify(&s, v, &check, scratch, &ran, &fate, err) &&
         (!fate_open(&fate) || read_shadow(j, &s, shadow, case_i, to, err));
    v->task = j->task;
    if (!fate_open(&fate))
        to->why_not = arena_strdup(j->arena, fate.words);
    ptx_shadow_close(shadow);
    stage_close(&s);
    return ok;
}

/* Elements whose shadow was lost get the original's answer when it has run: keep_outputs. */
bool exact_derive(struct judge *j, struct version *v, struct arena *scratch, size_t case_i, struct err *err)
{
    struct case_data *d = &j->data[case_i];
    struct derived got = {0};

    if (!exact_run(j, v, ptx_shadow_open(), scratch, case_i, &got, err))
        return false;
    if (got.why_not && !j->cases[case_i].wild)
        j->underived = got.why_not;
    for (size_t o = 0; o < j->n_outputs; o++) {
        size_t n = got.values[o] ? (size_t)d->elements[j->outputs[o]] : 0;
        d->exact[o] = got.values[o];
        d->lost[o] = got.lost[o];
        for (size_t e = 0; e < n; e++)
            j->n_lost += d->lost[o][e];
        j->n_derived += n;
    }
    return true;
}

/* The prelude goes behind the last include: the headers' own functions stay what they are. */
const char *exact_text(struct arena *a, const char *text)
{
    const struct share_file *prelude = share_find("cuda/shadow.cuh");
    const char *at = text;

    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n"), *word = line + strspn(line, " \t");
        end += *end == '\n';
        if (*word == '#' && str_starts(word + 1 + strspn(word + 1, " \t"), "include"))
            at = end;
        line = end;
    }
    return arena_printf(a, "%.*s\n%s\n%s", (int)(at - text), text, prelude->text, at);
}
