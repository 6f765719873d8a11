/* Any text as a kernel file: understood or refused with words; what is understood is planned for small and odd
 * arguments. */
#include "kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const entries[] = {"silu_and_mul", "fused_add_rmsnorm", "merge_attn_states", "softmax",
                                      "layernorm",    "transpose",         "rotary_embedding",  "histogram"};

static void plan_all(struct arena *a, const struct kernel *k)
{
    static const int64_t sizes[] = {0, 1, 7, 4096, -1, INT64_MAX};
    static const struct kernel_limits limits = {.device_name = "fuzz",
                                                .sm_count = 132,
                                                .cc_major = 9,
                                                .max_threads_per_block = 1024,
                                                .max_threads_per_sm = 2048,
                                                .max_blocks_per_sm = 32,
                                                .warp_size = 32,
                                                .shared_per_block = 49152,
                                                .shared_per_block_optin = 232448};
    struct kernel_value *args = arena_array(a, struct kernel_value, k->n_params + 1);

    for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
        struct plan plan;
        struct err err;
        int buffer = 0;
        for (size_t i = 0; i < k->n_params; i++) {
            args[i] = (struct kernel_value){.type = k->params[i].type, .pointer = k->params[i].pointer};
            if (args[i].pointer)
                args[i].p.buffer = buffer++;
            else if (args[i].type >= KT_F16)
                args[i].f = (double)sizes[s];
            else
                args[i].i = sizes[s];
        }
        kernel_plan(&plan, a, k, args, NULL, &limits, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    char *text = arena_copy(a, size ? (const char *)data : "", size);

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        struct kernel *k;
        struct err err;
        if (!memmem(data, size, entries[i], strlen(entries[i])))
            continue;
        if (kernel_open(&k, a, "fuzz.cu", text, size, entries[i], &err)) {
            plan_all(a, k);
            kernel_close(k);
        }
    }
    arena_close(a);
    return 0;
}
