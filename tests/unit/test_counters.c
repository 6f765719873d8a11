#include "test.h"

#include <sys/stat.h>

#include "gpu/gpu.h"

/* As Nsight Compute 2025.3 prints them, cut to a few columns. */
static const char raw[] =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"lts__t_sector_hit_rate.pct\"\n"
    "\"\",\"\",\"\",\"byte\",\"ns\",\"%\"\n"
    "\"0\",\"539\",\"_Z4siluPK6__half\",\"2,102,528\",\"31,456\",\"66.25\"\n"
    "\"1\",\"539\",\"_Z5otherPf\",\"0\",\"1,216.5\",\"n/a\"\n";
static const char source[] =
    "\"Kernel Name\",\"_Z4siluPK6__half\",\n"
    "\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Thread Instructions Executed\",\"L1 Tag Requests Global\","
    "\"L2 Theoretical Sectors Global\",\"L2 Theoretical Sectors Global Ideal\"\n"
    "\"0x7fa11f7a0a00\",\"      LDC R1, c[0x0][0x28]\",\"8\",\"256\",\"8192\",\"0\",\"0\",\"0\"\n"
    "\"0x7fa11f7a0a10\",\"      LDG.E.U16 R0, desc[UR8][R16.64] \"\"quoted\"\"\",\"11\",\"16384\",\"524288\",\"16384\",\"32768\",\"32768\"\n"
    "\"Kernel Name\",\"_Z5otherPf\",\n"
    "\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\"\n"
    "\"0x7fa11f7a0c00\",\"      EXIT\",\"1\",\"4\"\n";

static void test_read(void **state)
{
    struct arena *a = arena_open();
    struct counted_run r;
    struct err err = {0};

    (void)state;
    assert_ok(ncu_read(a, raw, strlen(raw), source, strlen(source), &r, &err), err);
    assert_int_equal(r.n_launches, 2);
    assert_string_equal(r.launches[0].kernel, "_Z4siluPK6__half");
    assert_true(r.launches[0].v[COUNTER_dram_read_bytes] == 2102528);
    assert_true(r.launches[0].v[COUNTER_time_ns] == 31456);
    assert_true(r.launches[0].v[COUNTER_l2_hit_pct] == 66.25);
    assert_true(isnan(r.launches[0].v[COUNTER_insns]));
    assert_true(r.launches[1].v[COUNTER_time_ns] == 1216.5);
    assert_true(isnan(r.launches[1].v[COUNTER_l2_hit_pct]));
    assert_int_equal(r.launches[0].n_insns, 2);
    assert_true(r.launches[0].insns[1].samples == 11 && r.launches[0].insns[1].threads == 524288);
    assert_true(r.launches[0].insns[1].requests == 16384 && r.launches[0].insns[1].sectors == 32768);
    assert_int_equal(r.launches[1].n_insns, 1);
    assert_true(r.launches[1].insns[0].warps == 4 && r.launches[1].insns[0].sectors == 0);
    assert_false(ncu_read(a, source, strlen(source), raw, strlen(raw), &r, &err));
    arena_close(a);
}

static void test_any_bytes(void **state)
{
    struct rng r = {5};

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct arena *a = arena_open();
        struct counted_run found;
        size_t raw_len = rng_below(&r, sizeof(raw)), source_len = rng_below(&r, sizeof(source));
        char *x = mem_alloc(raw_len + 1), *y = mem_alloc(source_len + 1);
        memcpy(x, raw, raw_len);
        memcpy(y, source, source_len);
        for (int k = 0; k < 4; k++) {
            x[rng_below(&r, raw_len + 1)] = (char)rng_next(&r);
            y[rng_below(&r, source_len + 1)] = (char)rng_next(&r);
        }
        ncu_read(a, x, raw_len, y, source_len, &found, NULL);
        free(x);
        free(y);
        arena_close(a);
    }
}

/* A script in the profiler's or the sanitizer's place. */
static char *script(struct arena *a, const char *dir, const char *body)
{
    char *path = fs_join(a, dir, "tool"), *text = arena_printf(a, "#!/bin/sh\n%s\n", body);

    assert_true(fs_write_text(path, text, NULL));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static const char *const program[] = {"/bin/true", NULL};

static void test_run(void **state)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *dir = fs_temp_dir(a, &err);
    struct counted_run r;

    (void)state;
    assert_non_null(dir);
    assert_true(fs_write_text(fs_join(a, dir, "raw"), raw, NULL));
    assert_true(fs_write_text(fs_join(a, dir, "source"), source, NULL));
    /* writes its report where -o says, prints the page asked for */
    setenv(
        "ASTRA_NCU",
        script(a, dir,
               arena_printf(a,
                            "case \"$*\" in *--clock-control\\ none*) : ;; *--import*) : ;; *) exit 9 ;; esac\n"
                            "case \"$*\" in *'--page raw'*) cat %s/raw ;; *'--page source'*) cat %s/source ;;\n"
                            "*) while [ \"$1\" != -o ]; do shift; done; echo x >\"$2.ncu-rep\" ;; esac",
                            dir, dir)),
        1);
    assert_ok(ncu_run(a, program, dir, 20, &r, &err), err);
    assert_null(r.why_not);
    assert_int_equal(r.n_launches, 2);
    assert_int_equal(r.launches[0].n_insns, 2);

    script(a, dir, "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; exit 1");
    assert_ok(ncu_run(a, program, dir, 20, &r, &err), err);
    assert_int_equal(r.n_launches, 0);
    assert_non_null(strstr(r.why_not, "NVreg_RestrictProfilingToAdminUsers"));

    script(a, dir, "echo '==ERROR== something of its own'; exit 3");
    assert_ok(ncu_run(a, program, dir, 20, &r, &err), err);
    assert_non_null(strstr(r.why_not, "something of its own"));

    setenv("ASTRA_NCU", "/nowhere/ncu", 1);
    assert_ok(ncu_run(a, program, dir, 20, &r, &err), err);
    assert_non_null(strstr(r.why_not, "no ncu"));
    fs_remove_tree(dir);
    arena_close(a);
}

static const char overrun[] = "========= COMPUTE-SANITIZER\n"
                              "case: rows=3 d=5\n"
                              "========= Invalid __global__ write of size 4 bytes\n"
                              "=========     at bad(float *, int)+0x160 in kernel.cu:15\n"
                              "=========     by thread (5,0,0) in block (0,0,0)\n"
                              "=========     Access to 0x7f65cab0100c is out of bounds\n"
                              "========= \n"
                              "case: rows=4 d=5\n"
                              "========= ERROR SUMMARY: 2 errors\n";

static void test_sanitizer(void **state)
{
    struct arena *a = arena_open();
    struct err err = {0};
    char *dir = fs_temp_dir(a, &err);
    struct memcheck_result r;

    (void)state;
    assert_non_null(dir);
    memcheck_read(a, overrun, "some/kernel.cu", &r);
    assert_string_equal(r.found, "Invalid __global__ write of size 4 bytes");
    assert_int_equal(r.line, 15);
    assert_string_equal(r.printed, "case: rows=3 d=5");
    memcheck_read(a, overrun, "other.cu", &r);
    assert_int_equal(r.line, 0);

    assert_true(fs_write_text(fs_join(a, dir, "said"), overrun, NULL));
    setenv("ASTRA_COMPUTE_SANITIZER", script(a, dir, arena_printf(a, "cat %s/said; exit 77", dir)), 1);
    assert_ok(memcheck_run(a, "memcheck", program, "kernel.cu", 20, &r, &err), err);
    assert_int_equal(r.line, 15);
    assert_null(r.why_not);
    script(a, dir, "echo '========= COMPUTE-SANITIZER'; echo '========= ERROR SUMMARY: 0 errors'; exit 0");
    assert_ok(memcheck_run(a, "racecheck", program, "kernel.cu", 20, &r, &err), err);
    assert_null(r.found);
    assert_null(r.why_not);
    script(a, dir, "echo '========= Error: Device not supported'; exit 1");
    assert_ok(memcheck_run(a, "racecheck", program, "kernel.cu", 20, &r, &err), err);
    assert_null(r.found);
    assert_non_null(strstr(r.why_not, "not supported"));
    script(a, dir, "sleep 30");
    assert_ok(memcheck_run(a, "racecheck", program, "kernel.cu", 0.2, &r, &err), err);
    assert_non_null(strstr(r.why_not, "more than"));
    setenv("ASTRA_COMPUTE_SANITIZER", "/nowhere", 1);
    assert_ok(memcheck_run(a, "racecheck", program, "kernel.cu", 20, &r, &err), err);
    assert_non_null(strstr(r.why_not, "no compute-sanitizer"));
    fs_remove_tree(dir);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_sanitizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
