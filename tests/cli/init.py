"""The verb init: tasks from files in the style of several frameworks (tests/init), and what it refuses."""

import hashlib
import json
import os
import re
import shutil

from harness import ROOT, TASK, astra, case, cases, expect, main, read, said, small_task, write

STYLES = os.path.join(ROOT, "tests/init")

# Style, file, kernel; what its task.yaml must say, with the sizes of a quick check.
SOUND = [
    ("torch", "csrc/norm.cu", "rms_norm_kernel", "[3, 64]", ["type: f16", "role: out", "shape: [hidden_size], role: in"]),
    ("ggml", "src/norm.cu", "l2_norm_f32", "[64, 3]", ["ncols % 32 == 0"]),
    ("ggml", "src/unary.cu", "unary_kernel", "[100]", ["shape: [k], role: in", "shape: [k], role: out"]),
    ("header", "include/tiny/activation.cuh", "tiny::activation::SiluKernel<4,float>", "[64]", ["role: out", "role: in"]),
    ("plain", "src/gelu.cu", "gelu_kernel", "[100]", ["role: out", "role: in"]),
    ("plain", "src/embed.cu", "embed_kernel", "[5, 64, 9]", ["high: n_table}", "shape: [n_table, C], role: in"]),
    ("plain", "src/embed.cu", "pick_kernel", "[100, 9]", ["high: V}", "shape: [N, V], role: in"]),
    ("plain", "src/rows.cu", "scale_rows_kernel", "[5, 3, 40]",
     ["shape: [rows, heads, width], role: out", "y_stride_row, type: i64, value: heads * width", "stride_h, type: i64, value: width"]),
    ("plain", "src/rows.cu", "negate_kernel", "[100]", ["{name: width, type: i32, value: 64}", "shape: [64 * rows], role: in"]),
    ("plain", "src/rows.cu", "pack_kernel", "[500]", ["shape: [((n + 31) / 32)], role: out"]),
    ("plain", "src/rows.cu", "unpad_kernel", "[5, 40, 9]", ["n_x >= tokens", "high: n_x - tokens + 1}", "shape: [n_x, width], role: in"]),
    ("plain", "src/rows.cu", "margin_kernel", "[5, 40, 48]", ["P >= V", "high: V}", "shape: [rows, P], role: inout"]),
    ("plain", "src/params.cu", "mix_kernel", "[5, 40]",
     ["{name: x_ptr, type: f16, shape: [rows, width], role: in}", "out_row_stride, type: u32, value: width"]),
    ("own", "add.cu", "add_kernel", "[100]", ["entry: add\n"]),
    ("forms", "src/typed.cu", "add_rows<__half>", "[5, 40]", ["{name: out, type: f16, shape: [rows, cols], role: out}"]),
    ("forms", "src/checked.cu", "row_dot_kernel", "[5, 96]", ["shape: [K, 1], role: in", "shape: [M, 1], role: out", "K % 32 == 0"]),
    ("forms", "src/member.cu", "scale_table", "[5, 40]",
     ["{name: values, type: f32, shape: [height, width], role: in}", "{name: num_SMs, type: i32, value: 132}"]),
    ("forms", "src/branch.cu", "copy_wide", "[5, 40]", ["- width > 16\n", "- rows != 1\n"]),
    ("forms", "src/power.cu", "row_sums", "[5, 16]", ["- n <= 512\n", "- 512 % n == 0\n", "- rows * n <= 1048576\n"]),
    ("torch", "csrc/ranks.cu", "62", "[48, 5]", ["shape: [num_rows, hidden], role: in", "hidden % 8 == 0", "flags: [--extended-lambda]"]),
    ("forms", "src/number.cu", "block_max", "[100]", ["{name: block_size, type: i32, value: 64} # TODO", "role: out"]),
    ("torch", "csrc/tiles.cu", "count_tiles_kernel", "[3, 40]", ["{name: C, type: u32, value: C}\n", "shape: [C, 2 * means_size1], role: in}"]),
    ("torch", "csrc/grouped.cu", "grouped_dot_kernel", "[3, 256, 8]",
     ["{name: outs, type: i32, value: outs}\n", "shape: [rows, outs], role: out", "{name: group_size, type: i32, value: 64} # TODO"]),
    ("classes", "src/rows.cu", "scale_rows", "[3, 64]",
     ["{name: out, type: f16, shape: [rows, width], role: out}", "shape: [width], role: in", "width % 8 == 0"]),
    ("classes", "src/macros.cu", "shift_rows", "[3, 64]", ["width % 8 == 0"]),
    ("classes", "src/macros.cu", "sum_parts", "[3, 1024]", ["shape: [rows, width], role: out", "width % 4 == 0"]),
    ("classes", "src/larger.cu", "slice_mask", "[2, 5, 9]", ["shape: [batch, length, length], role: in", "length >= kept"]),
    ("classes", "src/larger.cu", "long_rows", "[2, 1030]", ["shape: [rows, width], role: out", "width > 1024"]),
    ("classes", "src/larger.cu", "widen", "[100]",
     ["{name: x, type: u8, shape: [2 * pairs], role: in}", "{name: cp_rank, type: i32, value: 0}"]),
    ("classes", "src/functors.cu", "combine_rows", "[100]", ["shape: [n], role: out"]),
    ("alone", "src/alone.cu", "pick_rows", "[50, 100]", ["shape: [n_table], role: in", "high: n_table}"]),
    ("alone", "src/alone.cu", "scale_each_row", "[5, 40]", ["shape: [blocks, width], role: out", "value: blocks}"]),
    ("alone", "src/alone.cu", "shift_planes", "[2, 3, 5, 7]",
     ["value: outer * width * height * channels}", "shape: [outer, channels, height, width], role: out"]),
    ("alone", "src/alone.cu", "transpose_tiles", "[20, 40]", ["shape: [rows, cols], role: out"]),
    ("alone", "src/alone.cu", "sum_blocks", "[40, 9]", ["shape: [n_blocks, block_bytes], role: in", "block_bytes >= 34"]),
    ("alone", "src/alone.cu", "sample_grid", "[300]", ["{name: grid, type: f32, shape: [n], role: in}"]),
    ("alone", "src/alone.cu", "sum_segments", "[20, 5, 30]", ["shape: [n_x, width], role: in", "values: {kind: offsets, low: 0, high: n_x}"]),
    ("alone", "src/alone.cu", "scale_segments", "[20, 5, 30]", ["shape: [n_x, width], role: inout", "shape: [blocks + 1], role: in"]),
    ("alone", "src/alone.cu", "add_views", "[3, 40, 48]", ["{name: x_data, type: f32, shape: [x_0, x_1], role: in}", "shape: [x_1], role: in"]),
    ("alone", "src/typed.cu", "bytes_to_floats", "[100]", ["{name: x, type: u8, shape: [n], role: in}"]),
    ("forms", "src/branch.cu", "add_offsets", "[8, 64]", ["shape: [batch * length / 256], role: in"]),
    ("alone", "src/kinds.cu", "lengths", "[100]", ["{name: points, type: f32, shape: [3 * n], role: in}"]),
    ("alone", "src/kinds.cu", "keys_of", "[100]", ["{name: entries, type: u8, shape: [12 * n], role: in}"]),
    ("alone", "src/kinds.cu", "answer", "[100]", ["shape: [n], role: out}", "# TODO: which request do callers pass as what?"]),
    ("alone", "src/kinds.cu", "widen_counts", "[100]", ["{name: out, type: u64, shape: [n], role: out}"]),
    ("alone", "src/kinds.cu", "join", "[100]", ["shape: [n], role: out}", "# TODO: which function is PairOp?"]),
    ("alone", "src/kinds.cu", "claim", "[100]", ["{name: slots, type: i32, shape: [n], role: inout}"]),
    ("alone", "src/kinds.cu", "reverse_rows", "[5, 40]", ["shape: [blocks, width], role: out}"]),
    ("alone", "src/kinds.cu", "scale_volume", "[2, 3, 4, 5, 6]", ["shape: [depth, height, width, channels, taps], role: out}"]),
    ("alone", "src/kinds.cu", "put_rows", "[5, 8, 12]", ["{kind: distinct, low: 0, high: n_out}", "- n_out >= 2 * rows\n"]),
    ("alone", "src/kinds.cu", "turn_tile", "[64, 64]", ["shape: [4096], role: out} # TODO: a guess: ", "# TODO: the shapes could not be told for all sizes"]),
    ("alone", "src/kinds.cu", "first_squares", "[1]", ["shape: [64], role: out}", "dims: [launches]\n"]),
    ("alone", "src/joined.cu", "join_pairs", "[100]", ["shape: [2 * n], role: out}"]),
    ("header", "src/apart/activation.cuh", "double_all", "[100]", ["shape: [n], role: inout}"]),
    # What only a guess can tell says that it is one.
    ("guess", "src/guess.cu", "mark_runs", "[100]", ["shape: [n], role: inout} # TODO: a guess: "]),
    ("guess", "src/guess.cu", "take_seats", "[100]", ["accept: [nondeterminism] # TODO: "]),
    ("guess", "src/guess.cu", "crop_boxes", "[3, 5, 4, 6]",
     ["values: {kind: uniform, low: 0, high: 1}} # TODO: a guess: ", "value: outer * width * height * channels} # TODO: a guess: ",
      "{name: image, type: f32, shape: [channels, height, width], role: in}"]),
    ("guess", "src/guess.cu", "largest_label", "[5, 40]", ["{name: labels, type: i32, shape: [rows, width], role: in}"]),
    ("guess", "src/guess.cu", "running_total", "[500]", ["shape: [n], role: out", "  - [65536]\n"]),
    ("guess", "src/guess.cu", "deal_rows", "[5, 40]", ["{name: parts, type: i32, value: 2} # TODO: a guess: ", "{name: width, type: i32, value: width}"]),
    ("guess", "src/guess.cu", "swap_channels", "[20, 5]", ["{name: swap, type: bool, value: 0} # TODO: a guess: "]),
    ("guess", "src/guess.cu", "copy_groups", "[100]", ["shape: [n], role: out"]),
    ("guess", "src/guess.cu", "waiting", "[5, 40]",
     ["{name: lengths, type: i32, shape: [rows], role: in, values: {kind: index, low: 1, high: 2}} # TODO: a guess: "]),
    ("guess", "src/guess.cu", "add_where", "[100]", ["{name: where, type: bool, shape: [n], role: in, values: {kind: constant, value: 1}} # TODO: a guess: "]),
    ("guess", "src/guess.cu", "halve", "[100]", ["{name: out, type: f32, shape: [n], role: out}"]),
    ("guess", "src/guess.cu", "shift_level", "[1, 40, 3]", ["{name: p_level, type: f32, ", "{name: p_shift, type: f32, "]),
    ("guess", "src/guess.cu", "apply_each", "[100]", ["{name: n, type: u32, value: n}"]),
    ("guess", "src/guess.cu", "negate_each", "[100]", ["shape: [n], role: out"]),
    # What is touched, or found by the simulator's checks, says more than the parameters do.
    ("guess", "src/reach.cu", "mix_token", "[3, 2, 4, 8]",
     ["shape: [tokens * heads * width + tokens * 32 * keys], role: in}", "values: {kind: distinct, low: 0, high: tokens}} # TODO: a guess: "]),
    ("guess", "src/reach.cu", "sum_tiles", "[3, 2, 4, 40]", ["shape: [rows * heads * width + 128 * tiles], role: in}"]),
    ("guess", "src/reach.cu", "row_maximum", "[5, 64]", ["- width % 32 == 0\n"]),
    ("guess", "src/reach.cu", "note_infinite", "[100]", ["shape: [size], role: in}", "{name: finite, type: f32, shape: [1], role: inout}"]),
    ("guess", "src/reach.cu", "sum_by_warps", "[5, 40]", ["shape: [32 * blocks], role: out}"]),
    ("guess", "src/reach.cu", "add_tables", "[5, 40]", ["{name: data, type: f32, ", "{name: b_data, type: f32, shape: [rows, width], role: in}"]),
    ("guess", "src/bare.cuh", "halve_groups", "[100]", ["shape: [k], role: in}", "shape: [k], role: out}"]),
    ("guess", "src/reach.cu", "add_rows_4d", "[2, 3, 4, 5]",
     ["{name: a_data, type: f32, shape: [out_0, out_1, out_2, out_3], role: in}", "{name: b_3, type: i32, value: out_3}"]),
    # What the build or a header that is not included says.
    ("supply", "src/wide.cu", "scale_wide", "[5]", ["{name: x, type: f32, shape: [48 * rows], role: in}"]),
    ("supply", "src/wide.cu", "add_groups", "[5]", ["shape: [64 * groups], role: inout}", "# TODO: nothing that was read defines GROUP_LENGTH"]),
    ("supply", "src/wide.cu", "negate_rows", "[5, 40]", ["shape: [rows, width], role: out}"]),
    ("supply", "src/wide.cu", "map_each", "[100]", ["shape: [n], role: out}"]),
    # Types, operators and marks that no file declares are written from what is asked of them.
    ("absent", "src/absent.cu", "add_grids", "[5, 40, 40, 40]",
     ["{name: out_data, type: f32, shape: [out_0, out_1], role: out}", "# TODO: nothing that was read defines Grid"]),
    ("absent", "src/absent.cu", "halve_image", "[40, 5]", ["shape: [image_cols, image_rows], role: inout}", "declares Image, which is written from"]),
    ("absent", "src/absent.cu", "turn_or_keep", "[100]", ["# TODO: which Way do callers pass as way?", "declares count_type"]),
    ("absent", "src/absent.cu", "shade_points", "[100]", ["{name: points, type: f32, shape: [3 * n], role: in}", "declares the operators of vectors"]),
    ("absent", "src/absent.cu", "move_points", "[100]", ["shape: [3 * n], role: inout}", "# TODO: nothing that was read declares vec3"]),
    ("absent", "src/absent.cu", "scale_places", "[5, 40]", ["{name: places_dptr, type: f32, shape: [places_0, places_1], role: inout}"]),
    ("absent", "src/absent.cu", "thirds", "[100]", ["# TODO: nothing that was read defines BOTH_SIDES, which is __host__ __device__ here"]),
    ("absent", "src/absent.cu", "sum_rows", "[5]", ["shape: [32 * rows], role: in}", "shape: [rows], role: out}"]),
    ("absent", "src/absent.cu", "halves", "[100]", ["# TODO: nothing that was read defines NUMBER_OF(...)"]),
    ("absent", "src/absent.cu", "squares", "[100]", ["defines WITH_SQUARES, which is 1 here", "defines WITH_ALL, which is 1 here"]),
    ("absent", "src/absent.cu", "scale_waves", "[100]", ["{name: waves, type: f32, shape: [2 * n], role: inout}"]),
    # What the files do say, where it is easily missed.
    ("absent", "src/kept.cu", "double_side", "[100]", ["args:\n  - {name: x, type: f32, shape: [n], role: inout}\n  - {name: n, type: i32, value: n}\ndims"]),
    ("absent", "src/kept.cu", "areas", "[100]", ["{name: x, type: f32, shape: [3 * n], role: in}"]),
    ("absent", "src/kept.cu", "negate_each", "[100]", ["args:\n  - {name: x, type: f32, shape: [n], role: inout}\n  - {name: n, type: i32, value: n}\ndims"]),
    ("absent", "src/kept.cu", "lengths_of", "[100]", ["{name: points_data, type: f32, shape: [3 * lengths_0], role: in}"]),
    ("absent", "src/kept.cu", "keep_smaller", "[100]", ["{name: smallest, type: f32, shape: [n], role: inout}"]),
    ("met", "src/met.cu", "sum_parts_of", "[20, 30]", ["shape: [n_x], role: in", "values: {kind: offsets, low: 0, high: n_x}"]),
    ("met", "src/met.cu", "pair_bits", "[100]", ["{name: bits, type: u64, shape: [n, ((n + 63) / 64)], role: out}"]),
    ("met", "src/met.cu", "scale_heads", "[5, 6]", ["{name: width, type: i32, value: heads * 8}", "shape: [rows, 8 * heads], role: out}"]),
    ("met", "src/met.cu", "keep_bits", "[100]", ["shape: [n], role: out}", "{name: more, type: i8, value: 1} # TODO"]),
    ("met", "src/met.cu", "shade", "[100]", ["shape: [4 * n], role: out", "# TODO: by is a uchar4 of 1, 2, ... here"]),
    ("met", "src/met.cu", "three_rounds", "[100]", ["shape: [n], role: inout}"]),
    ("met", "src/met.cu", "double_rows", "[100]", ["shape: [32 * n], role: in}"]),
    ("met", "src/types.cu", "add_counts", "[100]", ["{name: sums, type: u64, shape: [n], role: inout}"]),
    ("met", "src/inner.cu", "sum_warps", "[5]", ["shape: [32 * rows], role: in}", "shape: [rows], role: out}"]),
    ("met", "src/view.cu", "add_one", "[5, 40]", ["{name: x_data, type: f32, shape: [blocks_y, x_1], role: inout}"]),
    # What stands around a kernel is left out, or read otherwise.
    ("made", "src/made.cu", "copy_places", "[40, 5, 40]", ["dims: [by_rest1, rows, columns]\n", "shape: [rows, by_rest1], role: in}"]),
    ("made", "src/made.cu", "turn_places", "[5, 40]", ["dims: [rows, columns]\n", "role: out}"]),
    ("made", "src/made.cu", "change_each", "[100]", ["shape: [n], role: inout}"]),
    ("made", "src/made.cu", "add_turns", "[1]", ["shape: [100], role: inout}"]),
    ("made", "src/made.cu", "pick_label", "[100]", ["# TODO: nothing that was read defines LABEL_BASE, which is 0 here"]),
    ("made", "src/made.cu", "halve_each", "[100]", ["# TODO: nothing that was read defines WITH_HALVES, which is 1 here"]),
    ("made", "src/made.cu", "scale_each", "[100]", ["shape: [n], role: inout}"]),
    ("made", "src/made.cu", "add_lanes", "[100]", ["shape: [n], role: inout}"]),
    ("made", "src/made.cu", "draw_numbers", "[100]", ["accept: [nondeterminism] # TODO: "]),
    ("left", "src/left.cu", "mix_keys", "[100]", ["{name: keys, type: i32, shape: [n], role: in}", "shape: [n], role: out}"]),
    ("left", "src/left.cu", "negate_all", "[100]", ["args:\n  - {name: x, type: f32, shape: [n], role: in}"]),
    ("left", "src/left.cu", "add_to_each", "[100]", ["{name: x, type: f32, shape: [n], role: inout}", "{name: by, type: f32, value: "]),
    ("left", "src/left.cu", "clear_small", "[100]", ["shape: [n], role: inout}"]),
    ("left", "src/left.cu", "load_each", "[100]", ["shape: [n], role: out}"]),
    ("left", "src/left.cu", "scale_apart", "[5, 40]", ["dims: [rows, width]\n", "shape: [rows, width], role: out}"]),
    ("left", "src/left.cu", "mean_of_pairs", "[41, 5, 20]",
     ["shape: [out_0, in_1], role: in}", "shape: [out_0, out_1], role: out}", "- in_1 >= 2 * out_1\n"]),
    ("left", "src/left.cu", "dot_of_16", "[5]", ["{name: K, type: i32, value: 16}", "dims: [M]\n"]),
    ("left", "src/copied.cu", "third_of", "[100]", ["shape: [n], role: out}"]),
    # What a kernel takes for granted, and what its launcher must make of nothing that a task has.
    ("taken", "src/taken.cu", "begin_segments", "[100, 100]", ["values: {kind: sorted, low: 0, high: n_begin}} # TODO: a guess: "]),
    ("taken", "src/taken.cu", "scale_tagged", "[100]", ["shape: [n], role: inout}"]),
    ("taken", "src/taken.cu", "double_pool", "[100]", ["{name: pool_values, type: f32, shape: [pool_count], role: inout}"]),
    ("taken", "src/taken.cu", "change_all", "[100]", ["{name: width, type: i32, value: 64} # TODO"]),
    ("taken", "src/taken.cu", "halve_inside", "[100]", ["# TODO: nothing that was read defines ASSURE_INSIDE(...), which does nothing here"]),
    ("taken", "src/taken.cu", "sum_of_64", "[20]", ["shape: [64 * blocks], role: in}", "shape: [blocks], role: out}"]),
    ("taken", "src/taken.cu", "copy_strided", "[100]",
     ["{name: out_strides, type: i32, shape: [1], role: in, values: {kind: constant, value: 1}} # TODO: a guess: "]),
    ("taken", "src/taken.cu", "number_places", "[20]", ["shape: [32 * blocks_y], role: out}"]),
    # Classes by value, pointers to pointers, and what a launch or a template leaves unsaid.
    ("held", "src/held.cu", "raise_view", "[5, 40]", ["{name: x_data_, type: f32, shape: [blocks, x_1], role: inout}"]),
    ("held", "src/held.cu", "copy_board", "[5, 40]",
     ["{name: board_cells, type: f32, shape: [board_extent_rows, board_extent_columns], role: in}", "role: out}"]),
    ("held", "src/held.cu", "double_square", "[100]", ["{name: s_data, type: f32, shape: [s_side], role: inout}"]),
    ("held", "src/held.cu", "gather_rows", "[64, 5, 40]", ["{name: rows, type: f32, shape: [n, rows_step], role: in}"]),
    ("held", "src/held.cu", "widen_each", "[100]", ["{name: x, type: f16, shape: [n], role: in}"]),
    ("held", "src/held.cu", "turn_sign", "[100]", ["{name: y, type: f32, shape: [n], role: out}"]),
    ("held", "src/held.cu", "sum_halves", "[5, 40]", ["{name: x, type: f32, shape: [blocks, n], role: in}"]),
    ("held", "src/held.cu", "end_each", "[100]", ["# TODO: which template is Ending? "]),
    ("held", "src/held.cu", "shift_fours", "[100]", ["{name: y, type: f32, shape: [n], role: out}"]),
    ("held", "src/held.cu", "first_places", "[100]", ["{name: places, type: i16, shape: [3 * n], role: in}"]),
    ("held", "src/said.cu", "halve_each", "[100]", ["{name: y, type: f32, shape: [n], role: out}\n"]),
    ("held", "src/said.cu", "add_lengths", "[100]", ["{name: sum, type: i32, shape: [n], role: out}"]),
    ("held", "src/said.cu", "pair_each", "[100]", ["{name: y, type: f32, shape: [2 * n], role: out}"]),
    ("held", "src/said.cu", "range_sizes", "[100]", ["flags: [--std=c++20]\n"]),
    ("held", "src/said.cu", "take_flags", "[100]", ["{name: states, type: u8, "]),
    # Launches within functions that cannot be read or run, and sizes that go together.
    ("apart", "src/apart.cu", "negate_each", "[100]", ["args:\n  - {name: x, type: f32, shape: [n], role: inout}\n  - {name: n, type: i32, value: n}\ndims"]),
    ("apart", "src/apart.cu", "add_parts", "[100]", ["{name: x, type: f32, shape: [4 * n], role: in}", "shape: [n], role: out}"]),
    ("apart", "src/apart.cu", "fill_board", "[20, 30]", ["{name: board, type: f32, shape: [extent_x, extent_y], role: out}"]),
    ("apart", "src/apart.cu", "conjugate_each", "[100]", ["{name: z, type: f64, shape: [2 * n], role: inout}"]),
    ("apart", "src/apart.cu", "turn_image", "[40, 20]", ["{name: pitch_out, type: i32, value: rows * 4} # TODO: a guess: "]),
    ("apart", "src/apart.cu", "double_list", "[100]", ["{name: list_at, type: f32, shape: [list_length], role: inout}"]),
    ("apart", "src/apart.cu", "next_places", "[100]", ["{name: p_at, type: i32, shape: [p_length], role: inout}"]),
    ("apart", "src/apart.cu", "reverse_lines", "[20]", ["shape: [96 * blocks], role: inout}"]),
    ("apart", "src/apart.cu", "clip_each", "[100]", ["{name: x, type: f16, shape: [n], role: inout}"]),
    ("apart", "src/apart.cu", "look_up", "[100]", ["{name: where, type: f32, shape: [n], role: in, values: {kind: uniform, low: 0, high: 1}} # TODO: a guess: "]),
    ("apart", "src/apart.cu", "widen_all", "[100]", ["{name: y, type: f64, shape: [n], role: out}", "WITH_WIDE, which is 1 here"]),
    ("apart", "src/apart.cu", "halve_counted", "[100]", ["{name: list_at, type: f32, shape: [list_count], role: inout}"]),
    ("apart", "src/apart.cu", "add_row", "[5, 40]", ["role: inout}"]),
    ("apart", "src/apart.cu", "join_halves", "[100]", ["shape: [2 * n], role: in}", "shape: [n], role: out}"]),
    ("apart", "src/apart.cu", "count_each", "[100]", ["{name: counts, type: i32, shape: [n], role: inout}"]),
    # Concepts, builds for several vendors, dispatches of a file's own, places that are each written once.
    ("drawn", "src/drawn.cu", "triple_each", "[100]", ["{name: y, type: f32, shape: [n], role: out}"]),
    ("drawn", "src/drawn.cu", "invert_order", "[5, 40]", ["shape: [rows, width], role: in, values: {kind: permutation}} # TODO: a guess: "]),
    ("drawn", "src/drawn.cu", "raise_places", "[20, 5]", ["values: {kind: distinct, low: 0, high: 2 * n}} # TODO: a guess: "]),
    ("drawn", "src/drawn.cu", "first_of_each", "[5, 40, 20]",
     ["{name: y, type: f32, shape: [rows, kept], role: out}", "- 2 * kept <= length\n"]),
    ("drawn", "src/drawn.cu", "scale_board", "[20, 30]", ["{name: width, type: i32, value: width}", "dims: [width, height]\n"]),
    ("drawn", "src/drawn.cu", "copy_or_skip", "[100]", ["args:\n  - {name: x, type: f32, shape: [n], role: in}", "dims: [n]\n"]),
    ("drawn", "src/drawn.cu", "move_points", "[100]",
     ["{name: points, type: f32, shape: [3 * n], role: inout}", "# TODO: nothing that was read defines real3, which is float3 here"]),
    ("drawn", "src/drawn.cu", "turn_row", "[5, 40]", ["shape: [rows, width], role: out}", "WITH_SCRATCH, which is 1 here"]),
    ("drawn", "csrc/pairs.cu", "add_pairs", "[5, 40]", ["{name: bias, type: f16, shape: [x_size1], role: in}", "- x_size1 % 2 == 0\n"]),
    ("drawn", "src/drawn.cu", "round_each", "[100]", ["{name: y, type: f32, shape: [n], role: out}", "# TODO: which value has the template parameter R?"]),
    ("drawn", "csrc/pairs.cu", "pick_places", "[100]", ["role: in, values: {kind: uniform}}\n"]),
    ("drawn", "csrc/pairs.cu", "negate_rows", "[5, 40]", ["{name: y, type: f32, shape: [x_size0, x_size1], role: out}"]),
]


def repository(folder, style):
    """The fixture as a repository of its own."""
    shutil.copytree(os.path.join(STYLES, style), os.path.join(folder, style))
    write(os.path.join(folder, style, "LICENSE"), "none\n")
    return os.path.join(folder, style)


def small(task, sizes):
    """The proposed workloads replaced by one small one."""
    path = os.path.join(task, "task.yaml")
    head, _, rest = read(path).partition("workloads:")
    dims = re.search(r"^dims: \[(.*)\]", head, re.M).group(1).split(", ")
    values = sizes.strip("[]").split(", ")
    expect(len(dims) == len(values), f"dims are {dims}")
    tail = "".join(line for line in rest.splitlines(True)[1:] if not line.startswith("  - ["))
    write(path, f"{head}workloads:\n  - [{', '.join(values)}]\n{tail}")


@case
def sizes_that_hide_a_race_are_not_taken(folder):
    """A kernel that runs for one size alone, and races there: the task is not made to fit, and the race is said."""
    name = os.path.basename(repository(folder, "alone"))
    done = said(astra(folder, "init", f"{name}/src/kinds.cu:turn_tile_in_place", "--out", "task"), 0)
    yaml = read(os.path.join(folder, "task", "task.yaml"))
    expect("could not be told for all sizes" not in yaml, yaml)
    expect("races with" in done.out + done.err, done.out + done.err)


@cases(SOUND, every=6)
def a_task_is_sound(folder, style):
    name, file, kernel, sizes, words = style
    root = repository(folder, name)
    done = said(astra(folder, "init", f"{name}/{file}:{kernel}", "--out", "task", "--budget-time", "10m"), 0)
    expect("task: kernel.cu, task.yaml, origin.json" in done.out, done.out)
    task = os.path.join(folder, "task")
    yaml = read(os.path.join(task, "task.yaml"))
    for word in words:
        expect(word in yaml, yaml)
    small(task, sizes)
    said(astra(folder, "check", "task", "--mutants", "0", "--device", "sim"), 0)
    origin = json.loads(read(os.path.join(task, "origin.json")))
    for f in origin["files"]:
        with open(os.path.join(root, f["path"]), "rb") as source:
            expect(hashlib.sha256(source.read()).hexdigest() == f["sha256"], f["path"])
    source = read(os.path.join(task, "kernel.cu"))
    for d in origin["declarations"]:
        expect(f'#line {d["line"]} "{d["file"]}"' in source, f"{d['name']}: {done.out}")


@case
def only_what_is_used(folder):
    repository(folder, "torch")
    said(astra(folder, "init", "torch/csrc/norm.cu:rms_norm_kernel", "--out", "task"), 0)
    source = read(os.path.join(folder, "task/kernel.cu"))
    for word in ("warp_sum", "block_sum", "namespace tiny {"):
        expect(word in source, source)
    for word in ("torch", "hip", "Unused", "TORCH_CHECK", "TINY_DISPATCH"):
        expect(word not in source, word)


@case
def the_kernels_are_listed(folder):
    repository(folder, "header")
    done = said(astra(folder, "init", "header/include/tiny/activation.cuh"), 0)
    expect("include/tiny/activation.cuh:13: tiny::activation::SiluKernel  template <uint32_t VEC_SIZE, typename T>" in done.out,
           done.out)
    found = json.loads(said(astra(folder, "init", "header/include/tiny/activation.cuh", "--json"), 0).out)
    expect(found["kernels"][0]["line"] == 13 and found["folder"] is None, found)


@case
def kernels_of_one_name_are_named_by_line(folder):
    repository(folder, "torch")
    done = said(astra(folder, "init", "torch/csrc/ranks.cu:scale_kernel"), 0)
    expect("2 kernels of ranks.cu are called so, and this is the first; the others are named by their lines: 62" in done.out, done.out)
    done = said(astra(folder, "init", "torch/csrc/ranks.cu:62", "--out", "other"), 0)
    expect("(csrc/ranks.cu:62)" in done.out, done.out)


@case
def errors_name_the_framework(folder):
    repository(folder, "own")
    path = os.path.join(folder, "own/add.cu")
    write(path, read(path).replace("    if (i < n)", "    __shared__ float last;\n    last = i;\n    if (i < n)").replace("a[i] +", "last +"))
    said(astra(folder, "init", "own/add.cu:add_kernel", "--out", "task"), 0)
    small(os.path.join(folder, "task"), "[100]")
    done = astra(folder, "check", "task", "--mutants", "0", "--device", "sim")
    expect(done.returncode == 2 and "    from add.cu:8\n" in done.err, done.err)
    repository(os.path.join(folder, "sound"), "own")
    said(astra(folder, "init", "sound/own/add.cu:add_kernel", "--out", "sound/task"), 0)
    small(os.path.join(folder, "sound/task"), "[100]")
    done = said(astra(folder, "profile", "sound/task", "--device", "sim"), 0)
    expect("(add.cu:" in done.out, done.out)


@case
def flags_and_compile_commands(folder):
    write(os.path.join(folder, "repo/LICENSE"), "none\n")
    write(os.path.join(folder, "far/wide.h"), "#ifdef WIDE\n__global__ void wide(float *p) { p[0] = VALUE; }\n#endif\n")
    write(os.path.join(folder, "repo/a.cu"), '#include "wide.h"\n')
    said(astra(folder, "init", "repo/a.cu"), 2, "no __global__ function", "-I DIR")
    said(astra(folder, "init", "repo/a.cu", "-I", "far", "-DWIDE"), 0)
    said(astra(folder, "init", "repo/a.cu", "-Ifar", "-D", "WIDE", "-UWIDE"), 2)
    said(astra(folder, "init", "repo/a.cu", "-Inowhere"), 2, "there is no such folder")
    command = {"directory": folder, "file": "repo/a.cu", "command": "rm -rf / -I 'far' -DWIDE=1 -c repo/a.cu"}
    write(os.path.join(folder, "cc.json"), json.dumps([command]))
    said(astra(folder, "init", "repo/a.cu", "--compile-commands", "cc.json"), 0)
    command = {"directory": folder, "file": "a.cu", "arguments": []}
    write(os.path.join(folder, "cc.json"), json.dumps([command]))
    said(astra(folder, "init", "repo/a.cu", "--compile-commands", "cc.json"), 2, "has no command for")


KERNEL = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n"
REFUSED = [
    ("no_kernel", "int x;\n", "a.cu", ["no __global__ function with a body"]),
    ("not_there", KERNEL, "b.cu", ["b.cu", "No such file"]),
    ("a_folder", KERNEL, ".", ["is no file; name a .cu"]),
    ("near", "__global__ void scale(float *p) { p[0] = 1; }\n", "a.cu:scael", ["has no kernel scael", "did you mean scale?"]),
    ("circle", '#include "a.cu"\n' + KERNEL, "a.cu", ["a.cu:1:10", "include each other in a circle"]),
    ("open_if", "#if 1\n" + KERNEL, "a.cu", ["a.cu:1:2", "this #if is not closed"]),
    ("bad_if", "#if (1\n#endif\n" + KERNEL, "a.cu", ["a.cu:1:2", "lacks a `)`"]),
    ("bytes", "\0" + KERNEL, "a.cu", ["bytes that are no text"]),
    ("unfinished", "__global__ void k(float *p) { if (p[0] > 0) { p[0] = 1; }\n", "a.cu:k", ["a.cu:1:29", "ends within the body of k"]),
    ("no_template", KERNEL, "a.cu:k<float>", ["k is no template", "without <float>"]),
    ("left_out", "#if FP8 > 1\n" + KERNEL + "#endif\n", "a.cu:k", ["a.cu:2:17", "left out by `#if FP8 > 1`", "-D and -U"]),
    ("declared", "template <typename T> __global__ void k(T *p);\n", "a.cu:k", ["a.cu:1:39", "only declared here", "name the file"]),
    ("no_header", '#include "gone.h"\n', "a.cu", ['not found: "gone.h" (a.cu:1)', "-I DIR"]),
    ("huge", "//" + "x" * (9 << 20) + "\n" + KERNEL, "a.cu", ["files of up to"]),
]


@cases(REFUSED)
def refused(folder, what):
    _, text, word, expected = what
    write(os.path.join(folder, "repo/LICENSE"), "none\n")
    write(os.path.join(folder, "repo/a.cu"), text)
    said(astra(os.path.join(folder, "repo"), "init", word), 2, *map(re.escape, expected))


@case
def folders_that_are_refused(folder):
    repository(folder, "own")
    os.mkdir(os.path.join(folder, "there"))
    said(astra(folder, "init", "own/add.cu:add_kernel", "--out", "there"), 2, "there is there already")
    said(astra(folder, "init", "own/add.cu:add_kernel", "--out", "../x"), 2, "`[.][.]`")
    said(astra(folder, "init", "own/add.cu:add_kernel", "--out", ""), 2, "--out is empty")
    expect(not os.listdir(os.path.join(folder, "there")), "written into")


@case
def links_out_of_the_repository(folder):
    write(os.path.join(folder, "repo/LICENSE"), "none\n")
    write(os.path.join(folder, "secret.h"), "#define SECRET 1\n")
    os.symlink("../secret.h", os.path.join(folder, "repo/in.h"))
    write(os.path.join(folder, "repo/a.cu"), '#include "in.h"\n' + KERNEL)
    said(astra(folder, "init", "repo/a.cu"), 2, "a.cu:1:10", "out of the repository", "-I")
    said(astra(folder, "init", "repo/a.cu", "-I."), 0)


@case
def conditions(folder):
    write(os.path.join(folder, "a.cu"), """#if defined(USE_ROCM) || __HIP__
#include <hip/hip_runtime.h>
#endif
#if (__CUDACC_VER_MAJOR__ >= 12 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700)
#define STEP 2
#else
#define STEP 1
#endif
__global__ void k(float *p, int n) {
#ifdef USE_ROCM
  hipSomething();
#else
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#endif
#if (__CUDACC_VER_MAJOR__ >= 12 && __CUDA_ARCH__ >= 700)
  if (i < n) p[i] = STEP;
#else
  if (i < n) p[i] = STEP;
#endif
}
void f(float *p, int n) { k<<<(n + 31) / 32, 32>>>(p, n); }
""")
    said(astra(folder, "init", "a.cu:k", "--out", "task"), 0)
    source = read(os.path.join(folder, "task/kernel.cu"))
    expect("hip" not in source and "__CUDACC" not in source and "__CUDA_ARCH__ >= 700" in source, source)
    small(os.path.join(folder, "task"), "[100]")
    said(astra(folder, "check", "task", "--mutants", "0", "--device", "sim"), 0)


@case
def other_kernels_are_left_out(folder):
    repository(folder, "forms")
    done = said(astra(folder, "init", "forms/src/branch.cu:copy_wide", "--out", "task"), 0)
    expect("copy_wide is launched where not width <= 16" in done.out, done.out)
    source = read(os.path.join(folder, "task/kernel.cu"))
    expect("copy_small" not in source and "fill_kernel" not in source and "clear" not in source, source + done.out)


@case
def a_missing_header_is_named(folder):
    """The task is written as far as it got."""
    write(os.path.join(folder, "k.cu"), '#include "gone.h"\n__global__ void k(Gone *p, int n) { p[n] = 0; }\nvoid f(Gone *p, int n) { k<<<1, n>>>(p, n); }\n')
    done = said(astra(folder, "init", "k.cu:k", "--out", "task"), 0)
    expect('not found: "gone.h" (k.cu:1); -I DIR' in done.out and "has the type Gone" in done.out, done.out)
    expect(os.path.exists(os.path.join(folder, "task/task.yaml")), "no task")


@case
def a_type_that_is_a_guess_is_said(folder):
    """One of integers, by its name; the header that may say it is named all the same."""
    write(os.path.join(folder, "k.cu"), '#include "gone.h"\n__global__ void k(gone_t *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 0; }\n'
          'void f(gone_t *p, int n, cudaStream_t s) { k<<<1, n, 0, s>>>(p, n); }\n')
    done = said(astra(folder, "init", "k.cu:k", "--out", "task"), 0)
    expect('not found: "gone.h" (k.cu:1); -I DIR' in done.out and "defines gone_t, which is int here" in done.out, done.out)


@case
def what_is_not_said_is_named(folder):
    """A shape that is a guess is likelier at fault than the original."""
    small_task(folder, TASK.replace("type: f16, shape: [rows, d], role: out}", "type: f16, shape: [1], role: out} # TODO: which shape has out?"))
    said(astra(folder, "check", "task"), 2, "leaves 1 thing to be said", r"line \d+: which shape has out\?")


@case
def a_header_without_a_guard_is_read_once(folder):
    write(os.path.join(folder, "r/LICENSE"), "none\n")
    write(os.path.join(folder, "r/k.cuh"), "__global__ void k(float *a)\n{\n    a[threadIdx.x] += 1;\n}\n")
    write(os.path.join(folder, "r/run.cu"),
          '#include "k.cuh"\nvoid run(float *a, int n)\n{\n    k<<<1, n>>>(a);\n}\n')
    said(astra(folder, "init", "r/k.cuh:k", "--out", "task"), 0)
    source = read(os.path.join(folder, "task/kernel.cu"))
    expect(source.count("void k(") == 1 and "k<<<1, n, 0, stream>>>" in source, source)


@case
def a_namespace_is_open_before_it_is_used(folder):
    write(os.path.join(folder, "k.cu"),
          "namespace lib {\nstruct Unused {};\n}\nusing namespace lib;\nnamespace lib {\n"
          "__global__ void k(float *a)\n{\n    a[threadIdx.x] += 1;\n}\n}\nvoid run(float *a, int n)\n{\n    k<<<1, n>>>(a);\n}\n")
    said(astra(folder, "init", "k.cu:k", "--out", "task"), 0)
    source = read(os.path.join(folder, "task/kernel.cu"))
    expect("Unused" not in source and source.index("namespace lib {\n") < source.index("using namespace lib;"), source)


WRAPPED = """#include <type_traits>
#define CHECK_EQ(a, b) if ((a) != (b)) throw 1
typedef unsigned int uint;
template <typename T> constexpr bool is_wide_v = std::is_same_v<T, float> || std::is_same_v<T, double>;
enum mode_t { NONE, TWICE, THRICE };
struct sizes_t { using index_t = uint; int rows; index_t width; };
struct params_t : public sizes_t { index_t skipped; const void *x; float *y; };
float3 min(float3 a, float3 b);
template <typename T, int N, mode_t M, bool plus> __global__ void k(params_t p)
{
    static_assert(is_wide_v<T>, "wide");
    uint i = blockIdx.x * N + threadIdx.x;
    const T *x = (const T *)p.x;
    if (i < p.rows * p.width) /* not more often than 7 ??) */
        p.y[i] = T(M) * x[i] + plus;
}
template <typename T, int N, mode_t M, bool plus> void launch(params_t &p, cudaStream_t stream)
{
    auto *f = &k<T, N, M, plus>;
    switch (M) {
    case TWICE:
    case THRICE:
        f<<<(p.rows * p.width + N - 1) / N, min(N, 1024), 0, stream>>>(p);
        break;
    }
}
template <int N, bool plus> void choose(params_t &p, cudaStream_t stream)
{
    constexpr int threads = 128;
    launch<float, threads, NONE, plus>(p, stream);
}
"""


@case
def values_that_no_caller_writes(folder):
    """A constant of the caller, the case that launches, a flag that nobody sets; members of a base struct."""
    write(os.path.join(folder, "k.cu"), WRAPPED)
    done = said(astra(folder, "init", "k.cu:k", "--out", "task"), 0)
    source = read(os.path.join(folder, "task/kernel.cu"))
    expect("N = 128" in source and "M = TWICE" in source and "plus = false" in source, source)
    expect("plus is false here" in done.out and "shapes could not be found" not in done.out and "is_wide_v" in source, done.out)
    expect("shape: [rows, width]" in read(os.path.join(folder, "task/task.yaml")), read(os.path.join(folder, "task/task.yaml")))


@case
def tensors_of_tvm(folder):
    write(os.path.join(folder, "k.cu"),
          "__global__ void k(float *y, const float *x, int d) { y[blockIdx.x * d + threadIdx.x] = x[blockIdx.x * d + threadIdx.x]; }\n"
          "void run(TensorView y, TensorView x) {\n  CHECK_DIM(2, x);\n  TVM_FFI_ICHECK_EQ(y.size(1), x.size(1));\n"
          '  TVM_FFI_ICHECK(x.size(1) <= 1024) << "too wide";\n  auto stream = get_stream(x.device());\n'
          "  k<<<x.size(0), x.size(1), 0, stream>>>(static_cast<float *>(y.data_ptr()), static_cast<const float *>(x.data_ptr()), x.size(1));\n}\n")
    said(astra(folder, "init", "k.cu:k", "--out", "task"), 0)
    task = read(os.path.join(folder, "task/task.yaml"))
    expect("y_size1 <= 1024" in task and "TODO: which shape" not in task, task)


main()
