/* kernel/: the cases in tests/launcher, each a .cu file that says in its comments what its launcher must
 * become:
 *   // run: rows=4 d=100            scalar arguments by name (others are 0); out@16 moves a buffer's address
 *   // launch NAME (gx,gy,gz) (bx,by,bz) shared [args]    the steps, in order
 *   // memset TO byte size, // copy TO FROM size, // workspace size, // constant NAME+offset size VALUES
 *   // error LINE:COL text          instead of steps: the place and a part of the message
 *   // open-error LINE:COL text     for the whole file
 * The launcher is called `go`. */
#include "kernel/token.h" /* before cmocka's fail() */

#include <glob.h>

#include "kernel/kernel.h"
#include "test.h"

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
    if (v->struct_bytes) {
        str_addf(s, "{%u", v->struct_bytes);
        for (size_t i = 0; i < v->n_members; i++) {
            str_addf(s, " @%u=", v->members[i].offset);
            print_value(s, k, &v->members[i].value);
        }
        str_add(s, "}");
        return;
    }
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
            str_addf(s, "%s %s (%u,%u,%u) (%u,%u,%u) %lld ", t->cooperative ? "cooperative" : "launch",
                     t->kernel, t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2],
                     (long long)t->shared_bytes);
            if (t->cluster[0])
                str_addf(s, "cluster %u,%u,%u ", t->cluster[0], t->cluster[1], t->cluster[2]);
            str_add(s, t->programmatic ? "programmatic " : "");
            str_add(s, t->non_portable_cluster ? "large [" : "[");
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
        case PLAN_CONSTANT:
            str_addf(s, "constant %s+%lld %lld ", t->kernel, (long long)t->to.p.offset_bytes,
                     (long long)t->size_bytes);
            print_value(s, k, &t->from);
            str_add(s, "\n");
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
                                            "workspace ", "error ",       "nothing", "constant "};

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
    assert_string_equal(node_word(k->functions[0].definition), "function_definition");
    assert_false(k->functions[1].is_template);
    assert_string_equal(node_word(k->launcher), "function_definition");
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

static void test_headers(void **state)
{
    static const char header[] = "#pragma once\n#ifndef H\n#define H\nconstexpr int BLOCK = 64;\n"
                                 "inline int div_up(int a, int b) { return (a + b - 1) / b; }\n"
                                 "#define LAUNCH(k) k<<<div_up(n, BLOCK), BLOCK, 0, s>>>(p)\n#endif\n";
    static const char file[] = "#include \"common.h\"\n#include \"common.h\"\n#include <cstdint>\n"
                               "__global__ void f(float *p) {}\n"
                               "extern \"C\" void go(float *p, int n, cudaStream_t s) { LAUNCH(f); }\n";
    static const char loop[] = "#include \"loop.h\"\n";
    const struct kernel_header headers[] = {{"include/common.h", header, strlen(header)},
                                            {"loop.h", loop, strlen(loop)}};
    struct kernel_value args[] = {{.type = KT_F32, .pointer = true}, {.type = KT_I32, .i = 100}};
    struct arena *a = arena_open();
    struct kernel *k = NULL;
    struct err err = {0};
    struct plan plan;

    (void)state;
    assert_ok(
        kernel_open_file(&k, a, &(struct kernel_file){"k.cu", file, strlen(file), "go", headers, 2}, &err),
        err);
    assert_ok(kernel_plan(&plan, a, k, args, NULL, &h200, &err), err);
    assert_int_equal(plan.n_steps, 1);
    assert_int_equal(plan.steps[0].grid[0], 2);
    assert_int_equal(plan.steps[0].line, 5);
    assert_true(strncmp(k->device_text, "#include \"common.h\"\n#include", 28) == 0);
    kernel_close(k);
    assert_false(
        kernel_open_file(&k, a, &(struct kernel_file){"k.cu", loop, strlen(loop), "go", headers, 2}, &err));
    assert_non_null(strstr(err.text, "16 levels"));
    arena_close(a);
}

static const char parts[] =
    "static int used = 1, other = 2;\n"
    "static int unused = 3;\n"
    "int deep(int x) { return x + other; }\n"
    "constexpr int via(int x) { return deep(x); }\n"
    "struct keep { int a; };\n"
    "constexpr int BLOCK = 64;\n"
    "__host__ int host_only() { return 1; }\n"
    "__host__ __device__ int both(int x) { return via(x); }\n"
    "static int device_count() { int n; cudaGetDeviceCount(&n); return n; }\n"
    "static const int devices = device_count();\n"
    "static int newest(int x) { return x; }\n"
    "#if __CUDA_ARCH__ >= 900\n__device__ int arch(int x) { return newest(x); }\n#endif\n"
    "#define MAKE(name) int name() { return 4; }\n"
    "MAKE(from_macro) __global__ void g(int *p) { *p = both(used); }\n"
    "int main() { return 0; }\n"
    "extern \"C\" void go(int *p, cudaStream_t s) { g<<<1, BLOCK, 0, s>>>(p); }\n";

static void test_device_reach(void **state)
{
    static const char *const kept[] = {"int used = 1, other = 2;",
                                       "int deep(int x)",
                                       "constexpr int via",
                                       "struct keep",
                                       "constexpr int BLOCK = 64;",
                                       "__host__ __device__ int both",
                                       "#define MAKE",
                                       "__global__ void g(int *p) { *p = both(used); }"};
    static const char *const gone[] = {"unused",           "host_only", "device_count", "devices",
                                       "MAKE(from_macro)", "main",      "extern",       "cudaStream_t"};
    struct arena *a = arena_open();
    struct kernel *k = NULL;
    struct err err = {0};

    (void)state;
    assert_ok(kernel_open(&k, a, "k.cu", parts, strlen(parts), "go", &err), err);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (!strstr(k->device_text, kept[i]))
            fail_msg("`%s` is missing in:\n%s", kept[i], k->device_text);
    }
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        if (strstr(k->device_text, gone[i]))
            fail_msg("`%s` is left in:\n%s", gone[i], k->device_text);
    }
    kernel_close(k);
    arena_close(a);
}

static void test_compiler_tests(void **state)
{
    static const char *const cheats[] = {
        "#ifdef __CUDACC_RTC__\n#endif\n",
        "__device__ const char *f = __FILE__;",
        "#define F __FILE__\n__global__ void k(int *p) { if (F[0] == 'b') *p = 1; }",
        "#define J(a, b) a##b\n__device__ const char *f = J(__FI, LE__);",
        "const char *f() { return __FILE__; }\n__global__ void k(const char **p) { *p = f(); }",
        "#if defined(__NVCC__)\n#endif\n",
        "const char *t = __TIME__ __DATE__;",
        "#define J(a, b) a##b\nint x = J(__CUDACC_VER_, MAJOR__);"};
    static const char *const honest[] = {"// __CUDACC__\n",
                                         "const char *f = \"__FILE__\";",
                                         "#if __CUDA_ARCH__ >= 900\n#endif\n",
                                         "",
                                         "(((",
                                         "#define CHECK(x) puts(__FILE__)\nvoid f() { CHECK(1); }"};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cheats); i++) {
        if (!kernel_tests_compiler("k.cu", cheats[i], strlen(cheats[i]), &err))
            fail_msg("not noticed: %s", cheats[i]);
        assert_non_null(strstr(err.text, "tests how it is compiled"));
    }
    for (size_t i = 0; i < ARRAY_LEN(honest); i++) {
        if (kernel_tests_compiler("k.cu", honest[i], strlen(honest[i]), &err))
            fail_msg("accused: %s", honest[i]);
    }
}

static void test_macro_names(void **state)
{
    static const char *const macros[] = {
        "ADJ_ESTERROR",          "BUFSIZ",   "EOF",     "unix", /* the first and the last of each list */
        "ATOMIC_BOOL_LOCK_FREE", "SIZE_MAX", "va_start"};
    static const char *const others[] = {"", "A", "EO", "EOFF", "zzz", "ADJ_ESTERROR BUFSIZ", " ", "rows"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        assert_true(system_macro(macros[i]));
        assert_int_equal(system_predefined(macros[i]), i < 4);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(system_macro(others[i]));
}

static void same_normal(struct arena *a, const char *x, const char *y, bool same)
{
    const char *nx = kernel_normalise(a, x, strlen(x)), *ny = kernel_normalise(a, y, strlen(y));

    if ((strcmp(nx, ny) == 0) != same)
        fail_msg("`%s` and `%s` are %s", nx, ny, same ? "different" : "the same");
}

static void test_normalise(void **state)
{
    struct arena *a = arena_open();

    (void)state;
    same_normal(a, "int a = 1; // one\n", "int  a=1 ;\n\n", true);
    same_normal(a, "f(a /* x */, b);", "f ( a,\n   b ) ;", true);
    same_normal(a, "int a = 1;", "int a = 2;", false);
    same_normal(a, "s = \"a  b\";", "s = \"a b\";", false);
    same_normal(a, "#define F(x) x\nint a;", "#define F(x)   x // c\n\n\nint a ;", true);
    same_normal(a, "#define F(x) x\n", "#define F (x) x\n", false);
    same_normal(a, "#define A 1\nint b;", "#define A 1 int b;", false);
    same_normal(a, "a + +b", "a ++ b", false);
    same_normal(a, "", " \n // nothing", true);
    arena_close(a);
}

/* Texts that grow: each must end in a plan or in words, not in the end of the stack, the memory or the
 * patience. */
static void open_hostile(const char *before, const char *unit, int times, const char *after)
{
    struct arena *a = arena_open();
    struct str text = {0};
    struct kernel *k = NULL;
    struct err err = {0};
    struct plan plan;

    str_add(&text, before);
    for (int i = 0; i < times; i++)
        str_add(&text, unit);
    str_add(&text, after);
    if (kernel_open(&k, a, "hostile.cu", text.s, text.len, "go", &err)) {
        struct kernel_value arg = {.type = KT_F32, .pointer = true};

        if (!kernel_plan(&plan, a, k, &arg, NULL, &h200, &err))
            assert_true(err.text[0] && err.line > 0);
        kernel_close(k);
    } else {
        assert_true(err.text[0] && err.line > 0);
    }
    str_free(&text);
    arena_close(a);
}

static void test_hostile(void **state)
{
#define GO "extern \"C\" void go(float *p, cudaStream_t s) { int x = 1, y = 2; bool c = true; "
    (void)state;
    open_hostile(GO "x = ", "1 + ", 5000, "1; }");
    open_hostile(GO "x = ", "(1 + ", 5000, "1; }");
    open_hostile(GO "x = ", "- ", 5000, "1; }");
    open_hostile(GO "x = ", "c ? x : ", 5000, "1; }");
    open_hostile(GO, "if (!c) x = 2; else ", 3000, "x = 3; }");
    open_hostile(GO, "{", 3000, "");
    open_hostile(GO "x = ", "y = ", 3000, "1; }");
    open_hostile(GO "x", "[0]", 3000, "; }");
    open_hostile(GO "x = (", "1, ", 3000, "1); }");
    open_hostile(GO "int ", "*", 3000, "q; }");
    open_hostile(GO, "auto f = [&] { ", 500, "");
    open_hostile(GO, "for (;;) ", 300, "x++; }");
    open_hostile("template <int N> struct V {}; " GO "x = ", "V<", 60, "1 } }");
    open_hostile("template <int N> struct V {}; " GO "x = (", "V<(", 60, "1>(2)) + 1>(2)) }");
    open_hostile("template <int N> int v(); ", "V<v<", 60, GO "x = 3; }");
    open_hostile("", "typedef int t; ", 20000, GO "t x; }");
    open_hostile("", "int f(int a, t b) { return a; } ", 8000, GO "f(1, 2); }");
    open_hostile("", "enum { A, B, C }; ", 8000, GO "x = C; }");
    open_hostile("enum { A", ", A", 8000, "}; " GO "x = A; }");
    open_hostile("#define F(x) x x\n" GO "x = ", "F(", 40, "1");
    open_hostile("#define F(x) (x)\n" GO "x = ", "F(", 40, "1");
    open_hostile("", "#if 1\n", 20000, GO "}");
    open_hostile("#if ", "(", 20000, "\n#endif\n" GO "}");
    open_hostile("#if 1 ", "+ 1 ", 20000, "\n#endif\n" GO "}");
    open_hostile("", "namespace a { ", 20000, GO "}");
    open_hostile("", "extern \"C\" { ", 300, GO "}");
    open_hostile("", "__launch_bounds__(1, ", 200, GO "}");
    open_hostile("", "#define A 1 // astra: tune 1 2\n", 2000, GO "}");
    open_hostile("typedef int a[4]; typedef a b[4]; typedef b c0[4]; typedef c0 d[64][64][64];" GO, "d q; ", 3,
                 "}");
    open_hostile("template <typename T> struct P { T a, b; }; using t0 = P<int>; ", "using t0 = P<t0>; ", 100,
                 GO "x = sizeof(t0); }");
    open_hostile("int f(int n) { return n ? f(n - 1) + f(n - 1) : 1; } " GO, "x = f(30); ", 1, "}");
    open_hostile("__device__ int a(); ", "int b() { return a() + b(); } ", 1500, GO "}");
#undef GO
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),           cmocka_unit_test(test_device_part),
        cmocka_unit_test(test_device_reach),   cmocka_unit_test(test_headers),
        cmocka_unit_test(test_compiler_tests), cmocka_unit_test(test_macro_names),
        cmocka_unit_test(test_normalise),      cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_launchers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
