#include "agent/agent.h"
#include "test.h"

static struct arena *arena;
static struct task *task;
static char *text;
static const struct kernel_limits limits = {.device_name = "a GPU",
                                            .sm_count = 132,
                                            .cc_major = 9,
                                            .max_threads_per_block = 1024,
                                            .max_threads_per_sm = 2048,
                                            .max_blocks_per_sm = 32,
                                            .warp_size = 32,
                                            .shared_per_block = 48 << 10,
                                            .shared_per_block_optin = 227 << 10,
                                            .shared_per_sm = 228 << 10,
                                            .l2_bytes = 50 << 20,
                                            .registers_per_sm = 65536};

static int setup(void **state)
{
    struct err err = {0};

    (void)state;
    arena = arena_open();
    return task_open(&task, arena, "examples/silu_and_mul", &err) &&
                   fs_read(arena, task->source_path, &text, NULL, &err)
               ? 0
               : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(arena);
    return 0;
}

static const struct agent_workload slow[] = {
    {"rows=1 d=8",
     {.us = 50,
      .copy_us = 2,
      .bound = "latency",
      .dram_us = 1,
      .l2_us = 1,
      .issue_us = 1,
      .latency_us = 50,
      .launch_us = 1,
      .occupancy = 0.06,
      .waves = 0.1}},
    {"rows=9 d=8",
     {.us = 80,
      .copy_us = 40,
      .bound = "dram",
      .dram_us = 80,
      .l2_us = 1,
      .issue_us = 1,
      .latency_us = 50,
      .launch_us = 1,
      .occupancy = 0.9,
      .waves = 3}},
};

static void test_diagnosis(void **state)
{
    struct agent_line line = {"x",
                              {.line = 12,
                               .share = 0.9,
                               .lanes_active = 32,
                               .sectors_per_request = 16,
                               .ideal_sectors_per_request = 4}};
    struct agent_profile p = {"a GPU", "modelled", slow, 2, &line, 1, 40, 8, 0};
    struct agent_diagnosis d;

    (void)state;
    agent_diagnose_rules(&p, arena, &d);
    /* The workload that is 25 times from the copy weighs more than the one that is twice. */
    assert_string_equal(d.bound_by, "latency");
    assert_true(fabs(d.share_of_copy - sqrt(0.04 * 0.5)) < 1e-9);
    assert_non_null(strstr(d.text, "rows=1 d=8"));
    assert_non_null(strstr(d.text, "16.0 sectors a request where 4.0 would do"));
    assert_non_null(strstr(d.text, "spills 8 bytes"));
    p.n_workloads = p.n_lines = 0;
    agent_diagnose_rules(&p, arena, &d);
    assert_string_equal(d.bound_by, "unknown");
}

static void test_diagnosis_leaves_nothing_out(void **state)
{
    struct agent_workload w = {"n=9",
                               {.us = 80,
                                .copy_us = 40,
                                .bound = "issue",
                                .dram_us = 6,
                                .issue_us = 25,
                                .latency_us = 12,
                                .launch_us = 2,
                                .sync_us = NAN,
                                .occupancy = 0.9,
                                .waves = 3}};
    struct agent_profile p = {.device = "a GPU", .basis = "modelled", .workloads = &w, .n_workloads = 1};
    struct agent_diagnosis d;

    (void)state;
    agent_diagnose_rules(&p, arena, &d);
    assert_non_null(strstr(d.text,
                           "There issue alone accounts for 25.00 of 80.00 us (31 %), latency for 12.00 us; "
                           "at least 35.00 us are waiting that no bound explains."));
    w.time.issue_us = 78;
    agent_diagnose_rules(&p, arena, &d);
    assert_non_null(
        strstr(d.text, "There issue alone accounts for 78.00 of 80.00 us (98 %), latency for 12.00 us."));
    w.time.pipe = "tensor";
    agent_diagnose_rules(&p, arena, &d);
    assert_non_null(strstr(d.text, "There issue, tensor alone accounts for 78.00"));
    w.time.issue_us = NAN; /* a bound whose time nobody knows */
    agent_diagnose_rules(&p, arena, &d);
    assert_null(strstr(d.text, "alone accounts"));
}

static void test_steps_in_words(void **state)
{
    static const struct agent_step steps[] = {{"block-size", 11024},   {"block-size", 1024},
                                              {"register-cache", 104}, {"register-cache", 4},
                                              {"split-row", 2128},     {"vectorise", AGENT_OWN_CHOICE},
                                              {"dispatch rows <=", 8}, {"fuse", 0}};

    (void)state;
    assert_string_equal(agent_steps_text(arena, steps, ARRAY_LEN(steps)),
                        "block-size up to 1024 + block-size 1024 + register-cache up to 4 + register-cache 4 + "
                        "split-row 128 in 2 steps + vectorise + dispatch rows <= 8 + fuse");
}

static void plan(const struct agent_version *v, const struct agent_attempt *history, size_t n_history,
                 const struct agent_strategy **s, size_t *n)
{
    static const struct agent_diagnosis d = {"latency", "", 0.1};
    struct agent_plan_input in = {
        .version = v, .diagnosis = &d, .history = history, .n_history = n_history, .max_strategies = 50};

    agent_plan_rules(&in, arena, s, n);
}

static void test_features(void **state)
{
    struct agent_features x = {.dram = 0.5, .block = 8, .copy = NAN, .forms = "vectorise|block-size"}, y = x, z;
    json_t *o = agent_features_to_json(&x);

    (void)state;
    agent_features_from_json(o, arena, &z);
    json_decref(o);
    assert_true(agent_features_nearness(&x, &z) == 1 && isnan(z.copy) && z.block == 8);
    y.block = 9;
    assert_true(agent_features_nearness(&x, &y) < 1 &&
                agent_features_nearness(&x, &y) == agent_features_nearness(&y, &x));
    z = y;
    z.forms = "vectorise|tile";
    assert_true(agent_features_nearness(&x, &z) < agent_features_nearness(&x, &y));
    z.copy = 1; /* known of one alone: as far as can be */
    assert_true(agent_features_nearness(&x, &z) > 0);
    agent_features_from_json(NULL, arena, &z); /* of a row that says nothing */
    assert_true(agent_features_nearness(&x, &z) < 0.5);
}

static size_t place_of(const struct agent_strategy *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].name, name))
            return i;
    return n;
}

/* A memory puts first what gained on a version alike, and what failed there behind it; it leaves nothing out,
 * and of versions with nothing in common it changes nothing. */
static void test_plan_remembers(void **state)
{
    static const struct agent_step together[] = {{"restrict", 0}, {"cache-hints", 3}};
    const struct agent_diagnosis d = {.bound_by = "latency"};
    struct agent_features alike = {.block = 7, .forms = "vectorise"},
                          unlike = {9, 9, 9, 9,  9,  9,  9, 99, 9,  9, 9,     9,
                                    9, 9, 9, 99, 99, 99, 9, 9,  99, 9, "tile"};
    struct agent_remembered trials[3] = {{.trust = 1, .passed = true, .gain = 4}, {.trust = 1}};
    struct agent_memory memory = {trials, 0};
    const struct agent_strategy *s, *t;
    struct agent_version v;
    struct err err = {0};
    size_t n, m;

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", text, &limits, &err), err);
    plan(&v, NULL, 0, &s, &n);
    struct agent_plan_input in = {
        .version = &v, .diagnosis = &d, .max_strategies = 50, .memory = &memory, .features = alike};
    for (memory.n = 0; memory.n <= 2; memory.n += 2) { /* an empty one, and one of other things */
        trials[0].features = trials[1].features = &unlike;
        trials[0].steps = s[n - 1].steps;
        trials[1].steps = s[0].steps;
        trials[0].n_steps = trials[1].n_steps = 1;
        agent_plan_rules(&in, arena, &t, &m);
        assert_int_equal(m, n);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(s[i].name, t[i].name);
    }
    size_t last = n - 1; /* one alone, far behind */
    while (s[last].n_steps != 1)
        last--;
    trials[0] = (struct agent_remembered){&alike, 1, s[last].steps, 1, true, 20};
    trials[1] = (struct agent_remembered){&alike, 1, s[0].steps, s[0].n_steps, false, NAN};
    trials[2] = (struct agent_remembered){&alike, 1, together, 2, true, 25};
    memory.n = 3;
    agent_plan_rules(&in, arena, &t, &m);
    assert_int_equal(m, n + 1); /* the steps that the rules do not think of together */
    assert_true(place_of(t, m, agent_steps_text(arena, together, 2)) < m / 2);
    assert_true(place_of(t, m, s[last].name) < place_of(s, n, s[last].name));
    assert_true(place_of(t, m, s[0].name) > 0 && place_of(t, m, s[0].name) < m);
    for (size_t i = 0; i < n; i++)
        assert_true(place_of(t, m, s[i].name) < m);
    agent_version_close(&v);
}

/* No block is proposed that a kernel of so many registers cannot have. */
static void test_plan_counts_registers(void **state)
{
    const struct agent_diagnosis d = {.bound_by = "latency"};
    const struct agent_strategy *s;
    struct agent_version v;
    struct err err = {0};
    size_t n;

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", text, &limits, &err), err);
    for (unsigned registers = 32; registers <= 255; registers += 223) {
        struct agent_plan_input in = {
            .version = &v, .diagnosis = &d, .max_strategies = 50, .registers = registers};
        int largest = 0;
        agent_plan_rules(&in, arena, &s, &n);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < s[i].n_steps; k++)
                if (str_eq(s[i].steps[k].transform, "block-size"))
                    largest = MAX(largest, s[i].steps[k].setting % 10000);
        assert_true(registers == 32 ? largest >= 512 : largest > 0 && largest <= 256);
    }
    agent_version_close(&v);
}

static void test_plan_learns(void **state)
{
    const struct agent_strategy *s, *t;
    struct agent_attempt history[2];
    struct agent_version v;
    struct err err = {0};
    size_t n, m;

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", text, &limits, &err), err);
    plan(&v, NULL, 0, &s, &n);
    assert_true(n > 4);
    for (size_t i = 0; i < n; i++) {
        assert_true(s[i].reason[0] && s[i].plan[0] && s[i].n_steps > 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(s[i].name, s[k].name);
    }
    /* What was tried on this parent is not tried again; two transforms that gained are tried together. */
    size_t singles[2], found = 0;
    for (size_t i = 0; i < n && found < 2; i++)
        if (s[i].n_steps == 1 && (found == 0 || !str_eq(s[i].steps->transform, s[singles[0]].steps->transform)))
            singles[found++] = i;
    assert_int_equal(found, 2);
    for (int k = 0; k < 2; k++)
        history[k] = (struct agent_attempt){.id = k + 1,
                                            .steps = s[singles[k]].steps,
                                            .n_steps = 1,
                                            .verdict = "passed",
                                            .passed = true,
                                            .gain = 1.5,
                                            .score = 1.5};
    plan(&v, history, 2, &t, &m);
    bool together = false;
    for (size_t i = 0; i < m; i++) {
        assert_string_not_equal(t[i].name, s[singles[0]].name);
        together =
            together || (t[i].n_steps == 2 && str_eq(t[i].steps[0].transform, history[0].steps->transform) &&
                         str_eq(t[i].steps[1].transform, history[1].steps->transform));
    }
    assert_true(together);
    agent_version_close(&v);
}

/* What applies only behind a transform that opens the file is tried behind it, and what it gained is told of it
 * as of any other. */
static void test_plan_opens(void **state)
{
    static const char opened[] =
        "#include <cuda_fp16.h>\n"
        "__global__ void work(__half *out, const __half *in, int mode, int n)\n"
        "{\n"
        "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {\n"
        "        if (mode == 2 && i % 3 == 0)\n"
        "            ((int *)out)[i] = 0;\n"
        "        else\n"
        "            out[i] = in[i];\n"
        "    }\n"
        "}\n"
        "extern \"C\" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)\n"
        "{\n"
        "    work<<<rows, 256, 0, stream>>>(out, in, 0, rows * d);\n"
        "}\n";
    const struct agent_strategy *s, *t;
    struct agent_version v;
    struct err err = {0};
    size_t n, m;

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", opened, &limits, &err), err);
    plan(&v, NULL, 0, &s, &n);
    assert_true(place_of(s, n, "vectorise 16") == n); /* `out` is an int's too */
    size_t at = place_of(s, n, "drop-branches + vectorise 16");
    assert_true(at < n);
    struct agent_attempt history[] = {
        {.id = 1, .steps = s[at].steps, .n_steps = 2, .passed = true, .gain = 1.5},
        {.id = 2, .steps = &(struct agent_step){"restrict", 0}, .n_steps = 1, .passed = true, .gain = 1.2}};
    plan(&v, history, 2, &t, &m);
    assert_true(place_of(t, m, s[at].name) == m);
    assert_true(place_of(t, m, "drop-branches + vectorise 16 + restrict") < m);
    agent_version_close(&v);
}

static void test_code_and_repair(void **state)
{
    const struct agent_strategy *s;
    struct agent_attempt failed;
    struct agent_version v, w;
    struct agent_strategy repaired;
    struct agent_plan_input in = {0};
    struct err err = {0};
    size_t n, stack = SIZE_MAX;

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", text, &limits, &err), err);
    plan(&v, NULL, 0, &s, &n);
    for (size_t i = 0; i < n; i++) {
        if (s[i].n_steps > 1)
            stack = i;
        struct agent_file file = {.text = (char *)text};
        if (!agent_code_rules(task, "k.cu", &s[i], &limits, arena, &file, &err))
            continue;
        assert_string_not_equal(file.text, text);
        assert_true(file.n_steps <= s[i].n_steps);
        assert_ok(agent_version_open(&w, arena, task, "k.cu", file.text, &limits, &err), err);
        agent_version_close(&w);
    }
    assert_true(stack != SIZE_MAX);
    assert_true(agent_repair_rules(&s[stack], NULL, &in, arena, &repaired));
    assert_int_equal(repaired.n_steps, s[stack].n_steps - 1);
    /* A step known to fail alone is the one dropped. */
    failed = (struct agent_attempt){.id = 1, .steps = s[stack].steps, .n_steps = 1, .verdict = "wrong"};
    in.history = &failed;
    in.n_history = 1;
    assert_true(agent_repair_rules(&s[stack], NULL, &in, arena, &repaired));
    assert_string_not_equal(repaired.steps[0].transform, s[stack].steps[0].transform);
    agent_version_close(&v);
}

/* The line where a stack failed tells which step goes; the others stay. */
static void test_repair_drops_who_wrote_the_line(void **state)
{
    static const struct agent_step steps[] = {{"vectorise", 16}, {"fast-math", 0}};
    const char *const marks[] = {"_vec8(", "__fdividef"};
    struct agent_strategy s = {.name = "", .reason = "", .plan = "", .steps = steps, .n_steps = 2}, repaired;
    struct agent_file file = {.text = (char *)text};
    struct agent_version v;
    struct agent_plan_input in = {.version = &v};
    struct err err = {0};

    (void)state;
    assert_ok(agent_version_open(&v, arena, task, "k.cu", text, &limits, &err), err);
    assert_ok(agent_code_rules(task, "k.cu", &s, &limits, arena, &file, &err), err);
    assert_int_equal(file.n_steps, 2);
    for (size_t i = 0; i < file.n_steps; i++) {
        const char *at = strstr(file.text, marks[i]);
        struct agent_failure why = {.steps = file.steps, .n_steps = file.n_steps, .line = 1};
        if (!at)
            fail_msg("no %s in\n%s", marks[i], file.text);
        for (const char *p = file.text; p < at; p++)
            why.line += *p == '\n';
        assert_true(agent_repair_rules(&s, &why, &in, arena, &repaired));
        assert_int_equal(repaired.n_steps, 1);
        assert_string_equal(repaired.steps[0].transform, steps[1 - i].transform);
    }
    agent_version_close(&v);
}

/* Which kernel a version launches for these dims. */
static const char *launched(const char *version, int64_t rows, int64_t d)
{
    struct kernel_value values[4];
    struct kernel *k;
    struct plan p;
    struct err err = {0};
    int64_t dims[] = {rows, d};

    task_launch_values(task, dims, values);
    assert_ok(kernel_open(&k, arena, "k.cu", version, strlen(version), task->entry, &err), err);
    assert_ok(kernel_plan(&p, arena, k, values, NULL, &limits, &err), err);
    assert_int_equal(p.n_steps, 1);
    kernel_close(k);
    return p.steps[0].kernel;
}

static void test_dispatch(void **state)
{
    /* Both the kernel and its launch are changed in place, so that the original needs names of its own. */
    static const struct agent_step steps[] = {{"block-size", 256}, {"fast-math", 0}, {"dispatch rows <=", 8}};
    struct agent_strategy s = {.name = "", .reason = "", .plan = "", .steps = steps, .n_steps = 3};
    struct agent_file file = {.text = (char *)text};
    double speedups[16], ones[16];
    const struct agent_version_of versions[] = {{"the original", text, ones}, {"candidate 1", NULL, speedups}};
    struct err err = {0};
    size_t base;

    (void)state;
    assert_ok(agent_code_rules(task, "k.cu", &s, &limits, arena, &file, &err), err);
    assert_string_equal(file.steps[file.n_steps - 1].transform, "dispatch rows <=");
    assert_string_equal(launched(file.text, 8, 64), "silu_and_mul_kernel_original");
    assert_string_equal(launched(file.text, 9, 64), "silu_and_mul_kernel");
    /* Once is enough. */
    assert_false(agent_code_rules(task, "k.cu", &(struct agent_strategy){.steps = steps + 2, .n_steps = 1},
                                  &limits, arena, &file, &err));

    for (size_t w = 0; w < task->n_workloads; w++) {
        ones[w] = 1;
        speedups[w] = task->workloads[w * task->n_dims] <= 1 ? 0.9 : 1.5;
    }
    assert_true(agent_dispatch_rules(task, versions, 2, 1.1, arena, &s, &base));
    assert_string_equal(s.steps[0].transform, "dispatch rows <=");
    assert_int_equal(s.steps[0].setting, 1);
    assert_null(s.steps[0].other);
    assert_int_equal(base, 1);
    assert_false(agent_dispatch_rules(task, versions, 2, 1.5, arena, &s, &base)); /* too little */
    for (size_t w = 0; w < task->n_workloads; w++)
        speedups[w] = task->workloads[w * task->n_dims] >= 4096 ? 0.9 : 1.5;
    assert_true(agent_dispatch_rules(task, versions, 2, 1.1, arena, &s, &base));
    assert_string_equal(s.steps[0].transform, "dispatch rows >=");
    assert_int_equal(s.steps[0].setting, 4096);
    for (size_t w = 0; w < task->n_workloads; w++) /* nowhere slower: there is nothing to choose */
        speedups[w] = 1.5;
    assert_false(agent_dispatch_rules(task, versions, 2, 1.1, arena, &s, &base));
}

/* Two versions of which each wins on a side of a product, and neither is the original. */
static void test_dispatch_of_two(void **state)
{
    double ones[16], few[16], many[16];
    const struct agent_version_of versions[] = {
        {"the original", text, ones}, {"candidate 1", NULL, few}, {"candidate 2", NULL, many}};
    struct agent_step steps[] = {{"fast-math", 0}, {0}};
    struct agent_strategy s;
    struct agent_file file = {.text = (char *)text}, other = {.text = (char *)text};
    static const struct agent_step block[] = {{"block-size", 256}};
    struct err err = {0};
    size_t base;

    (void)state;
    for (size_t w = 0; w < task->n_workloads; w++) {
        const int64_t *dims = task->workloads + w * task->n_dims;
        bool is_small = dims[0] * dims[1] <= 100000;
        ones[w] = 1;
        few[w] = is_small ? 3 : 2;
        many[w] = is_small ? 2 : 4;
    }
    assert_true(agent_dispatch_rules(task, versions, 3, 1, arena, &s, &base));
    assert_string_equal(s.steps[0].transform, "dispatch rows * d <=");
    assert_int_equal(base, 2);
    assert_string_equal(s.steps[0].other->name, "candidate 1");

    struct agent_strategy other_steps = {.name = "", .reason = "", .plan = "", .steps = block, .n_steps = 1};
    assert_ok(agent_code_rules(task, "k.cu", &other_steps, &limits, arena, &other, &err), err);
    struct agent_version_of with = {"candidate 1", other.text, few};
    steps[1] = (struct agent_step){s.steps[0].transform, 8192, .other = &with};
    s.steps = steps;
    s.n_steps = 2;
    assert_ok(agent_code_rules(task, "k.cu", &s, &limits, arena, &file, &err), err);
    assert_int_equal(file.n_steps, 2);
    assert_string_equal(launched(file.text, 2, 4096), "silu_and_mul_kernel_other");
    assert_string_equal(launched(file.text, 1, 8192), "silu_and_mul_kernel_other");
    assert_string_equal(launched(file.text, 1, 8193), "silu_and_mul_kernel");
    assert_string_equal(launched(file.text, 2, 4097), "silu_and_mul_kernel");

    /* A third beside them: its names are others again. */
    steps[0] = (struct agent_step){"dispatch rows >=", 512, .other = &with};
    s.n_steps = 1;
    assert_ok(agent_code_rules(task, "k.cu", &s, &limits, arena, &file, &err), err);
    assert_string_equal(launched(file.text, 512, 4096), "silu_and_mul_kernel_other2");
    assert_string_equal(launched(file.text, 2, 4096), "silu_and_mul_kernel_other");
}

/* A point at random of which every beginning is legal; false: there is none that goes on so. */
static bool draw(const struct agent_template *t, struct rng *rng, int *point, size_t i)
{
    const struct tune_space *space = agent_template_space(t);

    if (i == space->n)
        return true;
    for (int tries = 0; tries < 20; tries++) {
        point[i] = (int)rng_below(rng, space->parameters[i].n);
        if (agent_template_legal(t, point, i + 1) && draw(t, rng, point, i + 1))
            return true;
    }
    return false;
}

/* The numbers of a stack: its own point is its own file, every legal point a file that opens and has all steps
 * with these settings, and what follows from a number follows it. */
static void test_template(void **state)
{
    static const struct agent_step steps[] = {{.transform = "vectorise", .setting = 16},
                                              {.transform = "split-row", .setting = 128},
                                              {.transform = "restrict"},
                                              {.transform = "launch-bounds", .setting = 128}};
    struct agent_template *t = agent_template_open(
        arena, &(struct agent_template_of){task, "k.cu", text, &limits, steps, ARRAY_LEN(steps)});
    const struct tune_space *space;
    struct agent_file file = {.text = text}, own;
    struct rng rng = {5};
    struct err err = {0};

    (void)state;
    assert_non_null(t);
    space = agent_template_space(t);
    assert_int_equal(space->n, 3);
    assert_string_equal(space->parameters[0].name, "vectorise bytes");
    assert_string_equal(space->parameters[2].name, "split-row steps");
    assert_ok(agent_code_rules(task, "k.cu",
                               &(struct agent_strategy){.steps = steps, .n_steps = ARRAY_LEN(steps)}, &limits,
                               arena, &file, &err),
              err);
    agent_template_file(t, agent_template_start(t), &own);
    assert_string_equal(own.text, file.text);
    for (int i = 0; i < 30; i++) {
        struct agent_version v;
        int point[3];
        assert_true(draw(t, &rng, point, 0));
        agent_template_file(t, point, &file);
        assert_ok(agent_version_open(&v, arena, task, "k.cu", file.text, &limits, &err), err);
        agent_version_close(&v);
        assert_int_equal(file.steps[0].setting, space->parameters[0].values[point[0]]);
        assert_int_equal(file.steps[1].setting % 1000, space->parameters[1].values[point[1]]);
        assert_int_equal(file.steps[1].setting / 1000, space->parameters[2].values[point[2]]);
        if (file.n_steps == 4)
            assert_int_equal(file.steps[3].setting, file.steps[1].setting % 1000);
    }
    agent_template_close(t);
    assert_null(
        agent_template_open(/* nothing is left open */
                            arena, &(struct agent_template_of){task, "k.cu", text, &limits, steps + 2, 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnosis),       cmocka_unit_test(test_diagnosis_leaves_nothing_out),
        cmocka_unit_test(test_steps_in_words),  cmocka_unit_test(test_features),
        cmocka_unit_test(test_plan_remembers),  cmocka_unit_test(test_plan_counts_registers),
        cmocka_unit_test(test_plan_learns),     cmocka_unit_test(test_plan_opens),
        cmocka_unit_test(test_code_and_repair), cmocka_unit_test(test_repair_drops_who_wrote_the_line),
        cmocka_unit_test(test_dispatch),        cmocka_unit_test(test_dispatch_of_two),
        cmocka_unit_test(test_template),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
