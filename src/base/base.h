/* The lowest layer: memory, text, containers, errors, files, processes, numbers. Includes everything here;
 * the other folders include this one header. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "beneath.h"
#include "bits.h"
#include "bug.h"
#include "diff.h"
#include "err.h"
#include "fill.h"
#include "fs.h"
#include "json.h"
#include "map.h"
#include "member.h"
#include "origin.h"
#include "pack.h"
#include "proc.h"
#include "rng.h"
#include "sandbox.h"
#include "share.h"
#include "stats.h"
#include "str.h"
#include "trace.h"
#include "utf8.h"
#include "vec.h"
#include "yaml_tree.h"

#define ARRAY_LEN(a)        (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)           ((a) < (b) ? (a) : (b))
#define MAX(a, b)           ((a) > (b) ? (a) : (b))
#define CLAMP(x, low, high) MAX(low, MIN(high, x))      /* a NaN stays one */
#define ORDER(a, b)         (((a) > (b)) - ((a) < (b))) /* as qsort's comparisons answer */

#endif
