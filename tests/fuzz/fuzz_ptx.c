/* Any text as PTX: a module or an error; each of its kernels runs for a while on small buffers, with every
 * check or, in modules of an odd length, with a shadow. */
#include "clock/clock.h"
#include "sanitize/sanitize.h"
#include "shadow/shadow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct ptx_module *m, const struct ptx_kernel_info *k, struct ptx_shadow *shadow)
{
    static const unsigned char zeros[65536];
    struct ptx_mem *mem = ptx_mem_open(1);
    const struct ptx_buffer buffer = {.name = "buffer", .size_bytes = 4096, .initialised = true};
    struct ptx_report report = {0};
    uint64_t base[32];
    const void *args[32];
    struct err err;
    struct ptx_launch l = {
        .kernel = k->name, .grid = {2, 1, 1}, .block = {40, 1, 1}, .args = args, .n_args = k->n_params};
    struct sanitizer sanitizer;
    struct ptx_options o = {
        .device = ptx_device_find("h200"),
        .observers = {ptx_shadow_observer(shadow), sanitizer_on(&sanitizer, shadow ? 0 : SANITIZE_ALL)},
        .seed = 3,
        .max_warp_insns = 20000};

    if (k->n_params <= ARRAY_LEN(args)) {
        for (size_t i = 0; i < k->n_params; i++) {
            base[i] = ptx_mem_alloc(mem, &buffer, &err);
            args[i] = k->param_bytes[i] == 8 ? (const void *)&base[i] : zeros;
            if (k->param_bytes[i] > sizeof(zeros))
                goto done;
        }
        ptx_run(m, mem, &l, &o, &report, &err);
        ptx_report_clear(&report);
    }
done:
    ptx_mem_close(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *m;
    const struct ptx_kernel_info *list;
    struct err err;
    char *text = mem_alloc(size + 1);

    memcpy(text, data, size);
    text[size] = 0;
    if (ptx_module_open(&m, "fuzz.ptx", text, size, &err)) {
        size_t n = ptx_module_kernels(m, &list);
        struct ptx_shadow *shadow = size % 2 ? ptx_shadow_open() : NULL;
        for (size_t i = 0; i < MIN(n, 4); i++)
            run(m, &list[i], shadow);
        ptx_shadow_close(shadow);
        ptx_module_close(m);
    }
    free(text);
    return 0;
}
