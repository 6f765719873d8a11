/* What is shipped is the file as nvcc compiles it; what was judged is NVRTC's device code and a launcher that
 * was read. Here the two are compared: the words that the host compiler sees, what the object calls and runs by
 * itself, its launcher's plans (recorded.c), and the device code, run as the judged one was. */
#include "internal.h"

static bool is_fate(struct version *v, enum verdict verdict, const struct err *why, struct fate *fate)
{
    return fate_isf(fate, v->arena, verdict, why->line, "as nvcc compiles it: %s", why->text);
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
    if (!kernel_calls_none(v->kernel, v->judge->baseline.kernel, o.calls, o.n_calls, &why))
        return is_fate(v, VERDICT_NOT_UNDERSTOOD, &why, fate);
    t->shipped.object = true;
    return true;
}

/* *known: nvcc's code has all kernels that are launched, by name. */
static bool is_same_code(struct version *v, const struct ptx_module *theirs, const struct image *nvcc,
                         bool *known, struct arena *a)
{
    const struct image *own = &v->compiled.image;
    struct ptx_kernel_pair *pairs = arena_array(a, struct ptx_kernel_pair, own->n_kernels + 1);
    const struct ptx_text x = {own->ptx, own->ptx_len}, y = {nvcc->ptx, nvcc->ptx_len};

    *known = true;
    for (size_t i = 0; *known && i < own->n_kernels; i++) {
        pairs[i].x = own->kernels[i].mangled;
        pairs[i].y = mangled_find(a, theirs, pairs[i].x);
        *known = pairs[i].y != NULL;
    }
    return *known && ptx_same(&x, &y, pairs, own->n_kernels);
}

/* What the host compiler's headers make of names that NVRTC's have in other words, for the same values. */
static const char in_nvrtcs_words[] =
    "#define __builtin_inff() __int_as_float(0x7f800000)\n"
    "#define __builtin_huge_valf() __int_as_float(0x7f800000)\n"
    "#define __builtin_nanf(x) __int_as_float(0x7fffffff)\n"
    "#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)\n"
    "#define __builtin_huge_val() __longlong_as_double(0x7ff0000000000000ll)\n"
    "#define __null 0l\n" /* as wide as a pointer, too */
    "#define __builtin_offsetof(type, member) ((size_t)&((type *)0)->member)\n";

#define OTHER_WORDS                                                                                               \
    "nvcc reads other device code here than NVRTC does: what would be shipped is not what was judged. Write out " \
    "names of the compiler's and of headers, backslashes at the ends of lines, and macros that lead to it"

static bool says(const struct compile_request *q, const char *word)
{
    bool found = strstr(q->text, word) != NULL;

    for (size_t i = 0; i < q->n_headers; i++)
        found |= strstr(q->headers[i].text, word) != NULL;
    return found;
}

/* An assertion holds its place, and every C library has words of its own for it: compared without, but not
 * where the file itself asks for the macro that leaves them out. */
static bool leave_out_assertions(struct arena *a, struct compile_request *q)
{
    const char **flags = arena_array(a, const char *, q->n_flags + 1);

    if (!says(q, "assert") || says(q, "NDEBUG"))
        return false;
    memcpy(flags, q->flags, q->n_flags * sizeof(*flags));
    flags[q->n_flags++] = "-DNDEBUG";
    q->flags = flags;
    return true;
}

/* NVRTC has a preprocessor of its own. What it makes of the words that nvcc's has made, a name of the
 * compiler's and a spliced line included, must be the judged code. */
static bool look_at_device_words(struct judge *j, struct version *v, const struct gpu_build *b,
                                 struct fate *fate, struct err *err)
{
    struct compile_request q = version_request(v, v->kernel->device_text);
    struct arena *a = v->arena;
    struct compile_result own = v->compiled, r;
    struct gpu_text made;
    struct err why = {0};
    const char *path;

    if (leave_out_assertions(a, &q) && !gpu_compile(j->nvrtc, a, &q, &own, err))
        return false;
    if (!gpu_nvcc_device_pass(j->nvrtc, a, &q, b, &made, &path, err))
        return false;
    const char *text = kernel_own_words(a, v->kernel, &(struct kernel_output){path, made.text, made.len},
                                        in_nvrtcs_words, &why);
    if (!text)
        return is_fate(v, VERDICT_NOT_UNDERSTOOD, &why, fate);
    q.text = text;
    if (!gpu_compile(j->nvrtc, a, &q, &r, err))
        return false;
    if (own.end != COMPILE_DONE || r.end != COMPILE_DONE)
        return fate_isf(fate, a, VERDICT_NOT_UNDERSTOOD, r.line, OTHER_WORDS " (%s)", r.words);
    struct ptx_kernel_pair *pairs = arena_array(a, struct ptx_kernel_pair, own.image.n_kernels + 1);
    const struct ptx_text x = {own.image.ptx, own.image.ptx_len}, y = {r.image.ptx, r.image.ptx_len};
    for (size_t i = 0; i < own.image.n_kernels; i++)
        pairs[i] = (struct ptx_kernel_pair){own.image.kernels[i].mangled, r.image.kernels[i].mangled};
    if (!ptx_same(&x, &y, pairs, own.image.n_kernels))
        fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, OTHER_WORDS);
    return true;
}

/* What differs in any word is judged in the judged one's stead, by all that is verified; on the GPU too, where
 * it loads what nvcc made. */
static bool run_device_code(struct judge *j, struct version *v, const struct image *nvcc, struct trial *t,
                            struct fate *fate, struct err *err)
{
    struct arena *a = v->arena;
    struct trial again = *t;
    bool ok = true;

    again.missing_checks = NULL;
    version_use_nvcc(v, nvcc, fate);
    v->works = NULL;
    if (fate_open(fate))
        ok = verify_simulated(j, v, a, &again, fate, err);
    t->coverage = again.coverage;
    if (!v->other_code)
        again.missing_checks = NULL; /* the same again */
    if (ok && fate_open(fate) && j->gpu)
        ok = verify_on_gpu(j, v, a, &again, fate, err);
    trial_add_missing(a, t, again.missing_checks);
    if (fate_open(fate))
        t->shipped.device_code = "run";
    else
        fate->words = arena_printf(a, "as nvcc compiles it: %s", fate->words);
    return ok;
}

/* What nvcc makes of the device code is what NVRTC made of it, or does the same. */
static bool look_at_device_code(struct judge *j, struct version *v, const struct gpu_build *b,
                                const struct ptx_module *theirs, struct trial *t, struct fate *fate,
                                struct err *err)
{
    const struct image *nvcc = &b->result.image;
    struct arena *a = v->arena;
    bool known, same = is_same_code(v, theirs, nvcc, &known, a) && !v->other_code;

    if (!known)
        return fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, NO_SUCH_KERNEL);
    if (same) {
        t->shipped.device_code = "same";
        return true;
    }
    if (!look_at_device_words(j, v, b, fate, err))
        return false;
    if (!fate_open(fate))
        return true;
    if (j->unsimulated || !v->module) {
        trial_add_missing(a, t, "nvcc's device code, which is not NVRTC's");
        return true;
    }
    return run_device_code(j, v, nvcc, t, fate, err);
}

/* What was built of it, part by part. */
static bool look_at_build(struct judge *j, struct version *v, const struct gpu_build *b, struct trial *t,
                          struct fate *fate, struct err *err)
{
    const struct image *nvcc = &b->result.image;
    struct ptx_module *theirs;
    struct err why = {0};

    if (!look_at_host(v, b, t, fate) || !fate_open(fate))
        return true;
    if (!ptx_module_open(&theirs, fs_basename(v->kernel->path), nvcc->ptx, nvcc->ptx_len, &why)) {
        t->shipped.not_run_because = arena_printf(v->arena, "the simulator, of nvcc's PTX: %s", why.text);
        trial_add_missing(v->arena, t, "the compiled launcher run");
        trial_add_missing(v->arena, t, "nvcc's device code");
        return true;
    }
    bool ok = verify_recorded(j, v, b, theirs, t, fate, err) &&
              (!fate_open(fate) || look_at_device_code(j, v, b, theirs, t, fate, err));
    ptx_module_close(theirs);
    return ok;
}

static void not_compared(struct arena *a, struct trial *t, const char *why)
{
    t->shipped.not_run_because = why;
    trial_add_missing(a, t, "nvcc");
}

static bool has_other_code(const struct judge *j, struct version *v)
{
    const struct image *nvcc = &v->build->result.image;
    struct ptx_module *theirs;
    struct err why = {0};
    bool known;

    if (j->gpu || j->unsimulated || !v->module || v->build->result.end != COMPILE_DONE ||
        !ptx_module_open(&theirs, fs_basename(v->kernel->path), nvcc->ptx, nvcc->ptx_len, &why))
        return false;
    bool other = !is_same_code(v, theirs, nvcc, &known, v->arena) && known;
    ptx_module_close(theirs);
    return other;
}

bool shipped_build(struct judge *j, struct version *v, struct err *err)
{
    struct arena *a = v->arena;
    char *text = arena_strdup(a, v->kernel->text);
    const struct compile_request q = version_request(v, text);
    struct gpu_build b;

    if (v->build || !gpu_nvcc_path(a, j->nvrtc))
        return true;
    origin_blank(text); /* so that all words are of the file itself */
    judge_doing(j, JUDGE_COMPILING);
    if (!gpu_nvcc_build(j->nvrtc, a, &q, kernel_understood_text(a, v->kernel), &b, err))
        return false;
    v->build = arena_copy(a, &b, sizeof(b));
    v->other_code = has_other_code(j, v);
    return true;
}

void shipped_close(struct version *v)
{
    if (v->build)
        gpu_build_close(v->build);
    v->build = NULL;
}

bool verify_shipped(struct judge *j, struct version *v, struct arena *a, struct trial *t, struct fate *fate,
                    struct err *err)
{
    t->shipped = (struct trial_shipped){.asked = true, .not_run_because = "it was not compared so far"};
    if (!shipped_build(j, v, err))
        return false;
    const struct gpu_build *b = v->build;
    if (!b)
        not_compared(a, t, "there is no nvcc");
    else if (b->result.end == COMPILE_TOO_SLOW)
        fate_is(fate, VERDICT_TOO_SLOW, 0, b->result.words);
    else if (b->result.end != COMPILE_DONE && !gpu_nvcc_works(j->nvrtc, a))
        not_compared(a, t, "nvcc compiles nothing here; has it a host compiler?");
    else if (b->result.end != COMPILE_DONE)
        fate_is(fate, VERDICT_COMPILE_FAILED, b->result.line, b->result.words);
    else
        return look_at_build(j, v, b, t, fate, err);
    return true;
}
