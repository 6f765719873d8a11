/* The line protocol between a pool and its workers; both ends are in this folder.
 *
 *   -> {"open": {"task": dir, "device": name, "seed": text, "verify_only": b, "measure_only": b, "exact": b,
 * "with_nvcc": b, "beside": names, "confirm": b, "hidden": b, "no_control": b, "cases": [case, ...], "scratch":
 * dir, "candidate_s": seconds}}
 *   <- {"original": trial, "faults": [fault, ...], "device": device, "noise": half-width} or {"error": {"kind":
 * n, "file": f, ...}}
 *   -> {"judge": {"path": p, "text": t, "noise": half-width, "known": [code, ...], "mutant": b, "fault": i,
 * "timed": b, "again": b}}
 *   <- {"trial": trial, "ending": b}, {"same": code, "ending": b} or {"error": ...}
 *
 * Before either answer any number of {"waiting": b}: it waits for its turn on the GPU, or has it; and of
 * {"doing": text}: what it begins with, JUDGE_COMPILING or "in case ...". again: a worker died of it, perhaps
 * by its precompiled headers. ending: a candidate left a GPU context that nobody can use; the worker ends.
 *
 * A node (node.c) speaks the same, of contents in the place of paths. It begins:
 *
 *   <- {"node": {"astra": version, "protocol": NODE_PROTOCOL}}
 *   -> {"open": {as above without "task" and "scratch", "files": [{"name": n, "hash": h}, ...], "wall_s":
 * seconds, "resident_bytes": n}}
 *   <- {"want": [hash, ...]}, those that it has not in its cache
 *   -> {"content": {"hash": h, "hex": the bytes}}, one for each
 *
 * and the answers to open and judge may also be {"lost": {"verdict": v, "words": w, "again": b}}: the worker is
 * gone, and another open brings a new one; {"idle": true} in the place of it: nothing was judged. {"alive":
 * true} comes every NODE_ALIVE_S. Nothing else of a node is believed, and nothing that it says is a path or a
 * command.
 */
#ifndef WORKER_PROTOCOL_H
#define WORKER_PROTOCOL_H

#include "worker.h"

enum { NODE_PROTOCOL = 1, NODE_ALIVE_S = 1 };

json_t *pool_error_to_json(const struct err *err);
bool pool_error_from_json(const json_t *o, struct err *err); /* returns false, as errors do */

#endif
