/* Each input changed alone: the cases, and what is made of them. */
#include "test.h"
#include "judge/internal.h"

static struct err err;

static void every_input_has_a_case(void **state)
{
    struct arena *a = arena_open();
    const struct task_case *cases;
    struct task *t;
    size_t n;

    (void)state;
    assert_ok(task_open(&t, a, "examples/fused_add_rmsnorm", &err), err);
    task_inputs(t, a, 1, &cases, &n);
    assert_int_equal(n, 5); /* the first, x, residual, weight, eps */
    for (size_t i = 0; i < n; i++) {
        static const size_t changed[] = {0, 1, 2, 3, 6};
        float first[4096], now[4096];
        assert_int_equal(cases[i].changed, changed[i]);
        assert_true(cases[i].seed == cases[0].seed && task_case_elements(t, cases[i].dims) <= 2048);
        assert_memory_equal(cases[i].dims, cases[0].dims, t->n_dims * sizeof(int64_t));
        for (size_t arg = 0; arg < 3; arg++) {
            int64_t elements, others = 0;
            assert_true(task_shape(t, &t->args[arg], cases[i].dims, &elements, &err) && elements < 4096);
            task_fill_case(t, &cases[0], arg, elements, first);
            task_fill_case(t, &cases[i], arg, elements, now);
            for (int64_t e = 0; e < elements; e++)
                others += first[e] != now[e];
            if (arg + 1 == changed[i])
                assert_true(first[0] != now[0] && others > elements / 4 && others < 3 * elements / 4);
            else
                assert_int_equal(others, 0);
        }
        assert_true(task_of_case(a, t, &cases[i])->args[5].value == (changed[i] == 6 ? 0.25 : 1e-6));
    }
    arena_close(a);
}

static const char task_text[] = "name: scaled\nsource: kernel.cu\nentry: run\nargs:\n"
                                "  - {name: out, type: f32, shape: [n], role: out}\n"
                                "  - {name: in, type: f32, shape: [n], role: in}\n"
                                "  - {name: add, type: f32, shape: [n], role: in}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "  - {name: scale, type: f32, value: 2}\n"
                                "dims: [n]\ndomain: [n >= 1, n <= 65536]\nworkloads: [[4096]]\n";

static const char *kernel_of(struct arena *a, const char *body)
{
    return arena_printf(
        a,
        "__global__ void k(float *out, const float *in, const float *add, int n, float scale)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {\n        %s\n    }\n}\n"
        "extern \"C\" void run(float *out, const float *in, const float *add, int n, float scale, cudaStream_t "
        "stream)\n{\n    k<<<(n + 127) / 128, 128, 0, stream>>>(out, in, add, n, scale);\n}\n",
        body);
}

/* A candidate against an original, both by what they do for an element. */
static void judged(const char *original, const char *candidate, enum verdict verdict, const char *words)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    struct arena *a = arena_open();
    const char *dir = fs_temp_dir(a, &err);
    struct task *task;
    struct judge *j;
    struct trial t;

    assert_non_null(dir);
    assert_ok(fs_write_text(fs_join(a, dir, "kernel.cu"), kernel_of(a, original), &err), err);
    assert_ok(fs_write_text(fs_join(a, dir, "task.yaml"), task_text, &err), err);
    assert_ok(task_open(&task, a, dir, &err), err);
    assert_ok(judge_open(&j, task, &o, &err), err);
    assert_ok(judge_file(j, a, "candidate.cu", kernel_of(a, candidate), &t, &err), err);
    if (t.verdict != verdict || !strstr(t.words, words))
        fail_msg("%s: %s: %s", candidate, verdict_name(t.verdict), t.words);
    judge_close(j);
    fs_remove_tree(dir);
    arena_close(a);
}

static void who_ignores_one_is_told(void **state)
{
    static const char original[] = "out[i] = in[i] * scale + add[i];",
                      particular[] = "if (scale != 2.0f) __trap(); out[i] = in[i] * scale + add[i];",
                      written_down[] = "out[i] = in[i] * 2.0f + add[i];";
    struct nvrtc *n;

    (void)state;
    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "not tested: %s\n", err.text);
        return;
    }
    nvrtc_close(n);
    judged(original, "out[i] = fmaf(in[i], scale, add[i]);", VERDICT_PASSED, "");
    judged(original, "out[i] = 0.5f;", VERDICT_CHEAT, "depends on no input; the original's follows 3 of them");
    judged(original, "out[i] = in[i] * scale;", VERDICT_WRONG, "ignores add");
    judged(original, "out[i] = add[i];", VERDICT_WRONG, "ignores in");
    judged(original, written_down, VERDICT_WRONG, "ignores scale");
    judged(original, "out[i] = in[i] * scale + (i % 2 ? add[i] : 0.0f);", VERDICT_WRONG,
           "elements that depend on add do not follow it");
    judged(original, "out[i] = in[i] * scale + add[i] + add[n - 1 - i];", VERDICT_WRONG,
           "moves when add alone is changed");
    /* The other value is ours: an original that does not take it is not asked about it. */
    judged(particular, written_down, VERDICT_PASSED, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_has_a_case),
        cmocka_unit_test(who_ignores_one_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
