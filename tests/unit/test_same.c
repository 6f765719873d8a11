/* Two texts of PTX: the same but for names and order, or not. */
#include "ptx/ptx.h"
#include "test.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define LEAF(name, op)                                                                                     \
    ".func (.param .b32 func_retval0) " name "(\n.param .b32 " name "_param_0\n)\n{\n\t.reg .b32 %r<3>;\n" \
    "\tld.param.u32 %r1, [" name "_param_0];\n\t" op " %r2, %r1, 1;\n"                                     \
    "\tst.param.b32 [func_retval0+0], %r2;\n\tret;\n}\n"
#define TABLE(name, value) ".const .align 4 .u32 " name " = " value ";\n"
#define KERNEL(name, leaf, table, label)                                                                      \
    ".visible .entry " name "(\n.param .u32 " name "_param_0\n)\n{\n\t.reg .b32 %r<4>;\n\t.loc 1 3 4\n" label \
    ":\n\tld.const.u32 %r1, [" table "];\n\tcall.uni (retval0), " leaf ", (param0);\n\tbra " label            \
    ";\n\tret;\n}\n"

static const char plain[] = HEAD LEAF("_Zf", "add.s32") TABLE("_Zt", "7") KERNEL("_Zk", "_Zf", "_Zt", "$L__0");

static bool same(const char *y, const char *kernel)
{
    const struct ptx_text a = {plain, strlen(plain)}, b = {y, strlen(y)};
    const struct ptx_kernel_pair pair = {"_Zk", kernel};
    bool is = ptx_same(&a, &b, &pair, 1);
    const struct ptx_kernel_pair back = {kernel, "_Zk"};

    assert_int_equal(is, ptx_same(&b, &a, &back, 1));
    return is;
}

static void names_and_order_count_for_nothing(void **state)
{
    (void)state;
    assert_true(same(plain, "_Zk"));
    assert_true(same(HEAD TABLE("_Zu_1", "7") LEAF("_Zg_1", "add.s32") LEAF("_Zh", "sub.s32")
                         KERNEL("_Zk_1", "_Zg_1", "_Zu_1", "$L__9") ".section .debug_str\n{\n\t.b8 1\n}\n",
                     "_Zk_1"));
    assert_true(same(HEAD TABLE("_Zt", "7") "// .func\n/* } */" LEAF("_Zf", "add.s32")
                         KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
                     "_Zk"));
}

static void all_else_counts(void **state)
{
    static const char *const others[] = {
        HEAD LEAF("_Zf", "sub.s32") TABLE("_Zt", "7") KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD LEAF("_Zf", "add.s32") TABLE("_Zt", "8") KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD LEAF("_Zf", "add.s32") TABLE("_Zt", "7") LEAF("_Zg", "sub.s32")
            KERNEL("_Zk", "_Zg", "_Zt", "$L__0"),
        HEAD TABLE("_Zt", "7") KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD ".extern .const .align 4 .u32 _Zt;\n" LEAF("_Zf", "add.s32") KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD LEAF("_Zf", "add.s32") LEAF("_Zf", "add.s32") TABLE("_Zt", "7")
            KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD LEAF("_Zf", "add.s32") TABLE("_Zt", "7") KERNEL("_Zk", "_Zf", "_Zt", "$L__0") ".alias _Za, _Zf;\n",
        ".target sm_80\n" LEAF("_Zf", "add.s32") TABLE("_Zt", "7") KERNEL("_Zk", "_Zf", "_Zt", "$L__0"),
        HEAD LEAF("_Zf", "add.s32") TABLE("_Zt", "7"),
        "",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (same(others[i], "_Zk"))
            fail_msg("the same: %s", others[i]);
}

/* One name for two, or two for one. */
static void names_stand_for_one_thing(void **state)
{
    static const char two[] = HEAD ".global .u32 _Za;\n.global .u32 _Zb;\n.entry _Zk()\n{\n\tst.u32 [_Za], "
                                   "1;\n\tst.u32 [_Zb], 2;\n}\n",
                      one[] = HEAD
                      ".global .u32 _Za;\n.entry _Zk()\n{\n\tst.u32 [_Za], 1;\n\tst.u32 [_Za], 2;\n}\n";
    const struct ptx_text x = {two, strlen(two)}, y = {one, strlen(one)};
    const struct ptx_kernel_pair pair = {"_Zk", "_Zk"};
    (void)state;
    assert_false(ptx_same(&x, &y, &pair, 1));
    assert_false(ptx_same(&y, &x, &pair, 1));
    assert_true(ptx_same(&x, &x, &pair, 1));
}

static void any_bytes_come(void **state)
{
    struct rng r = {3};
    char text[sizeof(plain)];
    (void)state;
    for (int i = 0; i < 4000; i++) {
        memcpy(text, plain, sizeof(text));
        for (uint64_t k = 1 + rng_below(&r, 5); k > 0; k--)
            text[rng_below(&r, sizeof(text) - 1)] = "{}();,.\"_$ \n/*a"[rng_below(&r, 15)];
        const struct ptx_text a = {plain, strlen(plain)}, b = {text, rng_below(&r, sizeof(text))};
        const struct ptx_kernel_pair pair = {"_Zk", "_Zk"};
        ptx_same(&a, &b, &pair, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_order_count_for_nothing),
        cmocka_unit_test(all_else_counts),
        cmocka_unit_test(names_stand_for_one_thing),
        cmocka_unit_test(any_bytes_come),
    };

    return cmocka_run_group_tests_name("same", tests, NULL, NULL);
}
