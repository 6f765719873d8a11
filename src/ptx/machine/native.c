/* Functions that a module calls and nobody defines: the device side of printf and assert. */
#include "machine.h"

enum { PRINTED_MOST = 1 << 16 };

/* An argument as 8 bytes a lane. */
static uint64_t argument(const struct warp *w, const struct insn *i, unsigned k, unsigned lane)
{
    const struct opnd *o = &i->opnds[2].vec[k];
    uint64_t v = 0;
    memcpy(&v, w->regs + o->off + lane * w->launch->module->funcs[i->func].param_stride,
           MIN(((const struct param *)o->ref)->bytes, 8));
    return v;
}

/* Bytes at a generic address: of local memory or of an allocation. */
static bool peek(struct warp *w, unsigned lane, uint64_t addr, void *to, size_t bytes)
{
    const struct launch *l = w->launch;
    if (addr >= LOCAL_WINDOW && addr < LOCAL_WINDOW + l->local_bytes &&
        bytes <= l->local_bytes - (addr - LOCAL_WINDOW)) {
        memcpy(to, w->block->local + ((size_t)w->index * 32 + lane) * l->local_bytes + (addr - LOCAL_WINDOW),
               bytes);
        return true;
    }
    if (addr >= SHARED_WINDOW && addr < SHARED_WINDOW + l->shared_bytes &&
        bytes <= l->shared_bytes - (addr - SHARED_WINDOW)) {
        memcpy(to, w->block->shared + (addr - SHARED_WINDOW), bytes);
        return true;
    }
    return addr >= MEM_BASE && ptx_mem_read(l->mem, addr, to, bytes);
}

static void peek_text(struct warp *w, unsigned lane, uint64_t addr, char *to, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && peek(w, lane, addr + n, &to[n], 1) && to[n])
        n++;
    to[n] = 0;
}

/* printf's format over arguments that lie packed, each aligned to its size, at args. */
static int print(struct warp *w, unsigned lane, const char *format, uint64_t args, struct str *out)
{
    int n = 0;
    for (const char *s = format; *s; s++) {
        if (*s != '%') {
            str_addc(out, *s);
            continue;
        }
        char spec[32];
        size_t len = 0;
        int longs = 0;
        spec[len++] = *s++;
        while (*s && strchr("-+ #0123456789.*", *s) && len < sizeof(spec) - 4) {
            if (*s == '*') {
                int32_t width = 0;
                args = (args + 3) & ~3ull;
                peek(w, lane, args, &width, 4);
                args += 4;
                len += (size_t)snprintf(spec + len, sizeof(spec) - len - 4, "%d", width % 1000);
                s++;
                continue;
            }
            spec[len++] = *s++;
        }
        for (; *s && strchr("hlLqjzt", *s); s++)
            longs += (*s == 'l') + 2 * (strchr("jztq", *s) != NULL);
        if (!*s)
            break;
        if (*s == '%') {
            str_addc(out, '%');
            continue;
        }
        n++;
        size_t bytes = strchr("diouxXc", *s) && !longs ? 4 : 8;
        args = (args + bytes - 1) & ~(uint64_t)(bytes - 1);
        uint64_t v = 0;
        bool ok = peek(w, lane, args, &v, bytes);
        args += bytes;
        if (!ok)
            continue;
        char c = *s;
        if (strchr("di", c) || strchr("ouxX", c)) {
            long long wide = strchr("di", c) && bytes == 4 ? (int32_t)v : (long long)v;
            memcpy(spec + len, "ll", 2);
            spec[len + 2] = c;
            spec[len + 3] = 0;
            str_addf(out, spec, wide);
        } else if (strchr("eEfFgGaA", c)) {
            double x;
            memcpy(&x, &v, 8);
            spec[len] = c;
            spec[len + 1] = 0;
            str_addf(out, spec, x);
        } else if (c == 'c') {
            spec[len] = c;
            spec[len + 1] = 0;
            str_addf(out, spec, (int)v);
        } else if (c == 's') {
            char text[512];
            peek_text(w, lane, v, text, sizeof(text));
            spec[len] = c;
            spec[len + 1] = 0;
            str_addf(out, spec, text);
        } else if (c == 'p') {
            str_addf(out, "0x%llx", (unsigned long long)v);
        } else {
            str_addf(out, "%%%c", c);
        }
    }
    return n;
}

static void native_vprintf(struct warp *w, const struct insn *i, uint32_t m)
{
    const struct opnd *rets = &i->opnds[0];
    struct ptx_report *r = w->launch->report;
    if (!r->printed)
        r->printed = mem_zalloc(sizeof(*r->printed));
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(m >> lane & 1))
            continue;
        char format[2048];
        peek_text(w, lane, argument(w, i, 0, lane), format, sizeof(format));
        int32_t n = -1;
        if (r->printed->len < PRINTED_MOST)
            n = print(w, lane, format, argument(w, i, 1, lane), r->printed);
        if (rets->n == 1 && rets->vec[0].ref_kind == REF_FUNC_PARAM)
            memcpy(w->regs + rets->vec[0].off + lane * w->launch->module->funcs[i->func].param_stride, &n,
                   MIN(((struct param *)rets->vec[0].ref)->bytes, 4));
    }
}

void native_call(struct warp *w, const struct insn *i, const struct func *f, uint32_t m)
{
    const struct opnd *args = &i->opnds[2];
    unsigned lane = (unsigned)__builtin_ctz(m);
    if (f->native == NATIVE_VPRINTF && args->n == 2) {
        native_vprintf(w, i, m);
    } else if (f->native == NATIVE_ASSERTFAIL && args->n == 5) {
        char what[256], file[128];
        peek_text(w, lane, argument(w, i, 0, lane), what, sizeof(what));
        peek_text(w, lane, argument(w, i, 1, lane), file, sizeof(file));
        fault(w, i, (int)lane, PTX_ASSERT, 0, "assertion `%s' failed at %s:%u", what, file,
              (uint32_t)argument(w, i, 2, lane));
    } else {
        char why[160];
        snprintf(why, sizeof(why), "a call of %s, which the module does not define", f->name);
        fault_unsupported(w, i, why);
    }
}
