#include <sys/stat.h>

#include "task_text.h"

#define ARGS                                                      \
    "args:\n"                                                     \
    "  - {name: out, type: f16, shape: [rows, d], role: out}\n"   \
    "  - {name: in, type: f16, shape: [rows, 2 * d], role: in}\n" \
    "  - {name: rows, type: i32, value: rows}\n"                  \
    "  - {name: d, type: i32, value: d}\n"
#define TAIL \
    "dims: [rows, d]\ndomain: [rows >= 1, rows <= 65535, d >= 1]\nworkloads:\n  - [16, 4096]\n  - [32, 5120]\n"

/* The expression of the only extent of `out`, in both languages, and what dim 0 is where it has the value V. */
static void check_words(const char *text, const char *cpp, const char *python, const char *inverted)
{
    static const char *const names[] = {"rows", "d", "V"};
    struct task *t;
    struct str s = {0};
    char *yaml = arena_printf(arena,
                              HEAD "args:\n  - {name: out, type: f16, shape: [\"%s\"], role: out}\n"
                                   "dims: [rows, d]\nworkloads:\n  - [4, 16]\n",
                              text);

    assert_ok(open_text(&t, yaml), err);
    dim_write(&s, t->args[0].shape[0], names, DIM_CPP);
    assert_string_equal(str_text(&s), cpp);
    str_clear(&s);
    dim_write(&s, t->args[0].shape[0], names, DIM_PYTHON);
    assert_string_equal(str_text(&s), python);
    str_clear(&s);
    const struct dim_expr *e = dim_invert(arena, t->args[0].shape[0], 0, 2);
    assert_int_equal(e != NULL, inverted != NULL);
    if (e)
        dim_write(&s, e, names, DIM_CPP);
    assert_string_equal(str_text(&s), inverted ? inverted : "");
    str_free(&s);
}

static void writes_expressions(void **state)
{
    (void)state;
    check_words("rows", "rows", "rows", "V");
    check_words("2 * rows + d", "2 * rows + d", "2 * rows + d", "(V - d) / 2");
    check_words("d - (rows - 1)", "d - (rows - 1)", "d - (rows - 1)", "d - V + 1");
    check_words("d * (rows + 40000 * 70000)", "d * (rows + Int(40000) * Int(70000))",
                "d * (rows + 40000 * 70000)", "V / d - Int(40000) * Int(70000)");
    check_words("(rows + 7) / 8 * 8", "(rows + 7) / 8 * 8", "(rows + 7) // 8 * 8", NULL);
    check_words("rows * rows", "rows * rows", "rows * rows", NULL);
    check_words("max(rows, 4) + (rows > d == 1 && !(d < 3))", "max(rows, 4) + ((rows > d) == 1 && !(d < 3))",
                "max(rows, 4) + ((rows > d) == 1 and (not (d < 3)))", NULL);
    check_words("-(d - rows) + d % 4 + 20", "-(d - rows) + d % 4 + 20", "-(d - rows) + d % 4 + 20",
                "d - -(V - 20 - d % 4)");
}

static void reads_a_task(void **state)
{
    struct task *t;
    int64_t v;
    const int64_t small[] = {3, 5};
    struct kernel_value values[4];
    (void)state;
    assert_ok(
        open_text(&t, HEAD ARGS TAIL "flags: [--use_fast_math]\nregime: hot\naccept: [race]\ntolerance: 4\n"),
        err);
    assert_string_equal(t->entry, "f");
    assert_int_equal(t->n_args, 4);
    assert_int_equal(t->args[1].role, ROLE_IN);
    assert_int_equal(t->args[1].align_bytes, 256);
    assert_int_equal(t->n_workloads, 2);
    assert_int_equal(t->workloads[3], 5120);
    assert_true(t->regime == REGIME_HOT && t->accept_race && !t->accept_nondeterminism && t->tolerance == 4);
    assert_true(task_shape(t, &t->args[1], small, &v, &err));
    assert_int_equal(v, 30);
    assert_true(task_traffic(t, small, &v, &err));
    assert_int_equal(v, 90);
    task_launch_values(t, small, values);
    assert_int_equal(values[0].p.buffer, 0);
    assert_int_equal(values[1].p.buffer, 1);
    assert_int_equal(values[3].i, 5);
    assert_string_equal(task_dims_text(arena, t, small), "rows=3 d=5");
    struct task *r = task_reference(arena, t);
    assert_int_equal(r->args[0].type, KT_F64);
    assert_int_equal(r->args[2].type, KT_I32);
    assert_int_equal(t->args[0].type, KT_F16);
}

static void examples_are_tasks(void **state)
{
    static const char *const names[] = {"silu_and_mul", "silu_and_mul_bf16", "fused_add_rmsnorm",
                                        "fused_add_rmsnorm_bf16", "merge_attn_states"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct task *t;
        assert_ok(task_open(&t, arena, fs_join(arena, "examples", names[i]), &err), err);
        assert_string_equal(t->name, names[i]);
        assert_true(t->n_workloads >= 7);
    }
}

static void says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *yaml, *words;
        int line, col;
    } cases[] = {
        {"", "empty", 1, 1},
        {"name: [", "not valid YAML", 2, 1},
        {"- a\n", "a task must be a mapping", 1, 1},
        {HEAD "nmae: x\n" ARGS TAIL, "did you mean name?", 4, 1},
        {HEAD "colour: x\n" ARGS TAIL, "unknown key colour", 4, 1},
        {HEAD HEAD ARGS TAIL, "said twice, first on line 1", 4, 1},
        {"name: t\nsource: nothing.cu\nentry: f\n" ARGS TAIL, "no such file", 2, 9},
        {"name: t\nentry: f\n" ARGS TAIL, "source: is missing", 1, 1},
        {HEAD "reference: nothing.cu\n" ARGS TAIL, "no such file", 4, 12},
        {HEAD ARGS "dims: [rows, rows]\nworkloads: [[1, 1]]\n", "named twice", 9, 14},
        {HEAD ARGS "dims: [rows]\nworkloads: [[1]]\n", "d is not one of the dims (rows)", 5, 42},
        {HEAD "args:\n  - {name: a, type: f17, shape: [n], role: out}\ndims: [n]\nworkloads: [[1]]\n",
         "did you mean f16?", 5, 21},
        {HEAD "args:\n  - {name: a, type: quaternion, shape: [n], role: out}\ndims: [n]\nworkloads: [[1]]\n",
         "unknown type quaternion", 5, 21},
        {HEAD "args:\n  - {name: a, type: f16, shape: [n], role: output}\ndims: [n]\nworkloads: [[1]]\n",
         "did you mean out?", 5, 44},
        {HEAD "args:\n  - {name: a, type: f16, shape: [n], role: in}\ndims: [n]\nworkloads: [[1]]\n",
         "nothing would be computed", 5, 3},
        {HEAD "args:\n  - {name: a, type: f16}\ndims: [n]\nworkloads: [[1]]\n", "needs shape:", 5, 5},
        {HEAD "args:\n  - {name: a, type: f16, shape: [n +], role: out}\ndims: [n]\nworkloads: [[1]]\n",
         "missing at the end", 5, 37},
        {HEAD "args:\n  - {name: a, type: f16, shape: [1 < n < 3], role: out}\ndims: [n]\nworkloads: [[1]]\n",
         "do not chain", 5, 40},
        {HEAD "args:\n  - {name: a, type: f32, shape: [n], role: out, align: 3}\ndims: [n]\nworkloads: [[1]]\n",
         "power of two", 5, 56},
        {HEAD
         "args:\n  - {name: a, type: f32, shape: [n], role: out, stable: true}\ndims: [n]\nworkloads: [[1]]\n",
         "stable: belongs to buffers of role in; a is out", 5, 57},
        {HEAD
         "args:\n  - {name: a, type: f32, shape: [n], role: in, stable: yes}\ndims: [n]\nworkloads: [[1]]\n",
         "stable: must be true or false", 5, 56},
        {HEAD
         "args:\n  - {name: a, type: i32, shape: [n], role: inout, values: {kind: index}}\ndims: [n]\nworkloads: [[1]]\n",
         "need high:", 5, 59},
        {HEAD
         "args:\n  - {name: a, type: f32, shape: [n], role: inout, values: sorted}\ndims: [n]\nworkloads: [[1]]\n",
         "kind sorted need an integer type", 5, 59},
        {HEAD
         "args:\n  - {name: a, type: i32, shape: [n], role: inout, values: offsets}\ndims: [n]\nworkloads: [[1]]\n",
         "the last of them", 5, 59},
        {HEAD "args:\n  - {name: a, type: i32, shape: [n], role: inout, values: {kind: permutation, high: 4}}\n"
              "dims: [n]\nworkloads: [[1]]\n",
         "not for permutations", 5, 59},
        {HEAD "args:\n  - {name: a, type: i32, shape: [n], role: inout, values: {kind: distinct, high: 4}}\n"
              "dims: [n]\nworkloads: [[5]]\n",
         "too few numbers for 5 distinct values", 7, 13},
        {HEAD
         "args:\n  - {name: a, type: f32, shape: [n], role: inout, values: {kind: normal, special: [big]}}\ndims: "
         "[n]\nworkloads: [[1]]\n",
         "must be a number", 5, 84},
        {HEAD ARGS "dims: [rows, d]\ndomain: [rows >= 100]\nworkloads:\n  - [100, 1]\n  - [16, 4096]\n",
         "workload 2: outside the domain", 13, 5},
        {HEAD ARGS "dims: [rows, d]\nworkloads:\n  - [1099511627776, 1]\n", "2^40", 11, 5},
        {HEAD ARGS "dims: [rows, d]\nworkloads:\n  - [3000000000, 1]\n", "rows does not fit i32", 11, 5},
        {HEAD ARGS "dims: [rows, d]\nworkloads:\n  - [3]\n", "a list of 2 numbers", 11, 5},
        {HEAD ARGS "dims: [rows, d]\nworkloads:\n  - [3, x]\n", "must be a whole number", 11, 9},
        {HEAD ARGS "dims: [rows, d]\nworkloads: []\n", "may not be empty", 10, 12},
        {HEAD ARGS TAIL "regime: warm\n", "unknown regime", 14, 9},
        {HEAD ARGS TAIL "accept: [speed]\n", "unknown thing to accept", 14, 10},
        {HEAD ARGS TAIL "weights: [1, 2, 3]\n", "must be a list of", 14, 10},
        {HEAD ARGS TAIL "weights: lots\n", "must be a list of", 14, 10},
        {HEAD ARGS TAIL "tolerance: lots\n", "must be a number", 14, 12},
        {HEAD ARGS TAIL "tolerance: {ulps: 3}\n", "must be a number or {terms: a number}", 14, 12},
        {HEAD ARGS TAIL "tolerance: {terms: 0}\n", "must be above 0", 14, 12},
        {HEAD ARGS TAIL "headers: [../secret.h]\n", "below the task's folder", 14, 11},
        {HEAD ARGS TAIL "flags: &a [x]\n", "anchors", 14, 8},
        {HEAD ARGS TAIL "---\nname: u\n", "second document", 14, 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct task *t;
        if (open_text(&t, cases[i].yaml))
            fail_msg("accepted:\n%s", cases[i].yaml);
        if (err.kind != ERR_INPUT || err.line != cases[i].line || err.col != cases[i].col ||
            !strstr(err.text, cases[i].words))
            fail_msg("%d:%d: %s\nwanted %d:%d: %s\n%s", err.line, err.col, err.text, cases[i].line,
                     cases[i].col, cases[i].words, cases[i].yaml);
        assert_true(str_ends(err.file, "task.yaml"));
    }
    assert_false(task_open(&(struct task *){0}, arena, "/nowhere", &err));
    assert_non_null(strstr(err.text, "no such folder"));
}

static void expressions_compute(void **state)
{
    static const struct {
        const char *text;
        int64_t v; /* -1: no value */
    } cases[] = {
        {"2 * rows + d", 11},
        {"rows * (d + 1)", 18},
        {"-rows + 10", 7},
        {"d % rows", 2},
        {"(d + rows - 1) / rows", 2},
        {"rows < d && d < 9", 1},
        {"rows == 4 || !(d == 5)", 0},
        {"min(rows, d) * max(rows, d)", 15},
        {"d / (rows - 3)", -1},
        {"9223372036854775807 * d", -1},
        {"rows != 3 && d / (rows - 3) > 1", 0},
        {"10 - 3 - 2", 5},
        {"rows >= 3", 1},
    };
    const int64_t dims[] = {3, 5};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct task *t;
        int64_t v = 0;
        assert_ok(open_text(&t, arena_printf(arena,
                                             HEAD "args:\n  - {name: o, type: f32, shape: [d], role: out}\n"
                                                  "  - {name: n, type: i64, value: \"1 || %s\"}\n"
                                                  "  - {name: m, type: i64, value: \"max(%s, -1 * 0)\"}\n"
                                                  "dims: [rows, d]\nworkloads: [[7, 11]]\n",
                                             cases[i].text, cases[i].v < 0 ? "rows" : cases[i].text)),
                  err);
        bool ok = dim_eval(t->args[2].value_expr, dims, &v);
        if (cases[i].v >= 0 && (!ok || v != cases[i].v))
            fail_msg("%s gave %lld", cases[i].text, (long long)v);
    }
}

/* What the task says of integers stays; of what it says nothing they may be any. */
static void said_integers_are_a_promise(void **state)
{
    static const char *const said[] = {"", ", values: integers", ", values: {kind: index, high: n}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        const struct task_case *cases;
        struct task *t;
        size_t n, wide = 0, patterned = 0;
        assert_ok(open_text(&t, arena_printf(arena,
                                             HEAD "args:\n  - {name: a, type: i32, shape: [n], role: inout%s}\n"
                                                  "dims: [n]\nworkloads: [[100000]]\n",
                                             said[i])),
                  err);
        task_suite(t, arena, 1, &cases, &n);
        for (size_t k = 0; k < n; k++) {
            wide += cases[k].values[0].kind == VALUE_RANGE;
            patterned += cases[k].values[0].patterned;
            assert_true(cases[k].wild || cases[k].values[0].kind == t->args[0].values.kind ||
                        str_eq(cases[k].distribution, "one index"));
        }
        assert_true((wide > 0) == (i == 0));
        assert_true(patterned >= N_PATTERNS);
    }
}

static void the_suite_covers(void **state)
{
    static const char *const names[] = {"silu_and_mul", "fused_add_rmsnorm", "merge_attn_states", "transpose",
                                        "histogram",    "softmax",           "rotary_embedding"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct task *t;
        const struct task_case *cases, *again;
        size_t n, n_again;
        int64_t total = 0;
        bool odd = false, own = false, one = false, many = false, large = false, special = false, alike = false;
        assert_ok(task_open(&t, arena, fs_join(arena, "examples", names[i]), &err), err);
        task_suite(t, arena, 1, &cases, &n);
        task_suite(t, arena, 1, &again, &n_again);
        assert_true(n >= 12);
        assert_int_equal(n, n_again);
        for (size_t k = 0; k < n; k++) {
            const int64_t *dims = cases[k].dims;
            int64_t last = dims[t->n_dims - 1], elements;
            assert_true(task_in_domain(t, dims));
            assert_memory_equal(dims, again[k].dims, t->n_dims * sizeof(*dims));
            assert_true(cases[k].seed == again[k].seed);
            for (size_t arg = 0; arg < t->n_args; arg++)
                if (t->args[arg].role != ROLE_SCALAR && task_shape(t, &t->args[arg], dims, &elements, &err))
                    total += elements;
            odd |= last > 1 && last % 2 == 1;
            one |= last == 1;
            many |= dims[0] > 256;
            large |= !strcmp(cases[k].distribution, "large");
            special |= !strcmp(cases[k].distribution, "all values special");
            alike |= !strcmp(cases[k].distribution, "rows that begin alike") && dims[0] >= 4 && last >= 64;
            for (size_t w = 0; w < t->n_workloads; w++)
                own |= last == t->workloads[w * t->n_dims + t->n_dims - 1];
        }
        if (!(odd && own && one && many))
            fail_msg("%s: odd %d own %d one %d many %d", names[i], odd, own, one, many);
        assert_true(large == (strcmp(names[i], "histogram") != 0));
        assert_true(alike == large);
        assert_true(special == (strcmp(names[i], "merge_attn_states") == 0));
        assert_true(total < 1420 << 10);
        task_suite(t, arena, 2, &again, &n_again);
        bool differs = n != n_again;
        for (size_t k = 0; !differs && k < n; k++)
            differs = memcmp(cases[k].dims, again[k].dims, t->n_dims * sizeof(int64_t)) != 0;
        assert_true(differs); /* other seeds draw other shapes */
    }
}

static void cases_survive_json(void **state)
{
    struct task *t;
    const struct task_case *cases;
    struct task_case c;
    size_t n;

    (void)state;
    assert_ok(task_open(&t, arena, "examples/merge_attn_states", &err), err);
    task_suite(t, arena, 1, &cases, &n);
    for (size_t k = 0; k < n; k++) {
        json_t *o = task_case_to_json(t, &cases[k]);
        char *line = json_line(arena, o);
        float x[256], y[256];
        json_decref(o);
        o = json_parse(line, strlen(line), "case", &err);
        assert_ok(task_case_from_json(t, o, arena, &c, &err), err);
        assert_memory_equal(c.dims, cases[k].dims, t->n_dims * sizeof(*c.dims));
        assert_true(c.seed == cases[k].seed);
        assert_string_equal(c.distribution, cases[k].distribution);
        assert_string_equal(c.why, cases[k].why);
        task_fill(&t->args[1], &cases[k].values[1], c.dims, c.seed, 0, 256, x);
        task_fill(&t->args[1], &c.values[1], c.dims, c.seed, 0, 256, y);
        assert_memory_equal(x, y, sizeof(x));
        json_put(o, "dims", json_pack("[i,i,i]", 0, 1, 1));
        assert_false(task_case_from_json(t, o, arena, &c, &err));
        json_decref(o);
    }
    assert_string_equal(dim_text(t->domain[1]), "tokens <= 65535");
}

/* As the compiler takes them: by one dash or two. */
static void flags_flush_subnormals(void **state)
{
    static const struct {
        const char *flag;
        bool flushes;
    } rows[] = {{"--use_fast_math", true}, {"-use_fast_math", true}, {"--ftz=true", true},
                {"-ftz=true", true},       {"--ftz=false", false},   {"--fmad=false", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *flags[] = {rows[i].flag};
        const struct task t = {.flags = flags, .n_flags = 1};
        assert_int_equal(task_flushes(&t), rows[i].flushes);
    }
}

/* Halving comes to the least multiple, and what is made of that is the suite; where even that is too large the
 * condition is named. */
static void domains_with_holes_have_a_suite(void **state)
{
    struct arena *a = arena_open();
    const struct task_case *cases;
    struct task *t;
    size_t n;

    (void)state;
    assert_ok(task_open(&t, a, "tests/tasks/page_scale", &err), err);
    task_suite(t, a, 1, &cases, &n);
    assert_true(n >= 8);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cases[i].dims[0] % 4096, 0);
    const char *why = task_suite_hindrance(t, a);
    assert_non_null(strstr(why, "n=4096"));
    assert_non_null(strstr(why, "n >= 4096"));
    assert_non_null(strstr(why, "its largest buffer, "));
    arena_close(a);
}

static void a_dim_of_no_shape_ends(void **state)
{
    const struct task_case *cases;
    struct task *t;
    size_t n;

    (void)state;
    assert_ok(open_text(&t, HEAD "args:\n"
                                 "  - {name: out, type: f16, shape: [4], role: out}\n"
                                 "  - {name: d, type: i32, value: d % 7}\n"
                                 "dims: [d]\ndomain: [d >= 1]\nworkloads:\n  - [4096]\n"),
              err);
    task_suite(t, arena, 1, &cases, &n);
    assert_true(n > 0);
}

/* A dim that the domain ties to another shrinks with it, so that all rows of a workload fit a case: v <= p <= v
 * + 127. */
static void tied_dims_shrink_together(void **state)
{
    struct arena *a = arena_open();
    const struct task_case *cases;
    struct task *t;
    size_t n, all_rows = 0;

    (void)state;
    assert_ok(task_open(&t, a, "tests/tasks/padded_rows", &err), err);
    task_suite(t, a, 1, &cases, &n);
    for (size_t i = 0; i < n; i++)
        all_rows += cases[i].dims[0] == 512;
    assert_true(all_rows > 0);
    arena_close(a);
}

/* Of every magnitude, in the domain, and no larger than was asked for; tied dims follow each other. */
static void shapes_are_drawn(void **state)
{
    (void)state;
    struct arena *a = arena_open();
    struct err why = {0};
    static const char *const paths[] = {"tests/tasks/padded_rows", "tests/tasks/group_norm",
                                        "examples/softmax"};
    enum { N = 500, MOST = 100000 };

    for (size_t p = 0; p < ARRAY_LEN(paths); p++) {
        struct task *t;
        const int64_t *shapes[N], *again[N];
        assert_ok(task_open(&t, a, paths[p], &why), why);
        assert_int_equal(task_drawn(t, a, 3, MOST, N, shapes), N);
        assert_int_equal(task_drawn(t, a, 3, MOST, N, again), N);
        for (size_t i = 0; i < t->n_dims; i++) {
            unsigned magnitudes = 0;
            for (size_t k = 0; k < N; k++)
                magnitudes |= 1u << (63 - __builtin_clzll((uint64_t)shapes[k][i]));
            assert_true(__builtin_popcount(magnitudes) >= 7);
        }
        for (size_t k = 0; k < N; k++) {
            assert_true(task_in_domain(t, shapes[k]) && task_case_elements(t, shapes[k]) <= MOST);
            assert_memory_equal(shapes[k], again[k], t->n_dims * sizeof(*shapes[k]));
        }
    }
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_task),
        cmocka_unit_test(writes_expressions),
        cmocka_unit_test(examples_are_tasks),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(expressions_compute),
        cmocka_unit_test(said_integers_are_a_promise),
        cmocka_unit_test(the_suite_covers),
        cmocka_unit_test(a_dim_of_no_shape_ends),
        cmocka_unit_test(cases_survive_json),
        cmocka_unit_test(flags_flush_subnormals),
        cmocka_unit_test(domains_with_holes_have_a_suite),
        cmocka_unit_test(tied_dims_shrink_together),
        cmocka_unit_test(shapes_are_drawn),
    };
    return cmocka_run_group_tests_name("task", tests, open_all, close_all);
}
