/* kernel/: the cases in tests/launcher, each a .cu file that says in its comments what its launcher must
 * become:
 *   // run: rows=4 d=100            scalar arguments by name (others are 0); out@16 moves a buffer's address
 *   // launch NAME (gx,gy,gz) (bx,by,bz) shared [args]    the steps, in order
 *   // memset TO byte size, // copy TO FROM size, // workspace size
 *   // error LINE:COL text          instead of steps: the place and a part of the message
 *   // open-error LINE:COL text     for the whole file
 * The launcher is called `go`. */
#include "test.h"

#include <glob.h>

#include "kernel/kernel.h"

static const struct kernel_limits h200 = {
    .device_name = "H200",
    .sm_count = 132,
    .cc_major = 9,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .warp_size = 32,
    .shared_per_block = 49152,
    .shared_per_block_optin = 232448,
    .shared_per_sm = 233472,
    .l2_bytes = 62914560,
    .registers_per_sm = 65536,
    .sm_clock_khz = 1980000,
    .memory_clock_khz = 3201000,
};

static const char *pointer_name(const struct kernel *k, int32_t buffer)
{
    int32_t at = 0;

    for (size_t i = 0; i < k->n_params; i++) {
        if (k->params[i].pointer && at++ == buffer)
            return k->params[i].name;
    }
    return "?";
}

static void print_value(struct str *s, const struct kernel *k, const struct kernel_value *v)
{
    if (v->pointer && v->p.buffer == -1)
        str_add(s, "null");
    else if (v->pointer && v->p.buffer >= 0)
        str_add(s, pointer_name(k, v->p.buffer));
    else if (v->pointer)
        str_addf(s, "ws%d", -2 - v->p.buffer);
    else if (v->type >= KT_F16)
        str_addf(s, "%.9g:%s", v->f, kernel_type_name(v->type));
    else if (v->type == KT_U64)
        str_addf(s, "%llu:u64", (unsigned long long)v->i);
    else
        str_addf(s, "%lld:%s", (long long)v->i, kernel_type_name(v->type));
    if (v->pointer && v->p.offset_bytes)
        str_addf(s, "%+lld", (long long)v->p.offset_bytes);
}

static void print_plan(struct str *s, const struct kernel *k, const struct plan *p)
{
    for (size_t i = 0; i < p->n_workspaces; i++)
        str_addf(s, "workspace %lld\n", (long long)p->workspace_bytes[i]);
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct plan_step *t = &p->steps[i];

        switch (t->kind) {
        case PLAN_LAUNCH:
            str_addf(s, "%s %s (%u,%u,%u) (%u,%u,%u) %lld [", t->cooperative ? "cooperative" : "launch",
                     t->kernel, t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2],
                     (long long)t->shared_bytes);
            for (size_t a = 0; a < t->n_args; a++) {
                str_add(s, a ? ", " : "");
                print_value(s, k, &t->args[a]);
            }
            str_add(s, "]\n");
            break;
        case PLAN_MEMSET:
            str_add(s, "memset ");
            print_value(s, k, &t->to);
            str_addf(s, " %d %lld\n", t->byte, (long long)t->size_bytes);
            break;
        case PLAN_COPY:
            str_add(s, "copy ");
            print_value(s, k, &t->to);
            str_add(s, " ");
            print_value(s, k, &t->from);
            str_addf(s, " %lld\n", (long long)t->size_bytes);
            break;
        }
    }
    if (p->n_steps == 0)
        str_add(s, "nothing\n");
}

static void read_args(const struct kernel *k, char *words, struct kernel_value *args, uint64_t *addr)
{
    int32_t n_pointers = 0;
    char *save, *word;

    for (size_t i = 0; i < k->n_params; i++) {
        args[i] = (struct kernel_value){.type = k->params[i].type, .pointer = k->params[i].pointer};
        if (args[i].pointer) {
            addr[n_pointers] = (uint64_t)(n_pointers + 1) << 32;
            args[i].p.buffer = n_pointers++;
        }
    }
    for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *sign = strpbrk(word, "=@");
        bool found = false, is_addr;

        if (!sign)
            fail_msg("`%s` is no argument", word);
        is_addr = *sign == '@';
        *sign = 0;
        for (size_t i = 0; i < k->n_params; i++) {
            if (strcmp(k->params[i].name, word) != 0)
                continue;
            found = true;
            if (is_addr)
                addr[args[i].p.buffer] += strtoull(sign + 1, NULL, 10);
            else if (args[i].type >= KT_F16)
                args[i].f = strtod(sign + 1, NULL);
            else
                args[i].i = strtoll(sign + 1, NULL, 10);
        }
        if (!found)
            fail_msg("the launcher has no parameter %s", word);
    }
}

static void add_error(struct str *s, const struct err *err)
{
    str_addf(s, "error %d:%d %s\n", err->line, err->col, err->text);
}

/* Expected and actual agree: line by line, and an error's text in part. */
static bool agrees(const char *expected, const char *actual)
{
    int le, ce, la, ca, ne = 0, na = 0;

    if (sscanf(expected, "error %d:%d %n", &le, &ce, &ne) == 2 &&
        sscanf(actual, "error %d:%d %n", &la, &ca, &na) == 2) {
        char part[512];

        snprintf(part, sizeof(part), "%.*s", (int)strcspn(expected + ne, "\n"), expected + ne);
        return le == la && ce == ca && *part && strstr(actual + na, part);
    }
    return strcmp(expected, actual) == 0;
}

static int runs;

static int check_run(const char *path, const struct kernel *k, const char *args_text, const char *expected)
{
    struct arena *a = arena_open();
    struct kernel_value *args = arena_array(a, struct kernel_value, k->n_params + 1);
    uint64_t *addr = arena_array(a, uint64_t, k->n_params + 1);
    struct plan plan;
    struct err err = {0};
    struct str actual = {0};
    int failed = 0;

    read_args(k, arena_strdup(a, args_text), args, addr);
    if (kernel_plan(&plan, a, k, args, addr, &h200, &err))
        print_plan(&actual, k, &plan);
    else
        add_error(&actual, &err);
    if (!agrees(expected, str_text(&actual))) {
        print_message("%s: run:%s%s\nexpected:\n%sactual:\n%s\n", path, *args_text ? " " : "", args_text,
                      expected, str_text(&actual));
        failed = 1;
    }
    runs++;
    str_free(&actual);
    arena_close(a);
    return failed;
}

static int check_file(const char *path)
{
    struct arena *a = arena_open();
    struct kernel *k = NULL;
    struct err err = {0};
    struct str expected = {0}, actual = {0};
    char *text, *save, *args = NULL, *line;
    size_t len;
    int failed = 0, found = 0;
    bool ok, open_error = false;

    assert_ok(fs_read(a, path, &text, &len, &err), err);
    ok = kernel_open(&k, a, path, text, len, "go", &err);
    for (line = strtok_r(arena_strdup(a, text), "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        static const char *const kinds[] = {"launch ",    "cooperative ", "memset ", "copy ",
                                            "workspace ", "error ",       "nothing"};

        if (strncmp(line, "// open-error ", 14) == 0) {
            str_addf(&expected, "%s\n", line + 8);
            open_error = true;
            found++;
            break;
        }
        if (strncmp(line, "// run:", 7) == 0) {
            if (args && ok)
                failed += check_run(path, k, args, str_text(&expected));
            args = arena_strdup(a, line + 7 + (line[7] == ' '));
            str_clear(&expected);
            found++;
        }
        for (size_t i = 0; args && i < ARRAY_LEN(kinds); i++) {
            if (strncmp(line, "// ", 3) == 0 && strncmp(line + 3, kinds[i], strlen(kinds[i])) == 0)
                str_addf(&expected, "%s\n", line + 3);
        }
    }
    if (!ok)
        add_error(&actual, &err);
    if (found == 0 || ok == open_error || (open_error && !agrees(str_text(&expected), str_text(&actual)))) {
        print_message("%s: expected %s\nactual: %s\n", path, found ? str_text(&expected) : "a run",
                      str_text(&actual));
        failed++;
    }
    if (open_error)
        runs++;
    else if (args && ok)
        failed += check_run(path, k, args, str_text(&expected));
    kernel_close(k);
    str_free(&expected);
    str_free(&actual);
    arena_close(a);
    return failed;
}

static void test_launchers(void **state)
{
    glob_t files;
    int failed = 0;

    (void)state;
    assert_int_equal(glob("tests/launcher/*.cu", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        failed += check_file(files.gl_pathv[i]);
    print_message("%zu files, %d runs\n", files.gl_pathc, runs);
    globfree(&files);
    assert_int_equal(failed, 0);
}

static const char simple[] =
    "#include <cuda_fp16.h>\n"
    "constexpr int BLOCK = 128; // astra: tune 64 128 256\n"
    "#define UNROLL 4 // astra: tune 1 2 4\n"
    "__device__ float half_of(float x) { return x / 2; }\n"
    "static int div_up(int a, int b) { return (a + b - 1) / b; }\n"
    "static void start(float *p, int n, cudaStream_t s);\n"
    "template <int B> __global__ void __launch_bounds__(B) f(float *p, int n) { p[0] = half_of(n); }\n"
    "__global__ void g(const __half *p) {}\n"
    "extern \"C\" {\n"
    "void go(__half *out, const float *in, int rows, float eps, unsigned char c, cudaStream_t stream)\n"
    "{\n    f<BLOCK><<<div_up(rows, BLOCK), BLOCK, 0, stream>>>((float *)out, rows);\n}\n"
    "}\n";

static void test_open(void **state)
{
    struct arena *a = arena_open();
    struct kernel *k = NULL;
    struct err err = {0};
    enum kernel_type type;

    (void)state;
    assert_ok(kernel_open(&k, a, "k.cu", simple, strlen(simple), "go", &err), err);
    assert_int_equal(k->n_params, 5);
    assert_string_equal(k->params[0].name, "out");
    assert_int_equal(k->params[0].type, KT_F16);
    assert_true(k->params[0].pointer && !k->params[0].constant);
    assert_true(k->params[1].pointer && k->params[1].constant);
    assert_int_equal(k->params[3].type, KT_F32);
    assert_int_equal(k->params[4].type, KT_U8);
    assert_int_equal(k->n_functions, 2);
    assert_string_equal(k->functions[0].name, "f");
    assert_true(k->functions[0].is_template);
    assert_int_equal(k->functions[0].line, 7);
    assert_string_equal(node_kind(k->functions[0].definition), "function_definition");
    assert_false(k->functions[1].is_template);
    assert_string_equal(node_kind(k->launcher), "function_definition");
    assert_int_equal(node_line(k->source, k->launcher), 10);
    assert_int_equal(k->n_tunables, 2);
    assert_string_equal(k->tunables[0].name, "BLOCK");
    assert_string_equal(k->tunables[0].value, "128");
    assert_int_equal(k->tunables[0].n_values, 3);
    assert_int_equal(k->tunables[1].line, 3);
    assert_non_null(strstr(kernel_with_tunable(a, k, 0, "256"), "constexpr int BLOCK = 256; // astra"));
    assert_non_null(strstr(kernel_with_tunable(a, k, 1, "1"), "#define UNROLL 1 // astra"));
    kernel_close(k);
    kernel_close(NULL);
    assert_true(kernel_type_parse("bf16", &type) && type == KT_BF16);
    assert_false(kernel_type_parse("float", &type));
    assert_int_equal(kernel_type_size(KT_U64), 8);
    arena_close(a);
}

static void test_device_part(void **state)
{
    struct arena *a = arena_open();
    struct kernel *k = NULL;
    struct err err = {0};

    (void)state;
    assert_ok(kernel_open(&k, a, "k.cu", simple, strlen(simple), "go", &err), err);
    assert_int_equal(strlen(k->device_text), strlen(simple));
    for (size_t i = 0; i < strlen(simple); i++) {
        if ((simple[i] == '\n') != (k->device_text[i] == '\n'))
            fail_msg("line break moved at %zu", i);
        if (k->device_text[i] != ' ' && k->device_text[i] != simple[i])
            fail_msg("byte %zu changed", i);
    }
    assert_null(strstr(k->device_text, "<<<"));
    assert_null(strstr(k->device_text, "cudaStream_t"));
    assert_null(strstr(k->device_text, "div_up"));
    assert_non_null(strstr(k->device_text, "half_of(float x)"));
    assert_non_null(strstr(k->device_text, "constexpr int BLOCK = 128;"));
    assert_non_null(strstr(k->device_text, "__launch_bounds__(B) f(float"));
    assert_non_null(strstr(k->device_text, "extern \"C\" {"));
    kernel_close(k);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_device_part),
        cmocka_unit_test(test_launchers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
