/* What is here, what is missing, and how to get it. */
#include "cmd/cmd.h"
#include "gpu/gpu.h"

#include <unistd.h>

static void add_program(const char *name, const char *what, json_t *found, struct str *out)
{
    const char *argv[] = {name, "--version", NULL};
    struct proc_result r = {0};
    struct proc_limits limits = {.wall_s = 10};
    struct err err;
    bool here = proc_run(argv, NULL, &limits, &r, &err) && r.end == PROC_EXITED && r.status == 0;

    json_put_flag(found, name, here);
    str_addf(out, "%-12s %s  %s\n", name, here ? "found  " : "missing", what);
    str_free(&r.out);
    str_free(&r.err);
}

int cmd_doctor(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct str out = {0};
    struct err err = {0};
    struct nvrtc *n = NULL;
    const struct ptx_device *devices;
    const char *path, *include;
    json_t *o = json_object(), *list = json_array();
    int major, minor, status;
    bool ok = nvrtc_open(&n, &err);

    json_put_text(o, "astra", ASTRA_VERSION);
    if (ok) {
        nvrtc_version(n, &major, &minor, &path, &include);
        str_addf(&out, "%-12s found    %d.%d, %s\n%-12s %s  %s\n", "NVRTC", major, minor, path, "headers",
                 include ? "found  " : "missing",
                 include ? include : "the toolkit's include folder, for cuda_fp16.h and cuda_bf16.h");
        json_put_text(o, "nvrtc", path);
        json_put_text(o, "nvrtc_version", arena_printf(a, "%d.%d", major, minor));
        json_put_text(o, "headers", include);
    } else {
        str_addf(&out, "%-12s missing  %s\n", "NVRTC", err.text);
        json_put_text(o, "nvrtc", NULL);
    }
    nvrtc_close(n);
    add_program("nvcc", "optional: checks that the final file passes it too", o, &out);
    add_program("diff", "needed for patches (package diffutils)", o, &out);
    str_addf(&out, "%-12s %ld, so %ld worker process%s by default\n", "cores", sysconf(_SC_NPROCESSORS_ONLN),
             MIN(sysconf(_SC_NPROCESSORS_ONLN), 8), sysconf(_SC_NPROCESSORS_ONLN) == 1 ? "" : "es");
    str_addf(&out, "%-12s not used by this version: every figure is modelled, none measured\n", "GPU");
    str_add(&out, "simulated devices:\n");
    for (size_t i = 0, k = ptx_device_list(&devices); i < k; i++) {
        str_addf(&out, "  sim:%-12s %s, %d SMs%s\n", devices[i].name, devices[i].full_name, devices[i].sm_count,
                 devices[i].validated ? "" : "; its times are not validated");
        json_array_append_new(list, json_string(devices[i].name));
    }
    json_put(o, "devices", list);
    json_put_flag(o, "ready", ok);
    if (!ok)
        str_add(&out, "\nWithout NVRTC no kernel can be compiled.\n");
    if (args->json) {
        str_clear(&out);
        str_addf(&out, "%s\n", json_pretty(a, o));
    }
    status = !cmd_print(str_text(&out), &err) ? cmd_fail(&err) : ok ? EXIT_OK : EXIT_WORLD;
    json_decref(o);
    str_free(&out);
    arena_close(a);
    return status;
}
