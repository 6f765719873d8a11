/* Exact answers without a reference: of every example that has one, what the shadow derives from the original
 * against what the hand-written reference says. */
#include "test.h"
#include "judge/internal.h"

static struct err err;

/* How far apart two exact answers may be: a hundredth of an ulp of the output's type. A double carries 29 bits
 * more than an f32, so only sums that cancel come near it. */
static const double bound_ulps = 0.01;

struct distance {
    size_t n, lost, beyond;
    double worst; /* in ulps, over the elements that are not lost */
};

static void compare(const struct judge *exact, const struct judge *derived, struct distance *d)
{
    for (size_t i = 0; i < exact->n_cases; i++)
        for (size_t o = 0; o < exact->n_outputs; o++) {
            const struct task_arg *arg = &exact->task->args[exact->outputs[o]];
            const double *x = exact->data[i].exact[o], *y = derived->data[i].exact[o];
            if (!type_is_floating(arg->type) || exact->cases[i].answered) /* by the original's own answers */
                continue;
            assert_non_null(x);
            if (!y)
                fail_msg("case %zu of %s was not derived: %s", i, exact->task->name, derived->underived);
            for (size_t e = 0; e < (size_t)exact->data[i].elements[exact->outputs[o]]; e++) {
                d->n++;
                if (derived->data[i].lost[o][e]) {
                    d->lost++;
                    continue;
                }
                double ulps = x[e] == y[e] || (isnan(x[e]) && isnan(y[e]))
                                  ? 0
                                  : fabs(x[e] - y[e]) / error_ulp(arg->type, x[e]);
                d->beyond += !(ulps <= bound_ulps);
                d->worst = ulps > d->worst || isnan(ulps) ? ulps : d->worst;
            }
        }
}

static struct nvrtc *nvrtc;

/* The task's answers as its reference gives them and as derived from `source`, which is the original or another
 * form of it. */
static void check(const char *name, const char *source)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    struct arena *a = arena_open();
    struct task *task, without;
    struct judge *exact, *derived;
    struct distance d = {0};

    assert_ok(task_open(&task, a, arena_printf(a, "examples/%s", name), &err), err);
    without = *task;
    without.reference_path = NULL;
    without.source_path = arena_printf(a, "examples/%s/%s", name, source);
    assert_ok(judge_open(&exact, task, &o, &err), err);
    assert_ok(judge_open(&derived, &without, &o, &err), err);
    compare(exact, derived, &d);
    print_message("%s/%s: %zu elements, %zu lost, %zu beyond %.2g ulps, worst %.3g\n", name, source, d.n,
                  d.lost, d.beyond, bound_ulps, d.worst);
    assert_true(d.n > 100000);
    assert_int_equal(d.lost, 0);
    assert_int_equal(d.beyond, 0);
    judge_close(exact);
    judge_close(derived);
    arena_close(a);
}

#define EXAMPLE(name, source)                 \
    static void name##_##source(void **state) \
    {                                         \
        (void)state;                          \
        if (nvrtc)                            \
            check(#name, #source ".cu");      \
    }
EXAMPLE(fused_add_rmsnorm, kernel)
EXAMPLE(fused_add_rmsnorm, production)
EXAMPLE(fused_add_rmsnorm_bf16, kernel)
EXAMPLE(fused_add_rmsnorm_bf16, production)
EXAMPLE(layernorm, kernel)
EXAMPLE(merge_attn_states, kernel)
EXAMPLE(merge_attn_states, production)
EXAMPLE(rotary_embedding, kernel)
EXAMPLE(silu_and_mul, kernel)
EXAMPLE(silu_and_mul, production)
EXAMPLE(silu_and_mul_bf16, kernel)
EXAMPLE(silu_and_mul_bf16, production)
EXAMPLE(softmax, kernel)
EXAMPLE(transpose, kernel)

/* ---- originals of which not everything can be derived ---- */

static const char task_text[] = "name: odd\nsource: kernel.cu\nentry: run\nargs:\n"
                                "  - {name: out, type: f32, shape: [n], role: out}\n"
                                "  - {name: in, type: f32, shape: [n], role: in}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "dims: [n]\ndomain: [n >= 1, n <= 65536]\nworkloads: [[4096]]\n";

/* The trial of an original whose elements are computed by `body` from x, the element in. */
static void judged(const char *body, struct arena *a, struct trial *t)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    const char *dir = fs_temp_dir(a, &err);
    struct task *task;
    struct judge *j;
    const char *text =
        arena_printf(a,
                     "__global__ void k(float *out, const float *in, int n)\n{\n"
                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n)\n        return;\n"
                     "    float x = in[i], y;\n    %s\n    out[i] = y;\n}\n"
                     "extern \"C\" void run(float *out, const float *in, int n, cudaStream_t stream)\n{\n"
                     "    k<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);\n}\n",
                     body);

    assert_non_null(dir);
    assert_ok(fs_write_text(fs_join(a, dir, "kernel.cu"), text, &err), err);
    assert_ok(fs_write_text(fs_join(a, dir, "task.yaml"), task_text, &err), err);
    assert_ok(task_open(&task, a, dir, &err), err);
    assert_ok(judge_open(&j, task, &o, &err), err);
    *t = *judge_original(j);
    t->exact = arena_strdup(a, t->exact);
    t->underived = t->underived ? arena_strdup(a, t->underived) : NULL;
    judge_close(j);
    fs_remove_tree(dir);
}

static void what_cannot_be_derived(void **state)
{
    static const struct {
        const char *body, *exact;
        double least_lost, most_lost;
    } cases[] = {
        {"y = expf(x) + tanhf(x) * __logf(fabsf(x) + 1.0f);", "shadow", 0, 0},
        {"y = std::exp(x) + exp((double)x) + powf(2.0f, x);", "shadow", 0, 0},
        /* an exponent added in the bits of what was rounded before */
        {"y = __int_as_float(__float_as_int(x * 1.1f) + (1 << 23));", "shadow", 0.8,
         0.99}, /* zeros are exact */
        {"y = x * 1.1f; if (i % 2) y = __int_as_float(__float_as_int(y) + (1 << 23));", "shadow", 0.2, 0.6},
        /* whole numbers by a large one */
        {"y = (x * 1.1f + 12582912.0f) - 12582912.0f;", "original", 1, 1},
    };

    (void)state;
    for (size_t k = 0; nvrtc && k < ARRAY_LEN(cases); k++) {
        struct arena *a = arena_open();
        struct trial t;
        judged(cases[k].body, a, &t);
        print_message("%s: %s, %.3f lost\n", cases[k].body, t.exact, t.shadow_lost);
        assert_string_equal(t.exact, cases[k].exact);
        assert_true(t.shadow_lost >= cases[k].least_lost && t.shadow_lost <= cases[k].most_lost);
        arena_close(a);
    }
}

static int open_compiler(void **state)
{
    (void)state;
    if (!nvrtc_open(&nvrtc, &err))
        fprintf(stderr, "not tested: %s\n", err.text);
    return 0;
}

static int close_compiler(void **state)
{
    (void)state;
    if (nvrtc)
        nvrtc_close(nvrtc);
    return 0;
}

static void sums_are_counted_by_their_terms(void **state)
{
    (void)state;
    /* Four terms of one: the root is two. One alone is no sum, and a small one beside it hardly any. */
    assert_true(rule_unit(KT_F32, KT_F32, &(struct rule_terms){.sizes = 1, .alike = true}) ==
                32 * rule_unit(KT_F32, KT_F32, &(struct rule_terms){.sizes = 1}));
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){4, 1, 0}) == 0.6 * hypot(0x1p-10 * 2, 0x1p-24));
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){4, 1, .repeats = true}) ==
                0.6 * hypot(0x1p-10 * 4, 0x1p-24)); /* four of 1 that err alike */
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){1, 1, 0}) == 0);
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){1.0625, 1, 0}) ==
                0.6 * hypot(0x1p-10 * 0.5, 0x1p-24));
    /* Terms below its least normal number are rounded to multiples of the least one. */
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){0x1p-60, 0x1p-61, 0}) >= 0.6 * 0x1p-24);
    assert_true(rule_unit(KT_F32, KT_BF16, &(struct rule_terms){4, 1, 0}) == 0.6 * 0x1p-7 * 2 / 8);
    assert_true(rule_unit(KT_F32, KT_F32, &(struct rule_terms){INFINITY, 1, 0}) == 0);
    /* Whoever made the terms: sixteen units, the largest floor of f32, are u times their sizes; two of halves'.
     */
    assert_true(rule_unit(KT_F32, KT_F32, &(struct rule_terms){0, 0, 1024}) * 4 == 0x1p-24 * 1024);
    assert_true(rule_unit(KT_F16, KT_F16, &(struct rule_terms){0, 0, 1024}) == 0x1p-24 * 1024);
    assert_true(rule_unit_tolerance(KT_F16, KT_F16, 3) == 3 / 0.6);
    /* An ulp where that is more; what is no number stays none. */
    assert_true(error_units(KT_F16, error_ulps(KT_F16, RULE_ALL, 3, 1, 1), 1, 0x1p-3) == 16);
    assert_true(error_units(KT_F16, error_ulps(KT_F16, RULE_ALL, 1 + 0x1p-10, 1, 1), 1, 0x1p-20) == 1);
    assert_true(isinf(error_units(KT_F16, error_ulps(KT_F16, RULE_ALL, NAN, 1, 1), 1, 0x1p-3)));
}

/* The first rows of causal attention: a small element among large ones may be off as their terms are; the same
 * among small ones, and what is far off among large ones, may not. */
static void neighbours_say_how_large_terms_are(void **state)
{
    enum { ROW = 128, N = 4 * ROW };
    struct judge j = {.exceptions = RULE_ALL};
    const struct task_arg arg = {.name = "out", .type = KT_F16};
    struct error_scale y = {.judge = &j, .arg = &arg, .ulps = 6, .scale = 0.03};
    static const double large[8] = {-0.5, 0.5, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03};
    unsigned char own[2 * N], got[2 * N];
    size_t at;

    (void)state;
    for (size_t i = 0; i < N; i++)
        task_from_double(KT_F16, large[i / ROW * 2 + i % 2], own + 2 * i);
    task_from_double(KT_F16, 0.001, own + 2 * 5);
    memcpy(got, own, sizeof(got));
    task_from_double(KT_F16, 0.0014, got + 2 * 5);
    assert_false(error_scale_differs(&y, got, own, sizeof(own), &at));
    task_from_double(KT_F16, 0.0304, got + 2 * 300);
    assert_true(error_scale_differs(&y, got, own, sizeof(own), &at));
    assert_int_equal(at, 300);
    task_from_double(KT_F16, 0.01, got + 2 * 5);
    assert_true(error_scale_differs(&y, got, own, sizeof(own), &at));
    assert_int_equal(at, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_counted_by_their_terms),
        cmocka_unit_test(neighbours_say_how_large_terms_are),
        cmocka_unit_test(fused_add_rmsnorm_kernel),
        cmocka_unit_test(fused_add_rmsnorm_production),
        cmocka_unit_test(fused_add_rmsnorm_bf16_kernel),
        cmocka_unit_test(fused_add_rmsnorm_bf16_production),
        cmocka_unit_test(layernorm_kernel),
        cmocka_unit_test(merge_attn_states_kernel),
        cmocka_unit_test(merge_attn_states_production),
        cmocka_unit_test(rotary_embedding_kernel),
        cmocka_unit_test(silu_and_mul_kernel),
        cmocka_unit_test(silu_and_mul_production),
        cmocka_unit_test(silu_and_mul_bf16_kernel),
        cmocka_unit_test(silu_and_mul_bf16_production),
        cmocka_unit_test(softmax_kernel),
        cmocka_unit_test(transpose_kernel),
        cmocka_unit_test(what_cannot_be_derived),
    };
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
