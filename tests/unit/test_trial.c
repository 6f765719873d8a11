#include "test.h"
#include "judge/internal.h"
#include "worker/worker.h"

static struct arena *arena;
static struct err err;
static char *folder;
static struct task *task;
static struct judge *judge;

static const char reference_text[] =
    "__global__ void gate(double *out, const double *in, int n, int d)\n"
    "{\n"
    "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < (long long)n * d)\n"
    "        out[i] = in[i] / (1.0 + exp(-in[i]));\n"
    "}\n"
    "extern \"C\" void run(double *out, const double *in, int n, int d, cudaStream_t stream)\n"
    "{\n"
    "    gate<<<((long long)n * d + 127) / 128, 128, 0, stream>>>(out, in, n, d);\n"
    "}\n";

#define HEAD                              \
    "#include <cuda_fp16.h>\n"            \
    "__device__ float silu(float x)\n"    \
    "{\n"                                 \
    "    return x / (1.0f + expf(-x));\n" \
    "}\n"
#define LAUNCHER(grid, block)                                                                   \
    "extern \"C\" void run(__half *out, const __half *in, int n, int d, cudaStream_t stream)\n" \
    "{\n"                                                                                       \
    "    gate<<<" grid ", " block ", 0, stream>>>(out, in, n, d);\n"                            \
    "}\n"
#define ROWS(body)                                                                                          \
    HEAD "__global__ void gate(__half *out, const __half *in, int n, int d)\n{\n" /* line 7 is the brace */ \
         "    for (int row = blockIdx.x; row < n; row += gridDim.x)\n"                                      \
         "        for (int i = threadIdx.x; i < d; i += blockDim.x) {\n"                                    \
         "            long long k = (long long)row * d + i;\n" body "        }\n}\n"

static const char original_text[] =
    ROWS("            out[k] = __float2half(silu(__half2float(in[k])));\n") LAUNCHER("n < 64 ? n : 64", "128");

static const char task_text[] = "name: gate\n"
                                "source: kernel.cu\n"
                                "entry: run\n"
                                "reference: reference.cu\n"
                                "args:\n"
                                "  - {name: out, type: f16, shape: [n, d], role: out}\n"
                                "  - {name: in, type: f16, shape: [n, d], role: in}\n"
                                "  - {name: n, type: i32, value: n}\n"
                                "  - {name: d, type: i32, value: d}\n"
                                "dims: [n, d]\n"
                                "domain: [n >= 1, n <= 65535, d >= 1]\n"
                                "workloads:\n"
                                "  - [16, 4096]\n"
                                "  - [256, 1000]\n"
                                "flags: [--use_fast_math]\n";

static bool have_compiler(void)
{
    struct nvrtc *n;

    if (!nvrtc_open(&n, &err)) {
        fprintf(stderr, "judging is not tested: %s\n", err.text);
        return false;
    }
    nvrtc_close(n);
    return true;
}

static bool write_task(const char *dir, const char *yaml, const char *original)
{
    return fs_mkdirs(dir, &err) && fs_write_text(fs_join(arena, dir, "kernel.cu"), original, &err) &&
           fs_write_text(fs_join(arena, dir, "reference.cu"), reference_text, &err) &&
           fs_write_text(fs_join(arena, dir, "task.yaml"), yaml, &err);
}

static int open_all(void **state)
{
    const struct trial_options o = {.device = "h200", .seed = 1};

    (void)state;
    arena = arena_open();
    if (!(folder = fs_temp_dir(arena, &err)) || !write_task(folder, task_text, original_text))
        return -1;
    if (!have_compiler())
        return 0;
    if (task_open(&task, arena, folder, &err) && judge_open(&judge, task, &o, &err))
        return 0;
    fprintf(stderr, "%s:%d: %s\n", err.file, err.line, err.text);
    return -1;
}

static int close_all(void **state)
{
    (void)state;
    judge_close(judge);
    fs_remove_tree(folder);
    arena_close(arena);
    return 0;
}

static void verdicts_have_names(void **state)
{
    (void)state;
    for (enum verdict v = VERDICT_PASSED; v <= VERDICT_CHEAT; v++) {
        enum verdict back;
        assert_true(verdict_parse(verdict_name(v), &back));
        assert_int_equal(back, v);
    }
    assert_string_equal(verdict_name(VERDICT_NOT_UNDERSTOOD), "not-understood");
    assert_false(verdict_parse("fine", &(enum verdict){0}));
}

static const unsigned stiff = RULE_ALL & ~(1u << RULE_FLUSHED); /* nothing is flushed */

static void errors_are_in_ulps(void **state)
{
    static const struct {
        enum kernel_type type;
        double got, exact, orig, ulps;
    } cases[] = {
        {KT_F32, 1, 1, 1, 0},
        {KT_F32, 1 + 0x1p-23, 1, 1, 1},
        {KT_F16, 1 + 0x1p-10, 1, 1, 1},
        {KT_BF16, 1, 1 - 0x1p-9, 1, 0.5},
        {KT_F16, 0, 0x1p-25, 0, 0.5},               /* below the denormals */
        {KT_F16, INFINITY, 65519, 65504, 17. / 32}, /* at the edge, rounded the other way */
        {KT_F16, 65504, 65521, INFINITY, 17. / 32},
        {KT_F16, INFINITY, 1e6, INFINITY, 0},
        {KT_F16, 65504, 65504 + 32 * 100, INFINITY, 100}, /* not where it is far beyond */
        {KT_F32, NAN, 1, 1, INFINITY},
        {KT_F32, 1, NAN, NAN, INFINITY},
        {KT_F32, NAN, NAN, NAN, 0},
        {KT_F32, INFINITY, 1, 1, INFINITY},
        {KT_F32, -INFINITY, INFINITY, INFINITY, INFINITY},
        {KT_F32, INFINITY, 1, INFINITY, 0}, /* as the original, though it is not exact */
        {KT_F32, 1, 1, INFINITY, 0},        /* as is exact, though the original is not */
        {KT_F32, NAN, 1, INFINITY, INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double e = error_ulps(cases[i].type, stiff, cases[i].got, cases[i].exact, cases[i].orig);
        bool huge = isinf(cases[i].ulps) && e > 1e6;
        if (!huge && e != cases[i].ulps)
            fail_msg("case %zu: %g ulps, not %g", i, e, cases[i].ulps);
    }
}

static void flushed_denormals_are_equal(void **state)
{
    (void)state;
    assert_true(error_ulps(KT_F32, RULE_ALL, 0, 0x1p-127, 0) == 0);
    assert_true(error_ulps(KT_F32, stiff, 0, 0x1p-127, 0) == 0x1p22);
    assert_true(error_ulps(KT_BF16, RULE_ALL, 0x1p-126, 0, 0) == 0);
    assert_true(error_ulps(KT_F32, RULE_ALL, 0, 0x1p-124, 0) > 1e6);
    assert_true(error_ulps(KT_F16, RULE_ALL, 0, 0x1p-15, 0) == 512); /* f16's are normal numbers in f32 */
}

static bool allows(const struct rule *r, double median, double p99, double largest)
{
    return r->most[0] == median && r->most[1] == p99 && r->most[2] == largest;
}

static void allowances_have_floor_and_cap(void **state)
{
    const struct error_stats wide = {.p50 = 0.5, .p99 = 10, .max = 1000},
                             half = {.p50 = 0.5, .p99 = 0.5, .max = 1000}, none = {0},
                             common = {.p50 = 1, .p99 = 14000, .max = 16000};
    struct rule r = rule_of(KT_F32, RULE_ALL, NAN, &wide);
    (void)state;
    assert_true(allows(&r, 4, 30, 3000));
    assert_true(rule_is_ill(&r, 0, 0, 0) && rule_is_ill(&r, 1, 0, 20000) && !rule_is_ill(&r, 1, 0, 1e4));
    r = rule_of(KT_F16, RULE_ALL, NAN, &half);
    assert_true(allows(&r, 1.5, 1.5, 2048));
    r = rule_of(KT_F32, RULE_ALL, NAN, &common);
    assert_true(r.most[1] == 14000 && r.most[2] == 16384);
    r = rule_of(KT_F16, RULE_ALL, 8, &none);
    assert_true(allows(&r, 8, 8, 8));
}

static void exceptions_have_names_and_kernels(void **state)
{
    struct arena *a = arena_open();
    (void)state;
    for (int i = 0; i < N_RULE_EXCEPTIONS; i++) {
        assert_non_null(rule_rows[i].name);
        assert_non_null(rule_rows[i].file);
        if (!fs_exists(fs_join(a, "tests", rule_rows[i].file)))
            fail_msg("%s: there is no %s", rule_rows[i].name, rule_rows[i].file);
    }
    arena_close(a);
}

static void quantiles_of_errors(void **state)
{
    struct error_pool p = {0};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double e = (i * 7 % 1000) / 1000.0;
        error_add(&p, e, e, (struct error_place){(size_t)i / 100, (size_t)i});
    }
    struct error_stats s = error_stats(&p);
    assert_true(s.p50 == 0.5 && s.p99 == 0.99 && s.max == 0.999 && s.n == 1000);
    assert_int_equal(s.histogram[0], 1);
    assert_int_equal(s.histogram[1], 500);
    assert_int_equal(s.histogram[2], 499);
    assert_int_equal(s.worst.element * 7 % 1000, 999);
    vec_free(&p.errors);
}

/* The errors of 4000 numbers brought to integers by `bring`, of which every one is an ulp. */
static struct error_stats errors_of(double (*bring)(double))
{
    struct error_pool p = {0};
    for (size_t i = 0; i < 4000; i++) {
        double exact = 200 * rng_unit_of(rng_hash(7, i)) - 100, got = bring(exact), off = fabs(got - exact);
        error_add(&p, off, off, (struct error_place){0, i});
        error_lean(&p, off, got, exact);
    }
    struct error_stats s = error_stats(&p);
    vec_free(&p.errors);
    return s;
}

static double to_nearest_twice(double x) /* first to a coarser place, as a product in half of a half does */
{
    return rint(rint(x * 1.5) / 1.5);
}

static void rounding_may_not_lean(void **state)
{
    struct error_stats own = errors_of(rint), twice = errors_of(to_nearest_twice);
    double (*const leaning[])(double) = {trunc, floor, ceil};
    (void)state;
    double allowed = rule_of(KT_BF16, RULE_ALL, NAN, &own).most_drift;
    assert_true(own.drift == 0 && allowed > 0.1 && allowed < 0.15);
    assert_true(twice.p99 > 0.6 && twice.drift < 0.1);
    for (size_t i = 0; i < ARRAY_LEN(leaning); i++)
        assert_true(errors_of(leaning[i]).drift > 0.4);
    /* Who leans may lean on; other types, a tolerance and an original that errs by more are not looked at. */
    const struct error_stats leans = {.drift = 0.4, .n = 4000}, errs = {.p99 = 1.5, .n = 4000};
    assert_true(rule_of(KT_F16, RULE_ALL, NAN, &leans).most_drift > 1);
    assert_true(isnan(rule_of(KT_F32, RULE_ALL, NAN, &own).most_drift));
    assert_true(isnan(rule_of(KT_BF16, RULE_ALL, 2, &own).most_drift));
    assert_true(isnan(rule_of(KT_BF16, RULE_ALL, NAN, &errs).most_drift));
}

/* What of a version ran in any of its trials. */
static void coverage_is_joined(void **state)
{
    const struct trial_gap gaps[] = {{.line = 3, .text = "a", .instructions = 2},
                                     {.line = 5, .text = "b", .directions = 1}},
                           fewer[] = {{.line = 3, .text = "a", .instructions = 1},
                                      {.line = 9, .text = "c", .instructions = 4}};
    const struct trial_coverage
        x = {.instructions = 20, .executed = 18, .branches = 2, .directions = 3, .gaps = gaps, .n_gaps = 2},
        y = {.instructions = 20, .executed = 15, .branches = 2, .directions = 4, .gaps = fewer, .n_gaps = 2};
    struct trial_coverage both = trial_coverage_both(arena, &x, &y);
    (void)state;
    assert_int_equal(both.executed, 19);
    assert_int_equal(both.directions, 4);
    assert_true(both.n_gaps == 1 && both.gaps[0].line == 3 && both.gaps[0].instructions == 1);
    both = trial_coverage_both(arena, &(struct trial_coverage){0}, &y);
    assert_int_equal(both.executed, 15);
    const struct trial_gap one = {.line = 5, .text = "b", .directions = 1, .original = true};
    const struct trial_coverage ways = {.instructions = 20,
                                        .executed = 20,
                                        .branches = 2,
                                        .directions = 3,
                                        .gaps = &one,
                                        .n_gaps = 1},
                                all = {.instructions = 20, .executed = 20, .branches = 2, .directions = 4};
    assert_string_equal(
        trial_coverage_words(arena, &ways, "it"),
        "1 of 2 branches of it went one way only in all cases: line 5, `b` (as in the original)");
    assert_null(trial_coverage_words(arena, &all, "it"));
    assert_null(trial_coverage_words(arena, &(struct trial_coverage){0}, "it"));
}

static void trials_go_through_json(void **state)
{
    static const char *const names[] = {"rows", "d"};
    const int64_t dims[] = {3, 5};
    const struct trial_workload w = {
        .dims = dims,
        .times = {{.us = 1.5, .copy_us = 1, .low = NAN, .high = NAN, .bound = "dram", .waves = 2},
                  {.us = NAN, .extrapolated = true}}};
    const struct trial_accuracy accuracy = {.output = "out",
                                            .values = "large",
                                            .original = {{0, 1, 2}, 0.5, {1, 2, 3}},
                                            .candidate = {{3, 4, 5}, 0.25, {[TRIAL_BUCKETS - 1] = 9}},
                                            .allowed = {6, 7, 8},
                                            .allowed_drift = NAN};
    const struct trial_line l = {.line = 12, .share = 0.25, .sectors_per_request = 4};
    const struct trial_gap gap = {.line = 41, .text = "if (n > 1 << 30)", .instructions = 2, .idle = true};
    const struct trial t = {
        .coverage =
            {.instructions = 310, .executed = 308, .branches = 7, .directions = 13, .gaps = &gap, .n_gaps = 1},
        .verdict = VERDICT_UNSAFE,
        .words = "out of \"bounds\"",
        .line = 7,
        .score = NAN,
        .workloads = &w,
        .n_workloads = 1,
        .n_dims = 2,
        .dim_names = names,
        .cases = 9,
        .error = {1, 2, 3},
        .original_error = {NAN, 0, 1},
        .allowed_error = {4, 5, 6},
        .error_where = "out",
        .accuracy = &accuracy,
        .n_accuracy = 1,
        .lines = &l,
        .n_lines = 1,
        .registers = 40,
        .wall_s = 0.5};
    struct trial back;
    json_t *o = trial_to_json(&t);
    (void)state;
    assert_ok(trial_from_json(o, arena, &back, &err), err);
    json_decref(o);
    assert_int_equal(back.verdict, VERDICT_UNSAFE);
    assert_string_equal(back.words, t.words);
    assert_true(isnan(back.score) && back.wall_s == 0.5 && back.registers == 40 && back.cases == 9 &&
                back.line == 7);
    assert_int_equal(back.n_workloads, 1);
    assert_memory_equal(back.workloads[0].dims, dims, sizeof(dims));
    assert_string_equal(trial_dims_text(arena, &back, 0), "rows=3 d=5");
    assert_true(back.workloads[0].times[REGIME_COLD].us == 1.5 &&
                isnan(back.workloads[0].times[REGIME_COLD].low) &&
                isnan(back.workloads[0].times[REGIME_HOT].us));
    assert_string_equal(back.workloads[0].times[REGIME_COLD].bound, "dram");
    assert_null(back.workloads[0].times[REGIME_HOT].bound);
    assert_true(back.workloads[0].times[REGIME_HOT].extrapolated);
    assert_true(isnan(back.original_error.p50) && back.allowed_error.max == 6);
    assert_int_equal(back.lines[0].line, 12);
    assert_true(back.coverage.branches == 7 && back.coverage.directions == 13 && back.coverage.gaps[0].idle &&
                !back.coverage.gaps[0].whole);
    assert_string_equal(
        trial_coverage_words(arena, &back.coverage, "the candidate"),
        "2 of 310 instructions of the candidate were run by no case: line 41, `if (n > 1 << 30)`");
    assert_true(back.lines[0].share == 0.25);
    assert_string_equal(back.error_where, "out");
    assert_int_equal(back.n_accuracy, 1);
    assert_string_equal(back.accuracy->values, "large");
    assert_true(back.accuracy->original.histogram[2] == 3 && back.accuracy->candidate.at.max == 5 &&
                back.accuracy->candidate.histogram[TRIAL_BUCKETS - 1] == 9 &&
                back.accuracy->candidate.drift == 0.25 && back.accuracy->allowed.p99 == 7 &&
                isnan(back.accuracy->allowed_drift));
    assert_null(back.printed);
    json_t *bad = json_pack("{s:s}", "verdict", "superb");
    assert_false(trial_from_json(bad, arena, &back, &err));
    json_decref(bad);
    bad = json_pack("{s:s, s:[s], s:[{s:[i]}, {s:[ii]}]}", "verdict", "passed", "dim_names", "n", "workloads",
                    "dims", 1, "dims", 1, 2);
    assert_false(trial_from_json(bad, arena, &back, &err));
    json_decref(bad);
}

/* Of two workloads of silu_and_mul, whose bytes take 73 us from an H200's memory and 21 us from its L2. */
static const char *impossible(double cold_us, double hot_us, double dram_bytes, double flops, const char *ptx)
{
    static const int64_t dims[] = {4096, 14336};
    struct trial_workload w[] = {{.dims = dims, .times = {{.us = 1e4}, {.us = 1e4}, {.us = 1e4}, {.us = 1e4}}},
                                 {.dims = dims,
                                  .times = {{.us = cold_us},
                                            {.us = hot_us},
                                            {.us = 1, .neighbours_us = 199}, /* beside what stands around it */
                                            {.us = NAN, .neighbours_us = NAN}}}},
                          own[] = {{.times = {{.dram_bytes = 1e9, .asked_bytes = 1e9}}},
                                   /* a third more than it asks for */
                                   {.times = {{.dram_bytes = dram_bytes, .asked_bytes = dram_bytes / 4 * 3}}}},
                          model[] = {{.times = {{.flops = 1}}}, {.times = {{.flops = flops}}}};
    struct judge j = {.device = ptx_device_find("h200"),
                      .model = ptx_device_find("h200"),
                      .about = {.same_model = true},
                      .modelled = {.workloads = own, .n_workloads = 2}};
    const struct trial t = {.workloads = w, .n_workloads = 2}, m = {.workloads = model, .n_workloads = 2};
    struct task *silu;
    struct fate fate = {0};

    assert_ok(task_open(&silu, arena, "examples/silu_and_mul", &err), err);
    j.task = silu;
    refuse_impossible(&j, arena, &t, &m, ptx, &fate);
    assert_true(fate.verdict == (fate.words ? VERDICT_CHEAT : VERDICT_PASSED));
    return fate.words ? fate.words : "";
}

static void impossible_times_are_refused(void **state)
{
    (void)state;
    /* 352 MB at 4814 GB/s are 73.2 us, at 64 bytes a clock and SM 21.1 us; 0.9 of that is refused. */
    assert_string_equal(impossible(67, 20, 1e9, 0, ""), "");
    assert_non_null(
        strstr(impossible(65, 20, 1e9, 0, ""),
               "rows=4096 d=14336 takes 65.00 us: to move its 352321536 bytes alone takes 73.19 us"));
    assert_non_null(strstr(impossible(67, 18, 1e9, 0, ""), "takes 18.00 us hot: to move"));
    /* An original that fetches less shows that less is needed; what is not known is no reason. */
    assert_string_equal(impossible(65, 20, 3e8, 0, ""), "");
    assert_string_equal(impossible(65, 20, 4e8, 0, ""), "");
    assert_non_null(strstr(impossible(65, 20, 5e8, 0, ""), "to move its 352321536 bytes"));
    assert_non_null(strstr(impossible(65, 20, NAN, 0, ""), "to move its 352321536 bytes"));
    assert_string_equal(impossible(NAN, NAN, 1e9, NAN, NULL), "");
    /* 20 G operations at 133.8 T a second are 149 us; with tensor cores 10. */
    assert_string_equal(impossible(140, 140, 1e9, 2e10, ".visible .entry"), "");
    assert_non_null(strstr(impossible(130, 150, 1e9, 2e10, ".visible .entry"),
                           "takes 130.00 us: its own 2e+10 operations alone take 149.46 us at the peak rate"));
    assert_string_equal(impossible(67, 20, 1e9, 2e10, "mma.sync.aligned.m16n8k16"), "");
}

static void every_candidate_gets_its_verdict(void **state)
{
    static const struct {
        const char *name, *text;
        enum verdict verdict;
        const char *words;
        int line;
    } cases[] = {
        {"the original", NULL, VERDICT_SLOWER, "1.000x", 0},
        {"no such names", ROWS("out[k] = a;\nout[k] = b;\n") LAUNCHER("n", "128"), VERDICT_COMPILE_FAILED,
         "out[k] = a;; line 12: error: identifier \"b\" is undefined", 11},
        {"no launcher", HEAD, VERDICT_NOT_UNDERSTOOD, "run", 0},
        {"a launcher that does something else",
         HEAD "extern \"C\" void run(__half *out, const __half *in, int n, int d, cudaStream_t stream)\n{\n    "
              "system(\"true\");\n}\n",
         VERDICT_NOT_UNDERSTOOD, "system", 8},
        {"other parameters",
         "__global__ void gate(float *o) { *o = 1; }\nextern \"C\" void run(float *out, const float *in, int n, int d, "
         "cudaStream_t stream)\n{\n    gate<<<1, 1, 0, stream>>>(out);\n}\n",
         VERDICT_NOT_UNDERSTOOD, "f16", 2},
        {"another function",
         ROWS("            out[k] = __float2half(__half2float(in[k]) * 0.5f);\n") LAUNCHER("n", "128"),
         VERDICT_WRONG, "out", 0},
        {"a constant", ROWS("            out[k] = __float2half(0.0f);\n") LAUNCHER("n", "128"), VERDICT_CHEAT,
         "depends on no input", 0},
        {"only some elements",
         ROWS("            if (k % 8 != 7) out[k] = __float2half(silu(__half2float(in[k])));\n")
             LAUNCHER("n", "128"),
         VERDICT_WRONG, "never written", 0},
        {"nothing",
         HEAD "extern \"C\" void run(__half *out, const __half *in, int n, int d, cudaStream_t stream)\n{\n}\n",
         VERDICT_WRONG, "never written", 0},
        {"half precision arithmetic",
         ROWS(
             "            __half x = in[k]; out[k] = __hdiv(x, __hadd(__float2half(1.0f), hexp(__hneg(x))));\n")
             LAUNCHER("n", "128"),
         VERDICT_WRONG, "allowed", 0},
        {"NaN for large values",
         ROWS(
             "            float x = __half2float(in[k]), e = expf(x); out[k] = __float2half(x * e / (1.0f + e));\n")
             LAUNCHER("n", "128"),
         VERDICT_WRONG, "must be", 0},
        {"one beyond",
         ROWS("            out[k] = __float2half(silu(__half2float(in[k + 1])));\n") LAUNCHER("n", "128"),
         VERDICT_UNSAFE, "in", 11},
        {"writes its input",
         ROWS("            ((__half *)in)[k] = __float2half(0.0f); out[k] = __float2half(0.0f);\n")
             LAUNCHER("n", "128"),
         VERDICT_UNSAFE, "in", 11},
        {"an endless loop",
         ROWS("            while (((volatile const unsigned short *)in)[k] != 1) { }\n") LAUNCHER("n", "128"),
         VERDICT_HUNG, "", 0},
        {"a trap",
         ROWS("            if (i == 5) __trap();\n            out[k] = __float2half(0.0f);\n")
             LAUNCHER("n", "128"),
         VERDICT_CRASHED, "", 11},
        {"too large a block", ROWS("            out[k] = in[k];\n") LAUNCHER("n", "2048"),
         VERDICT_LAUNCH_FAILED, "", 0},
        {"reads the clock", ROWS("            out[k] = __float2half((float)clock());\n") LAUNCHER("n", "128"),
         VERDICT_CHEAT, "cycle counter", 11},
        {"asks for the compiler",
         "#ifdef __CUDACC_RTC__\n#endif\n" ROWS("            out[k] = in[k];\n") LAUNCHER("n", "128"),
         VERDICT_CHEAT, "how it is compiled", 1},
        {"keeps a counter",
         "__device__ int calls;\n" ROWS("            if (k == 0) calls++;\n            out[k] = "
                                        "__float2half(silu(__half2float(in[k])));\n") LAUNCHER("n", "128"),
         VERDICT_CHEAT, "state survives", 0},
        {"a race",
         ROWS(
             "            if (i > 0) out[k - 1] = in[k];\n            out[k] = __float2half(silu(__half2float(in[k])));\n")
             LAUNCHER("n", "128"),
         VERDICT_UNSAFE, "race", 0},
        {"reads a file",
         "#include \"/etc/passwd\"\n" ROWS("            out[k] = in[k];\n") LAUNCHER("n", "128"),
         VERDICT_COMPILE_FAILED, "cannot include", 1},
    };
    (void)state;
    if (!judge)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct trial t;
        assert_ok(
            judge_file(judge, arena, "candidate.cu", cases[i].text ? cases[i].text : original_text, &t, &err),
            err);
        if (t.verdict != cases[i].verdict || !strstr(t.words, cases[i].words) ||
            (cases[i].line && t.line != cases[i].line))
            fail_msg("%s: %s, line %d: %s\nwanted %s, line %d: %s", cases[i].name, verdict_name(t.verdict),
                     t.line, t.words, verdict_name(cases[i].verdict), cases[i].line, cases[i].words);
        assert_true(cases[i].verdict == VERDICT_SLOWER || isnan(t.score));
    }
}

static void a_better_candidate_passes(void **state)
{
    /* One thread per element instead of a chain of rows per block. */
    static const char text[] = HEAD
        "__global__ void gate(__half *out, const __half *in, int n, int d)\n{\n"
        "    long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (k < (long long)n * d)\n        out[k] = __float2half(silu(__half2float(in[k])));\n}\n" LAUNCHER(
            "((long long)n * d + 255) / 256", "256");
    struct trial t;
    (void)state;
    if (!judge)
        skip();
    assert_ok(judge_file(judge, arena, "candidate.cu", text, &t, &err), err);
    if (t.verdict != VERDICT_PASSED)
        fail_msg("%s: %s", verdict_name(t.verdict), t.words);
    assert_true(t.cases >= 8 && t.cases == judge_original(judge)->cases);
    assert_true(t.score > 1.03);
    assert_int_equal(t.n_workloads, 2);
    assert_true(t.workloads[0].times[REGIME_COLD].us > 0 && t.workloads[0].times[REGIME_HOT].us > 0 &&
                t.workloads[0].times[REGIME_COLD].copy_us > 0);
    assert_true(t.n_lines > 0 && t.registers > 0);
    assert_true(t.error.max <= t.allowed_error.max);
}

static void a_plan_of_several_steps_is_run(void **state)
{
    static const char text[] = HEAD
        "template <int B> __global__ void widen(float *to, const __half *from, long long n)\n{\n"
        "    for (long long k = blockIdx.x * (long long)B + threadIdx.x; k < n; k += (long long)B * gridDim.x)\n"
        "        to[k] += silu(__half2float(from[k]));\n}\n"
        "__global__ void narrow(__half *to, const float *from, long long n)\n{\n"
        "    for (long long k = blockIdx.x * 256ll + threadIdx.x; k < n; k += 256ll * gridDim.x)\n"
        "        to[k] = __float2half(from[k]);\n}\n"
        "extern \"C\" void run(__half *out, const __half *in, int n, int d, cudaStream_t stream)\n{\n"
        "    float *wide;\n    size_t count = (size_t)n * d;\n"
        "    cudaMallocAsync(&wide, count * sizeof(float), stream);\n"
        "    cudaMemsetAsync(wide, 0, count * sizeof(float), stream);\n"
        "    if (d > 1000)\n        widen<256><<<132, 256, 0, stream>>>(wide, in, count);\n"
        "    else\n        widen<128><<<132, 128, 0, stream>>>(wide, in, count);\n"
        "    narrow<<<132, 256, 0, stream>>>(out, wide, count);\n"
        "    cudaFreeAsync(wide, stream);\n}\n";
    struct trial t;
    (void)state;
    if (!judge)
        skip();
    assert_ok(judge_file(judge, arena, "candidate.cu", text, &t, &err), err);
    if (!verdict_correct(t.verdict))
        fail_msg("%s, line %d: %s", verdict_name(t.verdict), t.line, t.words);
    assert_true(t.score > 0 && t.workloads[0].times[REGIME_COLD].us >
                                   judge_original(judge)->workloads[0].times[REGIME_COLD].copy_us);
    /* without the memset the sums start from nothing */
    char *bare = arena_strdup(arena, text);
    memcpy(strstr(bare, "    cudaMemsetAsync"), "//  cudaMemsetAsync", 19);
    assert_ok(judge_file(judge, arena, "candidate.cu", bare, &t, &err), err);
    assert_int_equal(t.verdict, VERDICT_UNSAFE);
    assert_non_null(strstr(t.words, "undefined"));
}

static void an_original_at_fault_is_an_error(void **state)
{
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"            out[k] = in[k + 1];\n", "unsafe"},
        {"            if (i) out[k] = in[k];\n", "never written"},
        {"            out[k] = __float2half(-1.0f - __half2float(in[k]));\n", "do not compute the same"},
        {"            out[k] = nothing;\n", "compile-failed"},
    };
    const struct trial_options o = {.device = "h200", .seed = 1};
    (void)state;
    if (!judge)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *dir = arena_printf(arena, "%s/bad%zu", folder, i);
        char *text = arena_printf(arena, "%s%s%s",
                                  HEAD "__global__ void gate(__half *out, const __half *in, int n, int d)\n{\n"
                                       "    for (int row = blockIdx.x; row < n; row += gridDim.x)\n"
                                       "        for (int i = threadIdx.x; i < d; i += blockDim.x) {\n"
                                       "            long long k = (long long)row * d + i;\n",
                                  cases[i].body, "        }\n}\n" LAUNCHER("n < 64 ? n : 64", "128"));
        struct task *t;
        struct judge *j;
        assert_true(write_task(dir, task_text, text));
        assert_ok(task_open(&t, arena, dir, &err), err);
        assert_false(judge_open(&j, t, &o, &err));
        if (err.kind != ERR_INPUT || !strstr(err.text, cases[i].words))
            fail_msg("%s", err.text);
    }
}

static void flags_are_checked_at_the_task(void **state)
{
    const struct trial_options o = {.device = "h200", .seed = 1};
    struct task *t;
    struct judge *j;
    char *dir = arena_printf(arena, "%s/flags", folder);
    (void)state;
    assert_true(write_task(dir, arena_printf(arena, "%s%s", task_text, "headers: []\n"), original_text));
    assert_ok(task_open(&t, arena, dir, &err), err);
    t->flags[0] = "-I/etc";
    assert_false(judge_open(&j, t, &o, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_non_null(strstr(err.text, "-I/etc"));
    assert_false(judge_open(&j, t, &(struct trial_options){.device = "abacus"}, &err));
    assert_non_null(strstr(err.text, "abacus"));
}

static void launchers_see_local_headers(void **state)
{
    static const char text[] =
        "#include \"sizes.h\"\n" ROWS("            out[k] = __float2half(silu(__half2float(in[k])));\n")
            LAUNCHER("blocks_of(n)", "THREADS");
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    struct task *t;
    struct judge *j;
    struct trial got;
    char *dir = arena_printf(arena, "%s/headers", folder);
    (void)state;
    if (!judge)
        skip();
    assert_true(write_task(dir, arena_printf(arena, "%sheaders: [sizes.h]\n", task_text), text));
    assert_true(fs_write_text(
        fs_join(arena, dir, "sizes.h"),
        "#define THREADS 128\nconstexpr int blocks_of(int n) { return n < 64 ? n : 64; }\n", &err));
    assert_ok(task_open(&t, arena, dir, &err), err);
    assert_ok(judge_open(&j, t, &o, &err), err);
    assert_ok(judge_file(j, arena, "candidate.cu", text, &got, &err), err);
    judge_close(j);
    if (!verdict_correct(got.verdict))
        fail_msg("%s, line %d: %s", verdict_name(got.verdict), got.line, got.words);
}

/* 2^40 templates for the compiler */
static const char bomb[] =
    "template <int n, long p> struct bomb { static const long v = bomb<n - 1, 2 * p>::v + bomb<n - 1, 2 * p + 1>::v; "
    "};\ntemplate <long p> struct bomb<0, p> { static const long v = p; };\n"
    "__device__ const long huge = bomb<40, 1>::v;\n";

/* Time that a machine takes says nothing of a candidate: not that it hangs, nor that it crashes. */
static void too_slow_is_no_failure(void **state)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    const struct pool_limits limits[] = {{.candidate_s = 0.5}, {.candidate_s = 1000, .wall_s = 0.5}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(limits) && judge; i++) {
        struct pool *p;
        struct trial t;
        int id = -1;
        assert_ok(pool_open(&p, task, &o, 1, &limits[i], &err), err);
        assert_ok(pool_submit(p, 1, "candidate.cu", arena_printf(arena, "%s%s", bomb, original_text), &err),
                  err);
        while (id < 0)
            assert_ok(pool_collect(p, 1, arena, &id, &t, &err), err);
        pool_close(p);
        assert_true(t.verdict == VERDICT_TOO_SLOW && strstr(t.words, " s compiling; "));
    }
}

static void two_workers_judge_side_by_side(void **state)
{
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true};
    const struct pool_limits limits = {.candidate_s = SANITIZED ? 20 : 6}; /* only the bomb takes longer */
    struct pool *p;
    struct trial t;
    enum verdict verdicts[6];
    (void)state;
    if (!judge)
        skip();
    assert_ok(pool_open(&p, task, &o, 2, &limits, &err), err);
    assert_ok(pool_original(p, arena, &t, &err), err);
    assert_int_equal(t.verdict, VERDICT_PASSED);
    const char *texts[6] = {original_text, NULL, original_text, HEAD, original_text, original_text};
    texts[1] = arena_printf(arena, "%s%s", bomb, original_text);
    for (int i = 0; i < 6; i++)
        assert_ok(pool_submit(p, i, "candidate.cu", texts[i], &err), err);
    assert_int_equal(pool_busy(p), 6);
    for (int n = 0; n < 6;) {
        int id;
        assert_ok(pool_collect(p, 0.2, arena, &id, &t, &err), err);
        if (id >= 0) {
            verdicts[id] = t.verdict;
            n++;
        }
    }
    assert_int_equal(pool_busy(p), 0);
    for (int i = 0; i < 6; i++) {
        enum verdict expected = i == 3 ? VERDICT_NOT_UNDERSTOOD : VERDICT_PASSED;
        bool ended = verdicts[i] == VERDICT_TOO_SLOW || verdicts[i] == VERDICT_CRASHED;
        if (i == 1 ? !ended : verdicts[i] != expected)
            fail_msg("candidate %d: %s", i, verdict_name(verdicts[i]));
    }
    pool_close(p);
}

static void nvcc_must_take_the_file_too(void **state)
{
    /* NVRTC has no host functions; for nvcc this helper is one, and device code may not call it. */
    static const char text[] =
        "#include <cuda_fp16.h>\nconstexpr int one(int x)\n{\n    return x;\n}\n"
        "__device__ float silu(float x)\n{\n    return x / (one((int)x * 0 + 1) + expf(-x));\n}\n"
        "__global__ void gate(__half *out, const __half *in, int n, int d)\n{\n"
        "    for (long long k = blockIdx.x * 128ll + threadIdx.x; k < (long long)n * d; k += gridDim.x * 128ll)\n"
        "        out[k] = __float2half(silu(__half2float(in[k])));\n}\n" LAUNCHER("n", "128");
    const struct trial_options o = {.device = "h200", .seed = 1, .verify_only = true, .with_nvcc = true};
    /* As newer C libraries have it. */
    static const char assertion[] =
        "#undef assert\n#ifdef NDEBUG\n#define assert(x) ((void)0)\n#else\n#define assert(x) "
        "(static_cast<bool>(x) ? void(0) : __assert_fail(#x, __builtin_FILE(), __builtin_LINE(), __PRETTY_FUNCTION__))\n"
        "#endif\n#ifndef DECLARED\n#define DECLARED\nextern \"C\" void __assert_fail(const char *, const char *, unsigned, "
        "const char *) throw() __attribute__((__noreturn__));\n#endif\n";
    char *asserts = arena_printf(arena, "#include <cassert>\n%s", original_text);
    char *at = strstr(asserts, "{\n"), *headers;
    struct nvrtc *n;
    struct judge *j;
    struct trial t;
    (void)state;
    if (!judge)
        skip();
    assert_ok(nvrtc_open(&n, &err), err);
    bool works = gpu_nvcc_path(arena, n) && gpu_nvcc_works(n, arena);
    nvrtc_close(n);
    if (!works) {
        fprintf(stderr, "nvcc's opinion is not tested: there is none, or it lacks a host compiler\n");
        skip();
    }
    assert_ok(judge_open(&j, task, &o, &err), err);
    asserts = arena_printf(arena, "%.*s{\n    assert(x < 1e30f);\n%s", (int)(at - asserts), asserts, at + 2);
    headers = fs_temp_dir(arena, &err);
    assert_ok(headers && fs_write_text(fs_join(arena, headers, "assert.h"), assertion, &err), err);
    setenv("CPLUS_INCLUDE_PATH", headers, 1);
    assert_ok(judge_file(j, arena, "candidate.cu", asserts, &t, &err), err);
    unsetenv("CPLUS_INCLUDE_PATH");
    fs_remove_tree(headers);
    if (t.verdict != VERDICT_PASSED)
        fail_msg("%s: %s", verdict_name(t.verdict), t.words);
    assert_ok(judge_file(j, arena, "candidate.cu", original_text, &t, &err), err);
    if (t.verdict != VERDICT_PASSED || t.missing_checks)
        fail_msg("%s: %s", verdict_name(t.verdict), t.words);
    assert_ok(judge_file(j, arena, "candidate.cu", text, &t, &err), err);
    if (t.verdict != VERDICT_COMPILE_FAILED || !strstr(t.words, "nvcc refuses") || t.line != 8)
        fail_msg("%s, line %d: %s", verdict_name(t.verdict), t.line, t.words);
    judge_close(j);
}

static void a_broken_task_comes_back_from_the_worker(void **state)
{
    const struct trial_options o = {.device = "h200", .seed = 1};
    char *dir = arena_printf(arena, "%s/broken", folder);
    struct task *t;
    struct pool *p;
    struct trial trial;
    (void)state;
    if (!judge)
        skip();
    assert_true(write_task(dir, task_text, "not a kernel\n"));
    assert_ok(task_open(&t, arena, dir, &err), err);
    assert_ok(pool_open(&p, t, &o, 1, NULL, &err), err);
    assert_false(pool_original(p, arena, &trial, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_true(str_ends(err.file, "kernel.cu"));
    pool_close(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_have_names),
        cmocka_unit_test(errors_are_in_ulps),
        cmocka_unit_test(flushed_denormals_are_equal),
        cmocka_unit_test(allowances_have_floor_and_cap),
        cmocka_unit_test(exceptions_have_names_and_kernels),
        cmocka_unit_test(quantiles_of_errors),
        cmocka_unit_test(rounding_may_not_lean),
        cmocka_unit_test(trials_go_through_json),
        cmocka_unit_test(coverage_is_joined),
        cmocka_unit_test(impossible_times_are_refused),
        cmocka_unit_test(every_candidate_gets_its_verdict),
        cmocka_unit_test(a_better_candidate_passes),
        cmocka_unit_test(a_plan_of_several_steps_is_run),
        cmocka_unit_test(an_original_at_fault_is_an_error),
        cmocka_unit_test(flags_are_checked_at_the_task),
        cmocka_unit_test(launchers_see_local_headers),
        cmocka_unit_test(too_slow_is_no_failure),
        cmocka_unit_test(two_workers_judge_side_by_side),
        cmocka_unit_test(nvcc_must_take_the_file_too),
        cmocka_unit_test(a_broken_task_comes_back_from_the_worker),
    };

    if (argc > 1 && !strcmp(argv[1], "worker"))
        return pool_worker_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("trial", tests, open_all, close_all);
}
