/* Astra itself for a worker whose command starts a plain shell: the shell looks in its cache for the archive of
 * that hash, asks for what it has not, checks it, unpacks it beside and renames it into its place, and becomes
 * `astra node`.
 *
 * dash reads ahead of the command that it runs. So the script is one command, nothing follows it before it has
 * asked, and then come exactly as many bytes as it waits for. The only words in it that are not constant are a
 * hash in hexadecimal digits and a number. */
#include "link.h"

#include <fcntl.h>

enum { PIPE_BYTES = 1 << 20 };

static const char script[] =
    "{ umask 077; h=%s; n=%zu; t=\n"
    "fail() { [ -z \"$t\" ] || rm -rf \"$t\"; printf '{\"error\":{\"text\":\"%%s\"}}\\n' \"$1\"; exit 1; }\n"
    "whole() { [ -x \"$1/bin/astra\" ] && (cd \"$1\" && sha256sum -c sums) >/dev/null 2>&1; }\n"
    "for p in sha256sum head tar gzip mktemp find; do\n"
    "command -v $p >/dev/null || fail \"its machine has no $p, which it takes to keep a program\"; done\n"
    "b=${XDG_CACHE_HOME:-}; case $b in /*) ;; *) b=${HOME:-}; case $b in /*) ;; *) b=/tmp ;; esac\n"
    "b=$b/.cache ;; esac; c=$b/astra/node/programs; d=$c/$h\n"
    "if ! whole \"$d\"; then\n"
    "mkdir -p \"$c\" && t=$(mktemp -d \"$c/tmp.XXXXXX\") || fail 'it cannot make a folder in its cache'\n"
    "printf '{\"want\":[\"%%s\"]}\\n' \"$h\"\n"
    "head -c \"$n\" >\"$t/archive\" || fail 'it cannot write the program; is its disk full?'\n"
    "[ \"$(sha256sum <\"$t/archive\" | cut -c 1-64)\" = \"$h\" ] || fail 'the program did not come whole'\n"
    "{ mkdir \"$t/new\" && tar -xzf \"$t/archive\" --strip-components=1 -C \"$t/new\" &&\n"
    "(cd \"$t/new\" && find bin lib -type f -exec sha256sum {} + >sums) && whole \"$t/new\"; } 2>/dev/null ||\n"
    "fail 'it cannot unpack the program: no room, or no archive of make dist'\n"
    "whole \"$d\" || mv -T \"$d\" \"$t/old\" 2>/dev/null\n"
    "mv -T \"$t/new\" \"$d\" 2>/dev/null || whole \"$d\" || fail 'it cannot put the program into its place'\n"
    "rm -rf \"$t\"; fi\n"
    /* What was not used for a month, or was being made when its shell was killed. */
    "touch \"$d\"; find \"$c\" -mindepth 1 -maxdepth 1 '(' -mtime +30 -o -name 'tmp.*' -mtime +1 ')'"
    " -exec rm -rf {} + 2>/dev/null\n"
    "exec \"$d/bin/astra\" node; }\n";

void link_send_script(struct link *l, struct process *w)
{
    const struct fleet_archive *p = l->node->send;

    fcntl(w->proc.to, F_SETPIPE_SZ,
          PIPE_BYTES); /* as much as may be waits there for a pool that turns slowly */
    l->archive_left = 0;
    l->archive_sent = false;
    str_addf(&l->out, script, p->hash, p->len);
    link_flush(l, w);
}

bool link_send_archive(struct link *l, struct process *w, const json_t *want)
{
    const struct fleet_archive *p = l->node->send;
    const char *hash = json_string_value(json_array_get(want, 0));

    if (!p || l->archive_sent || json_array_size(want) != 1 || !hash || !str_eq(hash, p->hash))
        return false;
    l->archive_sent = true;
    l->archive_left = p->len;
    link_flush(l, w);
    return true;
}

/* A piece of the archive at a time: many links share its bytes. */
bool link_flush_archive(struct link *l, struct process *w)
{
    const struct fleet_archive *p = l->node->send;

    while (l->archive_left > 0 && l->out.len == 0) {
        size_t n = MIN(l->archive_left, (size_t)PIPE_BYTES);
        str_addn(&l->out, p->bytes + (p->len - l->archive_left), n);
        l->archive_left -= n;
        l->heard_s = time_s(); /* its time to greet begins when it has the last piece */
        if (!proc_send_some(&w->proc, &l->out))
            return false;
    }
    return true;
}
