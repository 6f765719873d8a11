/* Versions of a task that init made, back in the framework's files: on files of our own, in a folder of our
 * own. */
#include "test.h"

#include "export/tree.h"

#include <unistd.h>

static const char framework[] = "#include <torch/all.h>\n"
                                "\n"
                                "namespace tiny {\n"
                                "\n"
                                "// Twice the values.\n"
                                "template <typename T>\n"
                                "__global__ void twice(T* out, const T* in, int n) {\n"
                                "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
                                "#ifdef USE_ROCM\n"
                                "  if (i < n) out[i] = in[i] + in[i];\n"
                                "#else\n"
                                "  if (i < n) out[i] = 2 * in[i];\n"
                                "#endif\n"
                                "}\n"
                                "\n"
                                "}  // namespace tiny\n"
                                "\n"
                                "void twice(torch::Tensor& out, torch::Tensor& in) {\n"
                                "  const int n = in.numel();\n"
                                "  const int grid = (n + 255) / 256;\n"
                                "  DISPATCH(in.scalar_type(), [&] {\n"
                                "    tiny::twice<scalar_t><<<grid, 256, 0, current_stream()>>>(\n"
                                "        out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);\n"
                                "  });\n"
                                "}\n";

#define HEAD      "#include <cstdint>\nnamespace tiny {\n#line 6 \"csrc/twice.cu\"\n"
#define SIGNATURE "template <typename T>\n__global__ void twice(T* out, const T* in, int n) {\n"
#define INDEX     "  const int i = blockIdx.x * 256 + threadIdx.x;\n"
#define REST \
    "               \n                                    \n     \n  if (i < n) out[i] = 2 * in[i];\n      \n}\n"
#define LAUNCHER \
    "}\n#line 15 \"kernel.cu\"\nextern \"C\" void launch_twice(__half *out, const __half *in, int n, cudaStream_t stream)\n{\n"
#define GRID   "    const int grid = (n + 255) / 256;\n"
#define OPEN   "    {\n        using scalar_t = __half;\n"
#define LAUNCH "        tiny::twice<scalar_t><<<grid, 256, 0, stream>>>(out, in, n);\n"
#define CLOSE  "    }\n}\n"

static const char was[] = HEAD SIGNATURE INDEX REST LAUNCHER GRID OPEN LAUNCH CLOSE;

static char *origin_of(struct arena *a, const char *path, const char *text)
{
    char hex[65];

    hash_sha256_hex(text, strlen(text), hex);
    return arena_printf(a,
                        "{\"kernel\": \"tiny::twice\", \"entry\": \"launch_twice\", \"root\": \"/nowhere\", "
                        "\"files\": [{\"path\": \"%s\", \"sha256\": \"%s\"}]}",
                        path, hex);
}

struct placed {
    struct arena *arena;
    char *root;
    const char *text; /* the file with the version */
    struct tree tree;
    struct err err;
};

static bool place(struct placed *p, const char *now, const char *condition)
{
    struct err err = {0};
    bool ok;

    *p = (struct placed){.arena = arena_open()};
    p->root = fs_temp_dir(p->arena, &err);
    assert_ok(fs_mkdirs(fs_join(p->arena, p->root, "csrc"), &err), err);
    assert_ok(fs_write_text(fs_join(p->arena, p->root, "csrc/twice.cu"), framework, &err), err);
    ok = tree_open(&p->tree, p->arena, origin_of(p->arena, "csrc/twice.cu", framework), p->root, &p->err) &&
         tree_place(&p->tree, &(struct tree_version){"kernel.cu", was},
                    &(struct tree_version){"kernel.cu", now}, &p->err);
    if (!ok)
        return false;
    if (condition)
        tree_guard(&p->tree, &condition, 1);
    p->text = edits_apply(&p->tree.files.v[0].edits, p->arena, framework, strlen(framework));
    return true;
}

static void end(struct placed *p)
{
    fs_remove_tree(p->root);
    arena_close(p->arena);
}

/* The framework's file with `old` once replaced. */
static void expect_change(const char *now, const char *old, const char *new)
{
    struct placed p;
    const char *at = strstr(framework, old);

    assert_non_null(at);
    assert_ok(place(&p, now, NULL), p.err);
    assert_string_equal(
        p.text, arena_printf(p.arena, "%.*s%s%s", (int)(at - framework), framework, new, at + strlen(old)));
    assert_int_equal(p.tree.words.n, 0);
    end(&p);
}

static void a_line_of_the_kernel(void **state)
{
    (void)state;
    expect_change(
        HEAD SIGNATURE
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" REST LAUNCHER GRID OPEN LAUNCH CLOSE,
        INDEX, "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n");
}

static void a_new_function_stands_before_the_kernel(void **state)
{
    (void)state;
    expect_change("#include <cstdint>\nnamespace tiny {\n// Of two.\n__device__ int two() { return 2; }\n\n"
                  "#line 6 \"csrc/twice.cu\"\n" SIGNATURE INDEX REST LAUNCHER GRID OPEN LAUNCH CLOSE,
                  "// Twice the values.\n",
                  "// Of two.\n__device__ int two() { return 2; }\n\n// Twice the values.\n");
}

static void an_include_stands_behind_the_others(void **state)
{
    (void)state;
    expect_change("#include <cuda_pipeline.h>\n" HEAD SIGNATURE INDEX REST LAUNCHER GRID OPEN LAUNCH CLOSE,
                  "#include <torch/all.h>\n", "#include <torch/all.h>\n#include <cuda_pipeline.h>\n");
}

static void a_statement_of_the_host(void **state)
{
    (void)state;
    expect_change(HEAD SIGNATURE INDEX REST LAUNCHER
                  "    const int grid = (n + 511) / 512;\n" OPEN LAUNCH CLOSE,
                  "const int grid = (n + 255) / 256;", "const int grid = (n + 511) / 512;");
}

static void a_launch_keeps_the_words_of_the_host(void **state)
{
    (void)state;
    expect_change(HEAD SIGNATURE INDEX REST LAUNCHER GRID OPEN
                  "        tiny::twice<scalar_t><<<grid, 512, 0, stream>>>(out, in, n);\n" CLOSE,
                  "tiny::twice<scalar_t><<<grid, 256, 0, current_stream()>>>(\n"
                  "        out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);",
                  "tiny::twice<scalar_t><<<grid, 512, 0, current_stream()>>>(out.data_ptr<scalar_t>(), "
                  "in.data_ptr<scalar_t>(), n);");
}

static void a_launch_that_becomes_two(void **state)
{
    (void)state;
    expect_change(
        HEAD SIGNATURE INDEX REST LAUNCHER GRID OPEN
        "        if (n % 2 == 0)\n            tiny::twice<scalar_t><<<grid, 128, 0, stream>>>(out, in, n);\n"
        "        else\n            tiny::twice<scalar_t><<<grid, 256, 0, stream>>>(out, in, n);\n" CLOSE,
        "tiny::twice<scalar_t><<<grid, 256, 0, current_stream()>>>(\n"
        "        out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);",
        "if (n % 2 == 0)\n            tiny::twice<scalar_t><<<grid, 128, 0, "
        "current_stream()>>>(out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);\n"
        "        else\n            tiny::twice<scalar_t><<<grid, 256, 0, "
        "current_stream()>>>(out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);");
}

static void what_the_host_cannot_say_is_said_in_words(void **state)
{
    struct placed p;

    (void)state;
    assert_ok(place(&p,
                    HEAD SIGNATURE INDEX REST LAUNCHER GRID OPEN
                    "        tiny::twice<scalar_t><<<grid, 256, 0, stream>>>(out + 1, in, n);\n" CLOSE,
                    NULL),
              p.err);
    assert_string_equal(p.text, framework);
    assert_int_equal(p.tree.words.n, 1);
    assert_non_null(strstr(p.tree.words.v[0], "By hand, at csrc/twice.cu:22: "));
    assert_non_null(strstr(p.tree.words.v[0], "`out` is a name of the task's launcher"));
    end(&p);
}

static void guards(void **state)
{
    struct placed p;

    (void)state;
    assert_ok(place(&p, was, "n % 4 == 0"), p.err);
    assert_string_equal(p.text, framework); /* the host has no check to do it with */
    assert_non_null(strstr(p.tree.words.v[0], "only where n % 4 == 0"));
    end(&p);
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *path, *text, *words;
    } list[] = {{"csrc/twice.cu", "another", "is not what `astra init` read"},
                {"csrc/gone.cu", framework, "No such file"},
                {"/etc/passwd", framework, "not below the tree's root"},
                {"../other.cu", framework, "leads out of the tree"},
                {"csrc/link.cu", framework, "leads out of the tree"}};
    struct placed p;
    struct err err = {0};

    (void)state;
    assert_ok(place(&p, was, NULL), p.err);
    assert_ok(fs_mkdirs(fs_join(p.arena, p.root, "tree/csrc"), &err), err);
    assert_ok(fs_write_text(fs_join(p.arena, p.root, "other.cu"), framework, &err), err);
    assert_ok(fs_write_text(fs_join(p.arena, p.root, "tree/csrc/twice.cu"), framework, &err), err);
    assert_int_equal(symlink("../../other.cu", fs_join(p.arena, p.root, "tree/csrc/link.cu")), 0);
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        assert_false(tree_open(&p.tree, p.arena, origin_of(p.arena, list[i].path, list[i].text),
                               fs_join(p.arena, p.root, "tree"), &err));
        if (!strstr(err.text, list[i].words))
            fail_msg("%s: %s", list[i].path, err.text);
    }
    end(&p);
    /* another task's source: no error of place, and nothing is patched */
    assert_false(place(&p, "#include <cstdint>\n__global__ void other() {}\n", NULL));
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_the_kernel),
        cmocka_unit_test(a_new_function_stands_before_the_kernel),
        cmocka_unit_test(an_include_stands_behind_the_others),
        cmocka_unit_test(a_statement_of_the_host),
        cmocka_unit_test(a_launch_keeps_the_words_of_the_host),
        cmocka_unit_test(a_launch_that_becomes_two),
        cmocka_unit_test(what_the_host_cannot_say_is_said_in_words),
        cmocka_unit_test(guards),
        cmocka_unit_test(what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
