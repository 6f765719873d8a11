/* What is shipped is the file as nvcc compiles it; what was judged is NVRTC's device code and a launcher that
 * was read. Here the two are compared: the words that the host compiler sees, what the object calls and runs by
 * itself, its launcher's plans (recorded.c), and the device code, run as the judged one was. */
#include "internal.h"

static bool is_fate(struct version *v, enum verdict verdict, const struct err *why, struct fate *fate)
{
    return fate_is(fate, verdict, why->line, arena_printf(v->arena, "as nvcc compiles it: %s", why->text));
}

static bool look_at_host(struct version *v, const struct gpu_build *b, struct trial *t, struct fate *fate)
{
    const struct kernel_output theirs = {b->path, b->host.text, b->host.len},
                               ours = {b->understood_path, b->understood.text, b->understood.len};
    struct err why = {0};
    struct gpu_object o;

    if (!kernel_same_words(v->kernel, &theirs, &ours, &why))
        return is_fate(v, VERDICT_NOT_UNDERSTOOD, &why, fate);
    t->shipped.words = true;
    gpu_object_check(v->arena, b->object, b->object_len, &o);
    if (!kernel_host_is_plain(v->kernel, o.constructors > 1, &why))
        return is_fate(v, VERDICT_CHEAT, &why, fate);
    if (o.words) {
        err_world(&why, "%s", o.words);
        return is_fate(v, VERDICT_CHEAT, &why, fate);
    }
    if (!kernel_calls_none(v->kernel, o.calls, o.n_calls, &why))
        return is_fate(v, VERDICT_NOT_UNDERSTOOD, &why, fate);
    t->shipped.object = true;
    return true;
}

/* What nvcc makes of the device code must do what NVRTC's does: the suite once more, the extreme shapes, and at
 * the last confirmation the workloads. */
static bool run_device_code(struct judge *j, struct version *v, const struct compile_result *r, struct arena *a,
                            struct trial *t, struct fate *fate, struct err *err)
{
    struct trial again = *t;
    bool used;

    if (j->unsimulated || !v->module)
        return true;
    version_use_nvcc(v, r, &used, fate);
    if (!fate_open(fate))
        return true;
    if (!used)
        return fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, NO_SUCH_KERNEL);
    if (!verify_candidate(j, v, &stage_sim, a, &again, fate, err) ||
        (fate_open(fate) && !verify_extremes(j, v, a, fate, err)) ||
        (fate_open(fate) && j->options.confirm && !j->gpu && !verify_workloads(j, v, a, &again, fate, err)))
        return false;
    if (!fate_open(fate))
        fate->words = arena_printf(a, "as nvcc compiles it: %s", fate->words);
    else
        t->shipped.device_code = "run";
    return true;
}

static void not_compared(struct arena *a, struct trial *t, const char *why)
{
    t->shipped.not_run_because = why;
    trial_add_missing(a, t, "nvcc");
}

bool verify_shipped(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                    struct err *err)
{
    const struct compile_request q = version_request(v, v->kernel->text);
    struct gpu_build b;

    t->shipped = (struct trial_shipped){.asked = true, .not_run_because = "it was not compared so far"};
    if (!gpu_nvcc_path(a, j->nvrtc)) {
        not_compared(a, t, "there is no nvcc");
        return true;
    }
    judge_doing(j, JUDGE_COMPILING);
    if (!gpu_nvcc_build(j->nvrtc, a, &q, kernel_understood_text(a, v->kernel), &b, err))
        return false;
    bool ok = true;
    if (b.result.end == COMPILE_TOO_SLOW)
        fate_is(fate, VERDICT_TOO_SLOW, 0, b.result.words);
    else if (b.result.end != COMPILE_DONE && !gpu_nvcc_works(j->nvrtc, a))
        not_compared(a, t, "nvcc compiles nothing here; has it a host compiler?");
    else if (b.result.end != COMPILE_DONE)
        fate_is(fate, VERDICT_COMPILE_FAILED, b.result.line, b.result.words);
    else
        ok = look_at_host(v, &b, t, fate) && (!fate_open(fate) || verify_recorded(j, v, &b, a, t, fate, err)) &&
             (!fate_open(fate) || run_device_code(j, v, &b.result, a, t, fate, err));
    gpu_build_close(&b);
    return ok;
}
