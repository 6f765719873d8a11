/* Findings: what went wrong, where, in one sentence; each ends the launch. */
#include "machine.h"

void warp_thread(const struct warp *w, int lane, uint32_t tid[3])
{
    for (int k = 0; k < 3; k++)
        tid[k] = w->tid[k][lane];
}

static enum ptx_end end_of(enum ptx_finding_kind kind)
{
    switch (kind) {
    case PTX_ASSERT:
    case PTX_TRAP:
        return PTX_CRASHED;
    case PTX_LOOP:
    case PTX_DEADLOCK:
        return PTX_HUNG;
    case PTX_LAUNCH:
        return PTX_BAD_LAUNCH;
    case PTX_OPCODE:
        return PTX_UNSUPPORTED;
    default:
        return PTX_UNSAFE;
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

void launch_stop(struct launch *l, enum ptx_end end)
{
    if (!l->stop)
        l->end = end;
    l->stop = true;
}

void fault(struct warp *w, const struct insn *i, int lane, enum ptx_finding_kind kind, uint64_t addr,
           const char *fmt, ...)
{
    struct launch *l = w->launch;
    struct ptx_report *r = l->report;
    slice_end(w);
    w->merge_pc = 0;
    if (!l->stop && r->n_findings < ARRAY_LEN(r->findings)) {
        struct ptx_finding *f = &r->findings[r->n_findings++];
        *f = (struct ptx_finding){.kind = kind, .addr = addr};
        copy_text(f->kernel, sizeof(f->kernel), l->args->kernel);
        int at = 0;
        if (i) {
            const char *file = NULL;
            insn_place(l->module, i, &file, &f->line);
            copy_text(f->file, sizeof(f->file), file);
            f->ptx_line = (int)i->ptx_line;
        }
        memcpy(f->block, w->block->id, sizeof(f->block));
        if (lane >= 0)
            warp_thread(w, lane, f->thread);
        va_list ap;
        va_start(ap, fmt);
        at = vsnprintf(f->words, sizeof(f->words), fmt, ap);
        va_end(ap);
        if (lane >= 0 && at >= 0 && (size_t)at < sizeof(f->words))
            snprintf(f->words + at, sizeof(f->words) - (size_t)at, " (block %u,%u,%u thread %u,%u,%u)",
                     f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
    }
    launch_stop(l, end_of(kind));
}

void launch_fault(struct launch *l, enum ptx_finding_kind kind, const char *fmt, ...)
{
    struct ptx_finding *f = &l->report->findings[l->report->n_findings++];
    *f = (struct ptx_finding){.kind = kind};
    copy_text(f->kernel, sizeof(f->kernel), l->args->kernel);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->words, sizeof(f->words), fmt, ap);
    va_end(ap);
    launch_stop(l, end_of(kind));
}

void fault_unsupported(struct warp *w, const struct insn *i, const char *why)
{
    fault(w, i, -1, PTX_OPCODE, 0, "the simulator lacks this instruction: %s%s%s", i->text, why ? ", " : "",
          why ? why : "");
}
