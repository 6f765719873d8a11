/* What is here, what is missing, and how to get it. */
#include "cmd/cmd.h"
#include "gpu/gpu.h"
#include "llm/llm.h"

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
    proc_result_free(&r);
}

static const char *throttle_text(struct arena *a, uint64_t reasons)
{
    static const struct {
        uint64_t bit;
        const char *what;
    } known[] = {{0x4, "power cap"},         {0x8, "hardware slowdown"}, {0x20, "software thermal"},
                 {0x40, "hardware thermal"}, {0x80, "power brake"},      {0x100, "display clocks"}};
    struct str s = {.arena = a};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (reasons & known[i].bit)
            str_addf(&s, "%s%s", s.len ? ", " : "", known[i].what);
    return s.len ? str_take(&s, a) : NULL;
}

/* NVML calls clocks and reasons what they are at this moment: an idle GPU's are low. */
static void add_gpu(struct arena *a, int index, int nvrtc_version, json_t *list, struct str *out)
{
    struct err err = {0};
    struct cuda *c;
    json_t *o = json_object();

    json_put_int(o, "index", index);
    json_array_append_new(list, o);
    if (!cuda_open(&c, index, &err)) {
        str_addf(out, "  cuda:%-6d cannot be used: %s\n", index, err.text);
        json_put_text(o, "error", err.text);
        return;
    }
    const struct cuda_info *g = cuda_info(c);
    struct cuda_clocks k;
    cuda_clocks(c, &k);
    str_addf(out, "  cuda:%-6d %s (%s), %.1f of %.1f GiB free, %s\n", index, g->name, g->arch,
             (double)g->free_bytes / (1 << 30), (double)g->total_bytes / (1 << 30),
             g->same_model ? arena_printf(a, "simulated beside it as sim:%s", g->model)
                           : arena_printf(a, "no model of it: sim:%s stands in", g->model));
    if (k.known) {
        const char *throttled = throttle_text(a, k.throttle_reasons);
        str_addf(out, "  %-11s SM %u MHz, memory %u MHz now, %u C, %u W%s%s\n", "", k.sm_mhz, k.memory_mhz,
                 k.temperature_c, k.power_w, throttled ? "; THROTTLED: " : "", throttled ? throttled : "");
    } else {
        str_addf(out, "  %-11s NVML says nothing of its clocks: a throttled GPU will not be noticed\n", "");
    }
    if (g->other_processes > 0)
        str_addf(out,
                 "  %-11s %d other process%s computing on it: times will be noisy; wait, or take another\n", "",
                 g->other_processes, g->other_processes == 1 ? " is" : "es are");
    if (!g->vmm)
        str_addf(out, "  %-11s no virtual memory management: buffer ends are guarded by canaries alone\n", "");
    if (nvrtc_version > 0 && g->driver_cuda / 1000 < nvrtc_version / 1000)
        str_addf(
            out,
            "  %-11s the driver speaks CUDA %d.%d, older than NVRTC %d.%d: update the driver, or name an older "
            "NVRTC in ASTRA_NVRTC\n",
            "", g->driver_cuda / 1000, g->driver_cuda % 1000 / 10, nvrtc_version / 1000,
            nvrtc_version % 1000 / 10);
    json_put_text(o, "name", g->name);
    json_put_text(o, "uuid", g->uuid);
    json_put_text(o, "arch", g->arch);
    json_put_text(o, "model", g->model);
    json_put_flag(o, "same_model", g->same_model);
    json_put_flag(o, "vmm", g->vmm);
    json_put(o, "sm_mhz", k.known ? json_integer(k.sm_mhz) : json_null());
    json_put(o, "memory_mhz", k.known ? json_integer(k.memory_mhz) : json_null());
    json_put_int(o, "throttle_reasons", (int64_t)k.throttle_reasons);
    json_put(o, "other_processes", g->other_processes < 0 ? json_null() : json_integer(g->other_processes));
    cuda_close(c);
}

/* The driver says who may read counters; a container's user may be root and still not. */
static const char *counters_words(struct arena *a, bool *usable)
{
    const char *path = ncu_path(a);
    char *params;

    *usable = false;
    if (!path)
        return "missing  ncu (Nsight Compute): counters are the simulator's; install it or name it in ASTRA_NCU";
    if (geteuid() != 0 && fs_read(a, "/proc/driver/nvidia/params", &params, NULL, NULL) &&
        strstr(params, "RmProfilingAdminOnly: 1"))
        return "refused  only root may read this GPU's counters: run as root, or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    *usable = true;
    return arena_printf(a, "found    %s", path);
}

static void add_gpus(struct arena *a, int nvrtc_version, json_t *o, struct str *out)
{
    const char *words = NULL, *sanitizer = memcheck_path(a), *cublas = NULL;
    json_t *list = json_array();
    int n = cuda_count(a, &words);
    bool counters = false;

    if (n == 0)
        str_addf(out, "%-12s none     %s\n%-12s          --device sim is used: every figure is modelled\n",
                 "GPU", words ? words : "the driver shows none", "");
    else
        str_addf(out, "%-12s %d\n", n == 1 ? "GPU" : "GPUs", n);
    for (int i = 0; i < n; i++)
        add_gpu(a, i, nvrtc_version, list, out);
    json_put(o, "gpus", list);
    json_put_text(o, "gpu_words", words);
    if (n > 0) {
        str_addf(out, "%-12s %s\n", "counters", counters_words(a, &counters));
        str_addf(
            out, "%-12s %s\n", "sanitizer",
            sanitizer
                ? arena_printf(a, "found    %s", sanitizer)
                : "missing  compute-sanitizer: the last gate is left out; it comes with the toolkit, or name it "
                  "in ASTRA_COMPUTE_SANITIZER");
        cublas_look(a, &cublas, NULL);
        str_addf(out, "%-12s %s\n", "cuBLAS",
                 cublas ? arena_printf(a, "found    %s", cublas)
                        : "missing  libcublas.so: no --beside cublas; it comes with the toolkit, or name it in "
                          "ASTRA_CUBLAS");
    }
    json_put_text(o, "cublas", cublas);
    json_put_flag(o, "counters", counters);
    json_put_text(o, "compute_sanitizer", sanitizer);
}

/* What a worker is shut in with. */
static void add_sandbox(json_t *o, struct str *out)
{
    const char *off = getenv("ASTRA_SANDBOX");
    struct sandbox_kernel k;

    sandbox_kernel(&k);
    json_put(o, "landlock", k.landlock ? json_integer(k.landlock) : json_null());
    json_put_flag(o, "seccomp", k.seccomp);
    json_put_flag(o, "sandbox", !str_eq(off, "off"));
    str_addf(out, "%-12s ", "sandbox");
    if (str_eq(off, "off"))
        str_add(out, "off      ASTRA_SANDBOX=off: workers may reach files and network; every result says so\n");
    else if (k.landlock && k.seccomp)
        str_addf(out, "found    Landlock (ABI %d) fences files, seccomp network and programs\n", k.landlock);
    else
        str_addf(out, "partly   %s%s%s: a kernel of Linux 5.13 or newer has it, unless a container hides it\n",
                 k.landlock ? "" : "no Landlock, files are not fenced", k.landlock || k.seccomp ? "" : "; ",
                 k.seccomp ? "" : "no seccomp, network and programs are not fenced");
}

int cmd_doctor(const struct cmd_args *args)
{
    struct arena *a = arena_open();
    struct str out = {.arena = a};
    struct err err = {0};
    struct nvrtc *n = NULL;
    const struct ptx_device *devices;
    const char *path, *include;
    json_t *o = json_object(), *list = json_array();
    int major, minor, status;
    size_t n_devices;
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
    str_addf(&out, "%-12s %ld, so %ld worker process%s by default\n", "cores", sysconf(_SC_NPROCESSORS_ONLN),
             MIN(sysconf(_SC_NPROCESSORS_ONLN), 8), sysconf(_SC_NPROCESSORS_ONLN) == 1 ? "" : "es");
    add_sandbox(o, &out);
    add_gpus(a, ok ? 1000 * major + 10 * minor : 0, o, &out);
    str_add(&out, "simulated devices:\n");
    n_devices = ptx_device_list(&devices);
    if (n_devices == 0)
        str_add(&out, "  missing: " CMD_NO_DEVICES "\n");
    for (size_t i = 0; i < n_devices; i++) {
        str_addf(&out, "  sim:%-12s %s, %d SMs%s\n", devices[i].name, devices[i].full_name, devices[i].sm_count,
                 devices[i].validated ? "" : "; its times are not validated");
        json_array_append_new(list, json_string(devices[i].name));
    }
    json_put(o, "devices", list);
    if (n_devices) { /* else the prices of models are not in it either */
        str_add(&out, "models (optional):\n");
        json_put(o, "models", llm_doctor(&out));
    }
    if (!ok)
        str_add(&out, "\nWithout NVRTC no kernel can be compiled.\n");
    ok = ok && n_devices > 0;
    json_put_flag(o, "ready", ok);
    if (args->json) {
        str_clear(&out);
        json_print(&out, json_incref(o));
    }
    status = ok ? EXIT_OK : EXIT_WORLD;
    if (!cmd_print_result(args, str_text(&out), &err))
        status = cmd_fail(&err);
    json_decref(o);
    arena_close(a);
    return status;
}
