/* The compiled launcher run, in a child of its own that can only write and end (share/shipped/recorder.c shuts
 * it in before anything of the candidate's runs), and what it asked the runtime for beside the judged plans.
 * The plans are written in the recorder's form; what it prints is compared with that (recorded_lines.c). */
#include <signal.h>

#include "internal.h"
#include "recorded.h"

enum { MAX_SHAPES = 600, SPACE_BITS = 38, FIRST_WORKSPACE = 128, OUTPUT = 32 << 20 };

#define STREAM "0x123450ul" /* what the launcher is given */

struct answer {         /* to a question for the occupancy */
    const char *kernel; /* "": nothing launches it */
    int threads, blocks;
    int64_t shared;
};

struct recording {
    struct judge *judge;
    struct version *version;
    struct arena *arena;
    const struct gpu_build *build;
    const struct ptx_module *theirs; /* nvcc's device code */
    VEC(const int64_t *) shapes;
    VEC(struct recorded_plan) plans; /* of the shapes */
    VEC(struct answer) answers;
    struct kernel_limits limits; /* the version's own, which answer */
    bool unknown;                /* a plan launches what nvcc's device code lacks */
    const char *why_not;
};

/* ---- plans as lines */

static uint64_t address(const struct kernel_value *v)
{
    uint64_t base = 0;

    if (v->p.buffer >= 0)
        base = (uint64_t)(v->p.buffer + 1) << SPACE_BITS;
    else if (v->p.buffer <= -2)
        base = (uint64_t)(FIRST_WORKSPACE - 2 - v->p.buffer) << SPACE_BITS;
    return base + (uint64_t)v->p.offset_bytes;
}

static uint64_t argument_bits(const struct kernel_value *v)
{
    uint64_t bits = v->pointer ? address(v) : (uint64_t)v->i;

    if (!v->pointer && type_is_floating(v->type)) {
        bits = 0;
        task_from_double(v->type, v->f, &bits);
    }
    return bits;
}

/* A dot is a byte that nothing says: between members. */
static void add_bytes(const struct kernel_value *v, struct str *s)
{
    uint64_t bits = argument_bits(v);
    size_t size = v->pointer ? 8 : kernel_type_size(v->type);

    for (size_t i = 0; i < size; i++)
        str_addf(s, "%02x", (unsigned)(bits >> 8 * i & 255));
}

static void add_argument(struct arena *a, const struct kernel_value *v, struct str *s)
{
    str_addc(s, ' ');
    if (!v->struct_bytes) {
        add_bytes(v, s);
        return;
    }
    char *text = arena_alloc(a, 2 * (size_t)v->struct_bytes + 1);
    memset(text, '.', 2 * (size_t)v->struct_bytes);
    text[2 * (size_t)v->struct_bytes] = 0;
    for (size_t i = 0; i < v->n_members; i++) {
        struct str member = {.arena = a};
        add_bytes(&v->members[i].value, &member);
        size_t at = 2 * (size_t)v->members[i].offset;
        if (at + member.len <= 2 * (size_t)v->struct_bytes)
            memcpy(text + at, str_text(&member), member.len);
    }
    str_add(s, text);
}

static void add_numbers(struct str *s, const uint32_t n[3])
{
    str_addf(s, " %u %u %u", n[0], n[1], n[2]);
}

static bool add_step(struct recording *r, const struct plan_step *step, struct str *s)
{
    if (step->kind == PLAN_MEMSET) {
        str_addf(s, "memset %llu %d %lld 1\n", (unsigned long long)address(&step->to), step->byte & 255,
                 (long long)step->size_bytes);
        return true;
    }
    if (step->kind == PLAN_COPY) {
        str_addf(s, "copy %llu %llu %lld 1\n", (unsigned long long)address(&step->to),
                 (unsigned long long)address(&step->from), (long long)step->size_bytes);
        return true;
    }
    if (step->kind == PLAN_CONSTANT) {
        const char *variable;
        uint64_t bytes;
        if (ptx_module_constant(r->theirs, step->kernel, &variable, &bytes) != 1)
            return false;
        str_addf(s, "constant %s %lld %lld 1", variable, (long long)step->to.p.offset_bytes,
                 (long long)step->size_bytes);
        add_argument(r->arena, &step->from, s);
        str_addc(s, '\n');
        return true;
    }
    const struct image_kernel *k = version_kernel(r->version, step->kernel);
    const char *name = k ? mangled_find(r->arena, r->theirs, k->mangled) : NULL;
    if (!name)
        return false;
    str_addf(s, "launch %s", name);
    add_numbers(s, step->grid);
    add_numbers(s, step->block);
    add_numbers(s, step->cluster);
    str_addf(s, " %lld %d %d 1", (long long)step->shared_bytes, step->cooperative, step->programmatic);
    for (size_t i = 0; i < step->n_args; i++)
        add_argument(r->arena, &step->args[i], s);
    str_addc(s, '\n');
    return true;
}

/* Asked often for the same. */
static int note_occupancy(void *context, const char *kernel, int threads, int64_t shared)
{
    struct recording *r = context;
    int blocks = r->limits.occupancy(r->limits.context, kernel, threads, shared);
    const struct image_kernel *k = version_kernel(r->version, kernel);
    const char *name = k ? mangled_find(r->arena, r->theirs, k->mangled) : "";

    for (size_t i = 0; i < r->answers.n; i++) {
        const struct answer *x = &r->answers.v[i];
        if (x->threads == threads && x->shared == shared && name && str_eq(x->kernel, name))
            return blocks;
    }
    if (name)
        vec_add(r->arena, &r->answers, ((struct answer){name, threads, blocks, shared}));
    return blocks;
}

/* Shapes that the launcher refuses have no plan to compare. */
static bool add_shape(struct recording *r, const int64_t *dims, struct err *err)
{
    struct fate fate = {0};
    struct plan plan;
    struct str s = {0}, w = {0};
    bool known = true;

    for (size_t i = 0; i < r->shapes.n; i++)
        if (!memcmp(r->shapes.v[i], dims, r->judge->task->n_dims * sizeof(*dims)))
            return true;
    if (r->shapes.n == MAX_SHAPES)
        return true;
    if (!version_plan(r->version, r->arena, dims, NULL, &plan, &fate, err))
        return false;
    if (!fate_open(&fate))
        return true;
    for (size_t i = 0; i < plan.n_steps; i++)
        known &= add_step(r, &plan.steps[i], &s);
    for (size_t i = 0; i < plan.n_workspaces; i++)
        str_addf(&w, "malloc %lld 1\n", (long long)plan.workspace_bytes[i]);
    if (!known)
        r->unknown = true;
    vec_add(r->arena, &r->shapes, dims);
    vec_add(r->arena, &r->plans, ((struct recorded_plan){str_take(&s, r->arena), str_take(&w, r->arena)}));
    return true;
}

static bool add_shapes(struct recording *r, struct err *err)
{
    const struct judge *j = r->judge;
    const int64_t **extremes;
    size_t n;
    bool ok = true;

    for (size_t i = 0; ok && i < j->n_cases; i++)
        ok = add_shape(r, j->cases[i].dims, err);
    for (size_t i = 0; ok && i < j->task->n_workloads; i++)
        ok = add_shape(r, j->task->workloads + i * j->task->n_dims, err);
    for (size_t i = 0; ok && i < r->version->n_branches; i++)
        ok = add_shape(r, r->version->branches[i], err);
    task_extremes(j->task, r->arena, &extremes, &n);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_shape(r, extremes[i], err);
    return ok;
}

/* ---- the program */

static const char *c_type(enum kernel_type t)
{
    static const char *const names[] = {[KT_BOOL] = "_Bool",
                                        [KT_I8] = "signed char",
                                        [KT_U8] = "unsigned char",
                                        [KT_I16] = "short",
                                        [KT_U16] = "unsigned short",
                                        [KT_I32] = "int",
                                        [KT_U32] = "unsigned",
                                        [KT_I64] = "long",
                                        [KT_U64] = "unsigned long",
                                        [KT_F32] = "float",
                                        [KT_F64] = "double",
                                        [KT_F16] = "struct recorder_half",
                                        [KT_BF16] = "struct recorder_half"};

    return names[t];
}

static void write_kernels(const struct recording *r, struct str *s)
{
    const struct ptx_kernel_info *list;
    size_t n = ptx_module_kernels(r->theirs, &list);

    str_add(s, "static const struct { const char *name; unsigned sizes[130]; } KERNELS[] = {\n");
    for (size_t i = 0; i < n; i++) {
        str_addf(s, "{\"%s\", {", list[i].name);
        for (size_t k = 0; k < MIN(list[i].n_params, (size_t)128); k++)
            str_addf(s, "%u, ", list[i].param_bytes[k]);
        str_add(s, "0}},\n");
    }
    str_add(s, "{0}};\n");
}

static void write_answers(struct recording *r, struct str *s)
{
    str_add(
        s,
        "static const struct { const char *name; int threads; long long shared; int blocks; } ANSWERS[] = {\n");
    for (size_t i = 0; i < r->answers.n; i++) {
        const struct answer *x = &r->answers.v[i];
        str_addf(s, "{\"%s\", %d, %lld, %d},\n", x->kernel, x->threads, (long long)x->shared, x->blocks);
    }
    str_addf(s, "{0}};\nenum { BLOCK_SIZE_ASKED = %d };\n",
             strstr(r->version->kernel->text, "cudaOccupancyMaxPotentialBlockSize") != NULL);
}

/* CUDA 13 has the clocks' no more. */
static void write_member(struct str *s, const char *member, int64_t value)
{
    bool old = str_eq(member, "clockRate") || str_eq(member, "memoryClockRate");

    if (old)
        str_add(s, "#if CUDA_VERSION < 13000\n");
    str_addf(s, "{offsetof(struct cudaDeviceProp, %s), sizeof(((struct cudaDeviceProp *)0)->%s), %lld},\n",
             member, member, (long long)value);
    if (old)
        str_add(s, "#endif\n");
}

/* Where the members are, the toolkit's own header says. */
static void write_device(struct recording *r, struct str *s)
{
    struct str members = {.arena = r->arena};

    str_add(s, "#include <cuda.h>\n#include <driver_types.h>\n#include <stddef.h>\n"
               "static const long ATTRIBUTES[][2] = {\n");
    for (int i = 1; i < 200; i++) {
        const char *m = kernel_device_member(i);
        int64_t value;
        if (!kernel_device_attribute(&r->limits, i, &value))
            continue;
        str_addf(s, "{%d, %lld},\n", i, (long long)value);
        if (*m)
            write_member(&members, m, value);
    }
    str_addf(s,
             "{0, 0}};\nstatic const struct { size_t at, bytes; long long value; } PROPERTIES[] = {\n%s{0}};\n"
             "enum { PROPERTIES_BYTES = sizeof(struct cudaDeviceProp), FUNCTION_BYTES = sizeof(struct "
             "cudaFuncAttributes), FUNCTION_THREADS = offsetof(struct cudaFuncAttributes, maxThreadsPerBlock) "
             "};\n",
             str_text(&members));
}

static void write_cases(struct recording *r, struct str *s)
{
    const struct kernel *k = r->version->kernel;
    struct kernel_value values[MAX_ARGS];

    str_addf(s,
             "enum { N_CASES = %zu };\n#define RECORDER_STREAM " STREAM "\n#define RECORDER_OPTIN %lld\n"
             "struct recorder_half { unsigned short bits; };\n"
             "static const unsigned long CASES[][%zu] = {\n",
             r->shapes.n, (long long)r->limits.shared_per_block_optin, k->n_params + 1);
    for (size_t i = 0; i < r->shapes.n; i++) {
        task_launch_values(r->judge->task, r->shapes.v[i], values);
        str_add(s, "{");
        for (size_t p = 0; p < k->n_params; p++) {
            values[p].type = values[p].pointer ? values[p].type : k->params[p].type;
            str_addf(s, "0x%llxul, ", (unsigned long long)argument_bits(&values[p]));
        }
        str_add(s, "0},\n");
    }
    str_addf(s, "};\nextern %s %s(", k->returns ? "int" : "void", k->entry);
    for (size_t p = 0; p < k->n_params; p++)
        str_addf(s, "%s, ", k->params[p].pointer ? "void *" : c_type(k->params[p].type));
    str_addf(s,
             "void *);\nstatic int launcher_call(int i)\n{\n    const unsigned long *c = CASES[i];\n    %s%s(",
             k->returns ? "return " : "", k->entry);
    for (size_t p = 0; p < k->n_params; p++)
        str_addf(s, "*(%s *)(c + %zu), ", k->params[p].pointer ? "void *" : c_type(k->params[p].type), p);
    str_addf(s, "(void *)RECORDER_STREAM);\n%s}\n", k->returns ? "" : "    return 0;\n");
}

/* With the shipped object, or to see whether the linker works: without. */
static bool link_with(struct recording *r, const char *object, const char *program, const char **words)
{
    static const struct proc_limits limits = {.wall_s = 600, .cpu_s = 60, .output_bytes = 1 << 20};
    const char *host = getenv("NVCC_CCBIN"), *include = NULL;
    const struct nvrtc *n = r->judge->nvrtc;
    struct proc_result p;
    struct err why = {0};

    nvrtc_version(n, NULL, NULL, NULL, &include);
    if (!host || !*host)
        host = "gcc";
    if (!include)
        include = "/usr/include";
    const char *const argv[] = {
        host,
        "-O1",
        "-w",
        "-static",
        "-fno-builtin",
        "-o",
        program,
        fs_join(r->arena, r->build->dir, "recorder.c"),
        arena_printf(r->arena, "-idirafter%s/../include", fs_dirname(r->arena, gpu_nvcc_path(r->arena, n))),
        arena_printf(r->arena, "-idirafter%s", include),
        "-Wl,--unresolved-symbols=ignore-all",
        object ? object : "-lm", /* before the library that it takes its mathematics from */
        "-lm",
        NULL};
    if (!proc_run(argv, NULL, &limits, &p, &why)) {
        *words = arena_printf(r->arena, "there is no %s to link it with", argv[0]);
        return false;
    }
    bool ok = p.end == PROC_EXITED && p.status == 0;
    const char *at = str_text(&p.err), *error = strstr(at, "error: ");
    if (error)
        at = error;
    if (!ok)
        *words = arena_printf(r->arena, "%s does not link it: %.*s", argv[0],
                              (int)MIN(strcspn(at, "\n"), (size_t)200), at);
    proc_result_free(&p);
    return ok;
}

/* Linked with everything in it, so that it reads no file once it has begun. A file that cannot be linked with
 * the recorder, which a launcher alone can be, is refused: it would never be compared. */
static bool build_program(struct recording *r, const char **program, struct fate *fate, struct err *err)
{
    const char *dir = r->build->dir, *words, *nothing;
    struct str s = {.arena = r->arena};

    *program = fs_join(r->arena, dir, "recorder");
    write_device(r, &s);
    write_kernels(r, &s);
    write_answers(r, &s);
    write_cases(r, &s);
    str_add(&s, share_text("shipped/recorder.c"));
    bool ok = fs_write_text(fs_join(r->arena, dir, "recorder.c"), str_text(&s), err);
    if (!ok || link_with(r, fs_join(r->arena, dir, "shipped.o"), *program, &words))
        return ok;
    if (link_with(r, NULL, *program, &nothing))
        return fate_isf(fate, r->arena, VERDICT_NOT_UNDERSTOOD, 0,
                        "as nvcc compiles it, its host code cannot be run alone: %s", words);
    r->why_not = nothing;
    return true;
}

/* ---- what was recorded */

static const char *shown(const char *line)
{
    return *line ? line : "nothing";
}

/* What the child is killed for by what shuts it in (recorder.c: shut_in). */
static const char *killed_for(int signal)
{
    switch (signal) {
    case SIGSYS:
        return "is killed for a system call: it may write its plan and end, and nothing else";
    case SIGSEGV:
    case SIGBUS:
        return "is killed for memory that is not there: a device pointer is a number to it, and it has 256 MB";
    case SIGXCPU:
    case SIGKILL:
        return "is killed after 10 s of processor time";
    }
    return NULL;
}

static void compare(struct recording *r, const struct proc_result *p, struct trial *t, struct fate *fate)
{
    const char *out = str_text(&p->out);
    struct recorded_line is, must;

    if (str_starts(out, "sandbox")) {
        r->why_not = arena_printf(r->arena, "this machine lacks what shuts it in (%.*s)",
                                  (int)MIN(strcspn(out, "\n"), (size_t)60), out);
        return;
    }
    t->shipped.compared = (unsigned)recorded_same(out, p->out.len, r->plans.v, r->plans.n, &is, &must);
    if (t->shipped.compared == r->plans.n)
        return;
    const char *where = task_dims_text(r->arena, r->judge->task, r->shapes.v[t->shipped.compared]), *words;
    if (p->end == PROC_SIGNALLED && killed_for(p->status))
        words = arena_printf(r->arena, "as nvcc compiles it, the launcher %s (for %s)", killed_for(p->status),
                             where);
    else if (p->end == PROC_SIGNALLED)
        words = arena_printf(r->arena, "as nvcc compiles it, the launcher dies of signal %d (for %s)",
                             p->status, where);
    else
        words = arena_printf(
            r->arena,
            "as nvcc compiles it, the launcher does something else (for %s): `%s`, where the judged plan is `%s`",
            where, shown(is.text), shown(must.text));
    fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, words);
}

static bool run_program(struct recording *r, const char *program, struct trial *t, struct fate *fate,
                        struct err *err)
{
    static const struct proc_limits limits = {.wall_s = 120, .cpu_s = 10, .output_bytes = OUTPUT};
    const char *const argv[] = {program, NULL};
    struct proc_result p;
    struct err why = {0};
    (void)err;

    if (!proc_run(argv, NULL, &limits, &p, &why)) {
        r->why_not = arena_printf(r->arena, "it cannot be started: %s", why.text);
        return true;
    }
    if (p.end == PROC_TIMED_OUT)
        r->why_not = "the machine was too busy to run it";
    else
        compare(r, &p, t, fate);
    proc_result_free(&p);
    return true;
}

/* Run, and every plan compared; r->why_not: not run. */
static bool run_compiled(struct recording *r, struct trial *t, struct fate *fate, struct err *err)
{
    const char *program;

    r->version->limits.occupancy = note_occupancy;
    r->version->limits.context = r;
    bool ok = add_shapes(r, err);
    r->version->limits = r->limits;
    if (!ok)
        return false;
    t->shipped.shapes = (unsigned)r->shapes.n;
    if (r->unknown)
        return fate_is(fate, VERDICT_NOT_UNDERSTOOD, 0, NO_SUCH_KERNEL);
    if (str_eq(getenv("ASTRA_SANDBOX"), "off")) {
        r->why_not = "the sandbox is turned off (ASTRA_SANDBOX=off)";
        return true;
    }
    return build_program(r, &program, fate, err) &&
           (r->why_not || !fate_open(fate) || run_program(r, program, t, fate, err));
}

bool verify_recorded(struct judge *j, struct version *v, const struct gpu_build *b,
                     const struct ptx_module *theirs, struct trial *t, struct fate *fate, struct err *err)
{
    struct recording r = {
        .judge = j, .version = v, .arena = v->arena, .build = b, .theirs = theirs, .limits = v->limits};
    bool ok = run_compiled(&r, t, fate, err);

    t->shipped.not_run_because = r.why_not;
    if (r.why_not)
        trial_add_missing(r.arena, t, "the compiled launcher run");
    return ok;
}
