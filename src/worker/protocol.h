/* The line protocol between a pool and its workers; both ends are in this folder.
 *
 *   -> {"open": {"task": dir, "device": name, "seed": text, "verify_only": b, "measure_only": b, "exact": b,
 * "with_nvcc": b, "confirm": b, "hidden": b, "no_control": b, "cases": [case, ...], "scratch": dir,
 * "candidate_s": seconds}}
 *   <- {"original": trial, "faults": [fault, ...], "device": device, "noise": half-width} or {"error": {"kind":
 * n, "file": f, ...}}
 *   -> {"judge": {"path": p, "text": t, "noise": half-width, "known": [code, ...], "mutant": b, "fault": i,
 * "timed": b, "again": b}}
 *   <- {"trial": trial, "ending": b}, {"same": code, "ending": b} or {"error": ...}
 *
 * Before either answer any number of {"waiting": b}: it waits for its turn on the GPU, or has it; and of
 * {"doing": text}: what it begins with, JUDGE_COMPILING or "in case ...". again: a worker died of it, perhaps
 * by its precompiled headers. ending: a candidate left a GPU context that nobody can use; the worker ends.
 */
#ifndef WORKER_PROTOCOL_H
#define WORKER_PROTOCOL_H

#include "worker.h"

json_t *pool_error_to_json(const struct err *err);
bool pool_error_from_json(const json_t *o, struct err *err); /* returns false, as errors do */

#endif
