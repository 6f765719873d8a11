/* cluster-row's faster way: what threads leave for each other in shared memory is sent to every block of the
 * cluster, and nobody waits at a barrier of the cluster. Internal to rewrite/. */
#ifndef REWRITE_CLUSTER_SEND_H
#define REWRITE_CLUSTER_SEND_H

#include "rewrite/regroup.h"

struct sends;

/* How the kernel's threads meet, in the arena, or NULL with the reason where they meet in other ways. */
const struct sends *sends_of(const struct regroup *r, struct err *why);
/* How often they do, and before which statement the cluster must have begun. */
int sends_count(const struct sends *s);
struct node sends_first(const struct sends *s);
/* The edits of one function of the regroup, for so many blocks in a cluster. */
void sends_edit(const struct sends *s, const struct function *f, int blocks, struct edits *inside);

#endif
