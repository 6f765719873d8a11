/* What the recorder prints of the compiled launcher (share/shipped/recorder.c), beside the lines that must
 * stand there. The printed text may be any bytes; it is compared, and means nothing else. */
#ifndef JUDGE_RECORDED_H
#define JUDGE_RECORDED_H

#include "base/base.h"

struct recorded_plan {
    const char
        *lines; /* of launches, memsets and copies, each with its newline; a dot is a byte that nothing says */
    const char *workspaces; /* of these the place among the others is open */
};
struct recorded_line { /* where the two part, printable and cut; "": nothing stands there */
    char text[161];
};
/* How many of the n plans, in their order, are what was printed; if not all, what stands instead in *is. */
size_t recorded_same(const char *out, size_t len, const struct recorded_plan *plans, size_t n,
                     struct recorded_line *is, struct recorded_line *must);

#endif
