#include "test.h"

#include "source/source.h"

static struct source *open_text(const char *text)
{
    struct source *s = NULL;
    struct err err = {0};

    assert_ok(source_open(&s, "t.cu", text, strlen(text), &err), err);
    return s;
}

static void test_nodes(void **state)
{
    static const char text[] = "// first\nconstexpr int N = 4;\n"
                               "__global__ void f(float *p, int n)\n{\n"
                               "    for (int i = 0; i < n; i++)\n        p[i] = p[i] * 2.0f;\n}\n"
                               "extern \"C\" void go(float *p, int n, cudaStream_t s)\n{\n"
                               "    f<<<n, 128, 0, s>>>(p, n);\n}\n";
    struct source *s = open_text(text);
    struct arena *a = arena_open();
    struct node root = source_root(s), *found, call, f;
    size_t n;

    (void)state;
    assert_string_equal(source_path(s), "t.cu");
    assert_string_equal(source_text(s), text);
    assert_int_equal(source_len(s), strlen(text));
    assert_string_equal(node_word(root), "translation_unit");
    assert_false(node_has_error(root));
    found = node_find_all(a, root, NODE_SUBSCRIPT_EXPRESSION, &n);
    assert_int_equal(n, 2);
    assert_true(node_text_is(s, found[0], "p[i]"));
    assert_int_equal(node_line(s, found[0]), 6);
    assert_int_equal(node_col(s, found[0]), 9);
    assert_true(node_start(found[0]) < node_start(found[1]));
    found = node_find_all(a, root, NODE_KERNEL_CALL_SYNTAX, &n);
    assert_int_equal(n, 1);
    call = node_parent(found[0]);
    assert_string_equal(node_word(call), "call_expression");
    assert_string_equal(node_text(a, s, node_field(call, FIELD_FUNCTION)), "f");
    assert_true(node_same(node_at(s, node_start(call), node_end(call)), call) ||
                node_is(node_at(s, node_start(call), node_end(call)), NODE_CALL_EXPRESSION));
    f = node_child(root, 2);
    assert_string_equal(node_word(f), "function_definition");
    assert_true(node_same(node_prev(node_next(f)), f));
    assert_false(node_ok(node_field(f, FIELD_CONDITION)));
    assert_false(node_ok(node_child(f, 99)));
    assert_string_equal(node_word(node_child(f, 99)), "");
    arena_close(a);
    source_close(s);
}

static bool skip_functions(void *context, struct node n)
{
    ++*(int *)context;
    return !node_is(n, NODE_FUNCTION_DEFINITION);
}

static void test_walk(void **state)
{
    struct source *s = open_text("int a; int f(int x) { return x; } int b;");
    int visited = 0;

    (void)state;
    node_walk(source_root(s), skip_functions, &visited);
    assert_int_equal(visited, 1 + 3 + 1 + 3); /* the unit, a declaration with two children, f, another */
    source_close(s);
}

/* Each alone must parse without errors, and the text that callers see is the one they gave. */
static void test_mask(void **state)
{
    static const char *const texts[] = {
        "struct __align__(16) v { float x, y, z, w; };",
        "typedef struct __align__(8) { float x, y; } v2;",
        "__shared__ __align__(sizeof(float4) * (2)) float s[4];",
        "__global__ void __launch_bounds__(256, 2, 1) f(int n) { }",
        "__global__ void __launch_bounds__(MAX(256, 128), 2) f(int n) { }",
        "__global__ void __cluster_dims__(2, 1, 1) f(int n) { }",
        "__global__ __maxnreg__(64) void f(int n) { }",
        "void g() { auto h = [=] __device__ (int i) { return i; }; }",
        "void g() { auto h = [&] __host__ __device__ (int i) { return i; }; }",
        "const char *s = R\"x(__align__(8) \" ( )x\"; struct __align__(8) q { int a; };",
        "void g(int x) { if (x) x = 1; else\n#pragma unroll 4\n for (int i = 0; i < 4; i++) x++; }",
        "template <typename T> void g(int x) { typename T::Load(x).Load(x); typename T::value y = x; }",
        "int n = 1'000'000; struct __align__(8) q { int a; };",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct source *s = open_text(texts[i]);

        if (node_has_error(source_root(s)))
            fail_msg("does not parse: %s", texts[i]);
        assert_string_equal(source_text(s), texts[i]);
        source_close(s);
    }
}

static void test_refused(void **state)
{
    struct source *s = NULL;
    struct err err = {0};
    struct str text = {0};

    (void)state;
    assert_false(source_open(&s, "t.cu", "int a;\nint\0b;", 12, &err));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.col, 4);
    for (int i = 0; i < 100000; i++)
        str_addc(&text, '(');
    assert_false(source_open(&s, "t.cu", text.s, text.len, &err));
    assert_non_null(strstr(err.text, "nest"));
    str_clear(&text);
    str_add(&text, "int a = ");
    for (int i = 0; i < 20000; i++)
        str_add(&text, i ? "- ~" : "1 ");
    str_add(&text, "1;");
    assert_false(source_open(&s, "t.cu", text.s, text.len, &err));
    str_clear(&text);
    for (int i = 0; i < 5 << 20; i++)
        str_addc(&text, ' ');
    assert_false(source_open(&s, "t.cu", text.s, text.len, &err));
    assert_non_null(strstr(err.text, "bytes"));
    str_free(&text);
    s = open_text("");
    assert_int_equal(node_count(source_root(s)), 0);
    source_close(s);
    s = open_text("}} <<< int (((\xff\xfe __align__( R\"(");
    assert_true(node_has_error(source_root(s)));
    source_close(s);
}

static void test_edits(void **state)
{
    struct arena *a = arena_open();
    struct edits e = {.arena = a};
    char *out;

    (void)state;
    edits_replace(&e, 4, 7, "two");
    edits_insert(&e, 0, ">");
    edits_insert(&e, 0, ">");
    edits_insert(&e, 4, "a ");
    edits_insert(&e, 4, "b ");
    edits_insert(&e, 13, "<");
    edits_replace(&e, 7, 8, "");
    out = edits_apply(&e, a, "one TWO three", 13);
    assert_string_equal(out, ">>one a b twothree<");
    e = (struct edits){.arena = a};
    assert_string_equal(edits_apply(&e, a, "same", 4), "same");
    for (size_t i = 0; i < 100; i++)
        edits_replace(&e, 99 - i, 100 - i, i % 2 ? "x" : "yz");
    assert_int_equal(strlen(edits_apply(&e, a, out = arena_printf(a, "%0100d", 0), 100)), 150);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),   cmocka_unit_test(test_walk),  cmocka_unit_test(test_mask),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_edits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
