/* The line protocol between a pool and its workers; both ends are in this folder.
 *
 *   -> {"open": {"task": dir, "device": name, "seed": text, "verify_only": b, "measure_only": b, "with_nvcc":
 * b, "scratch": dir, "candidate_s": seconds}}
 *   <- {"original": trial} or {"error": {"kind": n, "file": f, "line": n, "col": n, "text": t}}
 *   -> {"judge": {"path": p, "text": t}}
 *   <- {"trial": trial} or {"error": ...}
 */
#ifndef TRIAL_POOL_H
#define TRIAL_POOL_H

#include "internal.h"

json_t *pool_error_to_json(const struct err *err);
bool pool_error_from_json(const json_t *o, struct err *err); /* returns false, as errors do */

#endif
