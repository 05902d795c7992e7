"""Faults to plant in a rung: what the tests must catch, or they prove nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kernels.rungs.rung import Rung


@dataclass(frozen=True, slots=True)
class Fault:
    """`wrong` instead of `right`, which stands once in the rung's text or in the prelude."""

    rung: str
    right: str
    wrong: str


FAULTS = {
    "no barrier": Fault("shared", "__syncthreads();", ""),
    "a corner of the halo is not loaded": Fault(
        "shared",
        "if (at < TILE_W * TILE_H)",
        "if (at < TILE_W * TILE_H && !(at % TILE_W < HALO_X && at / TILE_W < HALO_Y))",
    ),
    "the last loads are left out": Fault("shared", "load < LOADS;", "load < LOADS - 1;"),
    "the tile is as wide as the block": Fault("shared", "corner[j * TILE_W", "corner[j * BLOCK_X"),
    "weights are flipped": Fault(
        "global", "weights[j * KSIZE + i]", "weights[KSIZE * KSIZE - 1 - j * KSIZE - i]"
    ),
    "weights are transposed": Fault("constant", "WEIGHTS[j * KSIZE + i]", "WEIGHTS[i * KSIZE + j]"),
    "the last column is left out": Fault("global", "i < KSIZE;", "i < KSIZE - 1;"),
    "taps stand a sample apart": Fault("constant", "(i - RADIUS) * CHANNELS", "(i - RADIUS)"),
    "samples right of the last block": Fault(
        "global", "x >= width * CHANNELS", "x >= (width - 1) * CHANNELS"
    ),
    "alpha is filtered": Fault("global", "return HAS_ALPHA &&", "return false &&"),
    "clamp is one off": Fault("global", "i < 0 ? 0 : size - 1", "i < 0 ? 1 % size : size - 1"),
    "zero is clamp": Fault("global", "BORDER == CROP) return OUTSIDE", "BORDER == CROP) return 0"),
    "reflect is one off": Fault("global", "2 * size - 1 - i :", "(2 * size - i) % size :"),
    "mirror doubles the edge": Fault("global", ": period - i", ": period - i - 1"),
    "wrap is one off": Fault("global", "if (i < 0) i += period", "if (i < 0) i += period - 1"),
    "pixels left of the picture are rounded up": Fault(
        "global", "(x >= 0 ? x : x - CHANNELS + 1)", "(x)"
    ),
    "the sum is cut off, not rounded": Fault("global", "rintf(value)", "floorf(value)"),
    "halves are rounded up": Fault("global", "rintf(value)", "floorf(value + 0.5f)"),
    "nothing saturates": Fault(
        "global", "fminf(fmaxf(rintf(value), 0.0f), largest)", "rintf(value)"
    ),
    "the second batch fills one row": Fault(
        "shared_two_batch",
        "if (two < TILE_W * TILE_H)",
        "if (two < min(TILE_W * TILE_H, THREADS + TILE_W))",
    ),
    "the second batch reads the first one's rows": Fault(
        "shared_two_batch", "y0 + two / TILE_W", "y0 + one / TILE_W"
    ),
    "a corner of the apron is not loaded": Fault(
        "shared_apron",
        "if (tile_x >= TILE_W || tile_y >= TILE_H) continue;",
        "if (tile_x >= TILE_W || tile_y >= TILE_H || (across && down)) continue;",
    ),
    "the apron below is not loaded": Fault("shared_apron", "down < 2;", "down < 1;"),
    "an untiled picture without a barrier": Fault("shared_untiled", "__syncthreads();", ""),
    "threads step over rows": Fault(
        "shared_untiled", "y < height; y += blockDim.y", "y < height; y += blockDim.y + 1"
    ),
    "an untiled picture keeps its pitch": Fault(
        "shared_untiled", "float* row = tile + from * samples", "float* row = tile + from * pitch"
    ),
    "row and column are swapped": Fault("separable", "ROW[i] * left", "COLUMN[i] * left"),
    "sums are rounded between the passes": Fault(
        "separable", "left[HALO_X] : sum;", "left[HALO_X] : float(to_sample(sum));"
    ),
    "alpha is filtered along columns": Fault(
        "separable", "to_sample(is_alpha(x) ? top[HALO_Y * BLOCK_X] : sum)", "to_sample(sum)"
    ),
    "no barrier before the columns": Fault(
        "separable", "__syncthreads();\n\n    // 2. Convolve.\n    const int y", "\n    const int y"
    ),
    "a strip without its right halo": Fault(
        "separable_flat", "STRIP = THREADS + 2 * HALO_X", "STRIP = THREADS + HALO_X"
    ),
    "columns are a block apart": Fault("separable_flat", "top[j * COLUMNS]", "top[j * BLOCK_X]"),
    "alpha of the row above": Fault("separable_flat", "top[HALO_Y * COLUMNS]", "top[0]"),
    "weights of the rows of a register tile are swapped": Fault(
        "register_tile", "WEIGHTS[(j - row) * KSIZE", "WEIGHTS[(KSIZE - 1 - j + row) * KSIZE"
    ),
    "a register tile at the left edge counts as inside": Fault(
        "register_tile", "x >= LEFT &&", "x >= 0 &&"
    ),
    "a register tile takes every other byte for alpha": Fault(
        "register_tile", "CHANNELS == 2 ? 0xFF00FF00u : 0xFF000000u", "0xFF00FF00u"
    ),
    "an odd row is taken off the row above it": Fault(
        "fast_fir", "even[-STAGE_STRIDE]", "even[STAGE_STRIDE]"
    ),
    "odd rows of weights are even ones": Fault("fast_fir", "WEIGHTS + ROW,", "WEIGHTS,"),
    "differences are read before they are made": Fault(
        "fast_fir", "__syncthreads();\n\n    // 3.", "// 3."
    ),
    "a warp does not wait for its lanes": Fault("ring", "__syncwarp();", ""),
    "a row of the ring is the one before": Fault(
        "ring", "ring[j % STAGES", "ring[(j + STAGES - 1) % STAGES"
    ),
    "the first row of a segment misses its last tap": Fault(
        "ring", "add_row(sums, window, KSIZE - 1 - j,", "add_row(sums, window, KSIZE - j,"
    ),
    "the right halo of the ring is not loaded": Fault(
        "ring", "if (lane < 2 * HALO_CHUNKS) copy_async", "if (lane < HALO_CHUNKS) copy_async"
    ),
    "the middle of a side counts once": Fault("gradient", "2.0f * at(0, -1)", "at(0, -1)"),
    "a slope over samples, not pixels": Fault(
        "gradient", "x + pixels_right * CHANNELS", "x + pixels_right"
    ),
    "alpha has a length": Fault("gradient", "is_alpha(x) ? slope.x : length[0]", "length[0]"),
    "squares overflow": Fault("gradient", "(1e-20f < largest && largest < 1e38f)", "true"),
    "the picture is continued, not what was weighted": Fault(
        "gradient_fused", "if (BORDER != WRAP && (x == 0", "if (false && (x == 0"
    ),
    "no barrier before the slopes": Fault(
        "gradient_fused", "__syncthreads();\n\n    // 3.", "\n    // 3."
    ),
    "the ring around a tile is not loaded": Fault(
        "gradient_fused", "top = y0 - 1 - HALO_Y", "top = y0 - HALO_Y"
    ),
    "the last sums along x are left out": Fault(
        "gradient_fused", "(TILE_W + 2 * QUAD + PART - 1) / PART", "TILE_W / PART"
    ),
    "half a pair at the left end of a band is left out": Fault(
        "tensor", "if (d == -1) multiply_add(sum, left[2], left[3], band[0].x);", "if (d == -1) {}"
    ),
    "a tile's scale is guessed and not checked": Fault(
        "tensor", "if (exponent <= largest) return exponent;", "return exponent;"
    ),
    "what rounding the weights lost is left out": Fault(
        "tensor_split", "sums[n], high, band.low, 2 * p - n", "sums[n], high, band.low, -9"
    ),
    "what rounding the samples lost is left out": Fault(
        "tensor_split", "sums[n], low, band.high, 2 * p - n", "sums[n], low, band.high, -9"
    ),
    "a band begins a column late": Fault(
        "tensor_split", "FIRST_WORD + 2 * t - g;", "FIRST_WORD + 1 + 2 * t - g;"
    ),
    "a tile is written over while it is read": Fault(
        "tensor_separable", "__syncthreads();  // the tile before has been read", ""
    ),
    "sums keep the scale of the rows above": Fault(
        "tensor_separable", "(&sums[0][0][0][0])[s] *= factor;", ";"
    ),
    "of halves that are copied those beside the picture are what was there": Fault(
        "tensor_separable", "put_ends(y, stage);", ""
    ),
    "halves are multiplied before what lies beside them is there": Fault(
        "tensor_separable", "__syncthreads();  // so are those of the other warps", "//"
    ),
    "what rounding the sums along rows lost is left out": Fault(
        "tensor_separable",
        "multiply_add(sums[s][i / 2][i % 2], band.high, low[i / 2][i % 2]);",
        ";",
    ),
    "the last sums along columns are left out": Fault(
        "tensor_separable",
        "bottom = y_end + 16 * (DEEP - 1) - REACH",
        "bottom = y_end + 16 * (DEEP - 2) - REACH",
    ),
    "a carry between the digits of a weight is forgotten": Fault(
        "tensor_dense_bytes", "SIGNED ? 0x808080 & (1 << 8 * number) - 1 : 0", "0"
    ),
    "both rows of a tile are the upper one": Fault(
        "tensor_dense_bytes", "return place / COLUMNS;", "return 0;"
    ),
    "which bytes are kept is told of one row in two": Fault(
        "tensor_dense_bytes", "lane / 4 * 2 + lane % 2)", "lane / 4 * 2)"
    ),
    "alpha is summed from bytes": Fault(
        "tensor_dense_bytes", "if (is_alpha(column_of_sum(place)))", "if (false)"
    ),
    "alpha is scaled as the weights were": Fault(
        "tensor_dense_bytes", "(is_alpha ? 1.0f : undo)", "undo"
    ),
    "a tile on the right has the left one's answer": Fault(
        "tensor_dense_bytes", "right = half[2 * 16];", "right = half[0];"
    ),
    "of two digits one is sixteen times too small": Fault(
        "tensor_dense_bytes", "1 << 8 * (DIGITS - 1 - digit)", "1 << 4 * (DIGITS - 1 - digit)"
    ),
    "what lies beyond a row of bytes is what was there": Fault(
        "tensor_dense_bytes", "if (is_last) put", "if (false) put"
    ),
    "bytes beyond the row are there for one warp alone": Fault(
        "tensor_dense_bytes", "if (is_shared) __syncthreads();", "if (false) __syncthreads();"
    ),
    "rows take others' places while these are read": Fault(
        "tensor_dense_bytes", "__syncthreads();  // those of all", "// those of all"
    ),
    "halves of two sums in a word are rounded down": Fault(
        "words_of_two", "unsigned even = sums + odd;", "unsigned even = sums;"
    ),
    "two sums in a word begin with nothing": Fault(
        "words_of_two", "unsigned start = opaque(both(START))", "unsigned start = opaque(both(0))"
    ),
    "who walks up has the weights of who walks down": Fault(
        "words_of_two", "return whole_at(FLIPPED ? k", "return whole_at(FLIPPED ? KSIZE - 1 - k"
    ),
    "beyond a row that is no multiple of a chunk is what was there": Fault(
        "words_of_two", "side <= reaches_end;", "side < 1;"
    ),
    "alpha is that of the row that came last": Fault(
        "words_of_two",
        "make_uint4(centres[0][0], centres[0][1], centres[0][2], centres[0][3])",
        "make_uint4(own[0], own[1], own[2], own[3])",
    ),
    "all samples of a small blur count as they are": Fault(
        "words_of_two", "word % 2 ? 0x80FF80FFu : 0", "0"
    ),
    "half of an odd byte is left out": Fault("words_of_two", "add_small(sums, both(8))", "sums"),
    "a window begins where the one before it does": Fault(
        "tensor_windows", "row(n / PIECES * 4) + piece,", "row(n / PIECES * 4),"
    ),
    "four rows are those of the stage before": Fault(
        "tensor_windows", "(at < RING_ROWS ? at : at - RING_ROWS)", "(at < RING_ROWS ? at : at - 4)"
    ),
    "behind a ring's last rows nothing is found once more": Fault(
        "tensor_windows", "twice <= is_twice;", "twice < 1;"
    ),
    "nor behind one that the copy engine fills": Fault(
        "tensor_windows", "if (is_twice) bring", "if (false) bring"
    ),
    "what threads bring ends with the strip": Fault(
        "tensor_windows", "if (has_side) copy", "if (false) copy"
    ),
    "the next step's rows end as they came": Fault(
        "tensor_windows", "if (IS_OFF) wait_for_stage(step + LOOK + 1);", ""
    ),
    "the high digit counts for a little less": Fault(
        "tensor_windows", "digits[0] * 256 + digits[2]", "digits[0] * 255 + digits[2]"
    ),
    "every second pair of neighbours is the other way round": Fault(
        "tensor_windows", "is_odd ? 0x3726 : 0x5140", "is_odd ? 0x7362 : 0x5140"
    ),
    "whoever walks up has the weights of who walks down": Fault(
        "tensor_windows", "(is_up ? BANDS : 0)", "0"
    ),
    "a stage goes while it is multiplied": Fault(
        "tensor_windows", "__syncthreads();  // nobody needs", "// nobody needs"
    ),
    "rows beyond the picture are what they were": Fault(
        "tensor_windows", "if (is_outside(4 * i + warp))", "if (false)"
    ),
    "what lies right of a row is what was there": Fault(
        "tensor_windows", "reaches_end = x0 + STRIP + HALO_X > samples", "reaches_end = false"
    ),
    "alpha is divided as the others are": Fault(
        "tensor_windows", "is_copied ? 1.0f :", "false ? 1.0f :"
    ),
    "the low bits of sums of bytes are left out": Fault(
        "tensor_tile_bytes", "(along[2 * i] >> 8 & 255) | ", "0 | "
    ),
    "what rounding the weights down lost is left out": Fault(
        "tensor_tile_bytes", "part = 0; part < 3; ++part)  // ", "part = 1; part < 3; ++part)  // "
    ),
    "both halves of a block in two are the right one": Fault(
        "tensor_tile_bytes", "lane % 4 < 2 ? row[n + 2 * BESIDE] : row[n]", "row[n + 2 * BESIDE]"
    ),
    "sums of signed digits begin with nothing": Fault(
        "tensor_tile_bytes", "const int begin = bands[WORDS_OF_WEIGHTS];", "const int begin = 0;"
    ),
    "the weights go round the other way": Fault(
        "tensor_tile_bytes", "(s + GROUPS - 1 - newest) % GROUPS", "(s + newest) % GROUPS"
    ),
    "rows are summed before what lies beside them is here": Fault(
        "tensor_tile_bytes",
        "beyond.put(ring + (slot + s) * GROUP_CHUNKS, top",
        "beyond.put(const_cast<uint4*>(eight) + s * GROUP_CHUNKS, top",
    ),
    "what lies beside the first rows is put there before these are here": Fault(
        "tensor_tile_bytes",
        "        __syncthreads();\n    }\n    #pragma unroll\n",
        "    }\n    #pragma unroll\n",
    ),
    "of chunks that change places one does not": Fault(
        "tensor_tile_bytes", "samples[from ^ other]", "samples[from]"
    ),
    "rows above the picture are read as if inside": Fault(
        "tensor_tile_bytes", "before = top < 0 ? (7 - top) / 8 : 0", "before = 0"
    ),
    "alpha is of the first rows": Fault(
        "tensor_tile_bytes", "row_of(src, y0 + row, pitch), x)", "row_of(src, row % 8, pitch), x)"
    ),
    "of a step's two groups of rows the second is the first": Fault(
        "tensor_tile_bytes", "else eight += GROUP_CHUNKS;", ""
    ),
    "a row leaves the running sums too early": Fault(
        "running_sums", "mine, y - RADIUS, height", "mine, y - RADIUS + 1, height"
    ),
    "running sums are written before the last rows were read": Fault(
        "running_sums", "__syncthreads();  // the rows before have been read", ""
    ),
    "a run's answer overwrites what its neighbour reads": Fault(
        "running_sums", "__syncwarp();  // the row has been read", "  //"
    ),
    "running sums forget the channels": Fault(
        "running_sums", "sums[i % CHANNELS]", "sums[(i + 1) % CHANNELS]"
    ),
    "spectra are multiplied as real numbers": Fault("fft", "a.x * w.x - a.y * w.y", "a.x * w.x"),
    "the second tile of a pair is taken too far left": Fault(
        "fft", "x + VALID * CHANNELS, y", "x + (VALID - 1) * CHANNELS, y"
    ),
    "parts of a transform are handed over at once": Fault(
        "fft_registers", "__syncthreads();  // what was handed over before has been taken", ""
    ),
    "the inverse transform goes forward": Fault(
        "fft_registers", "v[k] = make_float2(v[k].y, v[k].x)", "v[k] = make_float2(v[k].x, v[k].y)"
    ),
    "the last row beyond the edge is left out of a transform": Fault(
        "fft_registers", "y < height + RADIUS)", "y < height + RADIUS - 1)"
    ),
    "sums along x are read before all are there": Fault(
        "tile_separable", "    __syncthreads();\n\n    const int quad", "    const int quad"
    ),
    "chunks at the right end of a row are left out": Fault(
        "tile_separable", "left + max(wanted - right, 0);", "left;"
    ),
    "the last row of a band counts for too few sums": Fault(
        "tile_separable", "tap + i - (BAND - 1) >= KSIZE", "tap + i - (BAND - 2) >= KSIZE"
    ),
    "the second extreme is of the picture as well": Fault(
        "morphology_passes",
        "if constexpr (KIND == GRADIENT) run_down",
        "if constexpr (true) run_down",
    ),
    "a hat is the wrong way round": Fault(
        "morphology_passes", "made = second - row_of(src", "made = row_of(src"
    ),
    "what does not count is the first extreme's": Fault(
        "morphology_disk", "disk_extreme<SECOND>(tiles, first", "disk_extreme<FIRST>(tiles, first"
    ),
    "a disk's alpha is an extreme": Fault(
        "morphology_disk", "if (is_alpha(x)) found", "if (false) found"
    ),
    "the first extreme goes on beyond the picture": Fault(
        "morphology_ring", "if (BORDER != WRAP && column", "if (false && column"
    ),
    "the rows that are kept are a step old": Fault(
        "morphology_ring", "kept[i] = values[STEP_ROWS + i]", "kept[i] = values[i]"
    ),
    "both rings look for the same extreme": Fault(
        "morphology_rings", "extreme_of<SECOND>(KIND", "extreme_of<FIRST>(KIND"
    ),
    "a gradient is of the first extreme": Fault(
        "morphology_rings", "KIND == GRADIENT ? src : first,", "first,"
    ),
    "the second half of a group's columns is the first": Fault(
        "tensor_warpgroups", "(8 * (warp / 4) + 4 * n)", "(8 * (warp / 4))"
    ),
    "what samples lose as halves is left out": Fault(
        "tensor_warpgroups", "(PARTS == 2 && i < ALONG) * PLANE", "0 * PLANE"
    ),
    "what sums lose as halves is that of other rows": Fault(
        "tensor_warpgroups", "(sums, low[c], band, true)", "(sums, low[1 - c], band, true)"
    ),
    "the column's weights are halves": Fault(
        "tensor_warpgroups",
        "multiply_add_halves<SUMS, BAND / 2>(sums, high[c], band + BAND / PIECE, true);",
        "",
    ),
    "the ring of sums does not go round": Fault(
        "tensor_warpgroups", "SUMS - 16 * phase", "SUMS + 16 * phase"
    ),
    "sums under way keep their power of two": Fault(
        "tensor_warpgroups", "sum *= factor", "sum *= 1.0f"
    ),
    "what is far too large keeps its power of two": Fault(
        "tensor_warpgroups", "exponent > exponent_for(peak, ROOM + SPARE, UNDO[0])", "false"
    ),
    "beyond the row's end there is nothing": Fault(
        "tensor_warpgroups", "x + k < width + RADIUS", "x + k < width"
    ),
    "a hat has not been taken off the picture": Fault(
        "morphology_rings", "IS_HAT ? word_at(src, at) : 0", "IS_HAT ? word_at(first, at) : 0"
    ),
    "alpha is told of the word to the right": Fault(
        "morphology_rings", "at % pitch / (4 / BYTES)", "at % pitch / (4 / BYTES) + 1"
    ),
    "only the last term counts": Fault("low_rank", "if (term == 0) begin_down", "begin_down"),
    "a term is summed over what is still read": Fault(
        "low_rank", "__syncthreads();  // what was summed along x has been read", ""
    ),
    "the least sample is not put in its place": Fault("median_sort", "at > 0 && ", "at > 1 && "),
    "percentiles are of one sample less": Fault(
        "median_sort", "count * PERCEN", "--count * PERCEN"
    ),
    "the last three samples stay as they are": Fault(
        "median_network", "count >= 3;", "count >= 4;"
    ),
    "a column's third sample is its first": Fault(
        "median_columns", "read(above, -1)", "read(above, 0)"
    ),
    "the other half of a pair is of another row": Fault(
        "median_pairs", "row_at(src, at, y + rows,", "row_at(src, at, y + rows - 1,"
    ),
    "windows on the right lack their last column": Fault(
        "median_tiles", "columns<X0 + KSIZE, X + KSIZE,", "columns<X0 + KSIZE - 1, X + KSIZE - 1,"
    ),
    "beside a block lies what is beside its left end": Fault(
        "median_tiles", "side < SIDES / 2 ? side : 32 + side", "side % (SIDES / 2)"
    ),
    "windows below lack their last row": Fault(
        "median_halves", "part.y + (second ? KSIZE :", "part.y + (second ? KSIZE - 1 :"
    ),
    "a row is counted out too late": Fault(
        "median_histogram", "read(going, row - (KSIZE - 1))", "read(going, max(row - KSIZE, 0))"
    ),
    "down begins with the word that it is in": Fault(
        "median_histogram", "KSIZE * KSIZE - below, --word", "KSIZE * KSIZE - below"
    ),
    "a leap does not begin anew": Fault("median_histogram", "passed = 0, word =", "word ="),
    "the rank itself settles no bit": Fault("rank_bits", "below[r] <= st", "below[r] < st"),
    "a window's first row is not counted": Fault(
        "rank_bits", "-RADIUS <= j - r", "-RADIUS < j - r"
    ),
    "samples of equal digits change places": Fault(
        "rank_tile",
        "const unsigned lower = equal & ((1u << lane) - 1)",
        "const unsigned lower = equal & ~((2u << lane) - 1)",
    ),
    "the upper half of a number is not sorted by": Fault(
        "rank_tile", "if (pass == 2) {", "if (pass == 4) {"
    ),
    "the other place of a word is the answer": Fault(
        "rank_tile", "bit % 16) + bit / 16", "bit % 16) + 1 - bit / 16"
    ),
    "a window has a column more": Fault(
        "rank_tile", "beyond = from - KSIZE * ONES", "beyond = from - KSIZE * ONES - 1"
    ),
    "a disk lacks its outermost samples": Fault(
        "extreme_taps", "i * i + j * j <=", "i * i + j * j <"
    ),
    "the last row's minimum is left out": Fault(
        "extreme_separable", "j < KSIZE; ++j", "j < RADIUS; ++j"
    ),
    "the end of the part before is one row long": Fault(
        "extreme_running", "best<MAX>(beginning, ends[(i + 1)", "best<MAX>(beginning, ends[i"
    ),
    "one sample of the core is left out": Fault("extreme_ring", "(KSIZE - B) % 2 == 1", "false"),
    "places at once do not add up to all": Fault("extreme_ring", "count % b == 0 && ", ""),
    "a warp brings one row a lane": Fault("extreme_copies", "first += 32", "first += 64"),
    "a window's last sample is its neighbour": Fault(
        "extreme_copies", "in(from + (KSIZE + i - 1) * APART)", "in(from + (KSIZE + i - 2) * APART)"
    ),
    "rows below the centre are halfway there": Fault(
        "extreme_disk", "above + 2 * j * TILE_W", "above + j * TILE_W"
    ),
    "differences of a patch's last row are left out": Fault(
        "patches", "m < PATCH * PATCH;", "m < PATCH * (PATCH - 1);"
    ),
    "no barrier before the sums of squares": Fault(
        "patches_offsets", "__syncthreads();\n        // 2.", "// 2."
    ),
    "a whole part has one of the next": Fault(
        "patches_strip", "j >= PATCH && in_part + 1 < PATCH", "j >= PATCH"
    ),
    "a lane's odd column is not its neighbour's": Fault(
        "patches_strip", "__shfl_down_sync(~0u, down[1], PATCH_RADIUS)", "down[1]"
    ),
    "padding of a patch is multiplied": Fault(
        "patches_tensor", "is_padding ? 0 : own_bits(word % PATCH_WORDS)", "~0u"
    ),
    "candidates beside the window count": Fault(
        "patches_tensor", "< KSIZE ? bias", "<= KSIZE ? bias"
    ),
    "a square's last windows have no last row": Fault(
        "patches_tensor", "LIVE = 4 + 2 * RADIUS", "LIVE = 3 + 2 * RADIUS"
    ),
    "alpha is drawn as a line": Fault("guided_windows", "is_alpha(x) ? value : ", ""),
    "a row leaves a row too early": Fault(
        "guided_running", "y + row - RADIUS, height)", "y + row - RADIUS + 1, height)"
    ),
    "a run is written over while others read it": Fault(
        "guided_running",
        "__syncthreads();\n        #pragma unroll\n        for (int i = 0; i < RUN; ++i) run[i]",
        "for (int i = 0; i < RUN; ++i) run[i]",
    ),
}

# Of medians, in what is done of large pictures alone.
LARGE_FAULTS = {
    "the last row lacks what is beside a tile": Fault(
        "median_columns", "if (r < TALL) copy_async", "if (r < TALL - 1) copy_async"
    ),
    "a warp's rows are those of the one above": Fault(
        "median_columns", "threadIdx.x / 32 * ROWS + 1)", "threadIdx.x / 32 * (ROWS - 1) + 1)"
    ),
    "a walk ends where that of a small picture does": Fault(
        "median_pairs", "y < y0 + rows;", "y < y0 + ROWS;"
    ),
    "windows below lack their lowest row": Fault(
        "median_tiles", "rows<Y0 + KSIZE, Y + KSIZE,", "rows<Y0 + KSIZE - 1, Y + KSIZE - 1,"
    ),
}

# These may well give the right answer; a run with every access checked sees them all the same.
HIDDEN_FAULTS = {
    "reads below the last row": Fault("global", "i < 0 ? 0 : size - 1", "i < 0 ? 0 : size"),
    "writes behind the tile": Fault(
        "shared", "if (at < TILE_W * TILE_H)", "if (at <= TILE_W * TILE_H)"
    ),
    "the second batch is not guarded": Fault(
        "shared_two_batch", "if (two < TILE_W * TILE_H)", "if (true)"
    ),
    "threads without a row go on": Fault("separable_flat", " || thread >= ROWS * COLUMNS", ""),
    "all threads write one sample": Fault(
        "global",
        "float sum = OFFSET;",
        "float sum = OFFSET; row_of(dst, first_row, pitch)[0] = to_sample(sum);",
    ),
}


# Of rungs that do a whole list in one launch.
LIST_FAULTS = {
    "the border of the picture at the first step alone": Fault(
        "list_tiles", "if constexpr (STEP + 1 < COUNT) continue_tile", "if (false) continue_tile"
    ),
    "a row too high": Fault(
        "list_tiles", "const int row = min(UP - R + first", "const int row = min(UP - R + 1 + first"
    ),
    "lengths of tiles leave the range of a float": Fault(
        "list_tiles", "lengths_of<RUN, keeps_floats(STEP)>", "lengths_of<RUN>"
    ),
    "rows of the weights the other way round": Fault(
        "list_ring", "const int down = 2 * R - j;", "const int down = j;"
    ),
    "lanes at a warp's end are outputs": Fault(
        *("list_ring", "constexpr int EDGE = (REACH * CHANNELS + V - 1) / V;"),
        "constexpr int EDGE = 0;",
    ),
    "lengths of a ring leave the range of a float": Fault(
        "list_ring", "lengths_of<V, keeps_floats(STEP)>", "lengths_of<V>"
    ),
    "a step has the amounts of the first": Fault(
        "list_ring", "sum + AMOUNTS[STEP].offset", "sum + AMOUNTS[0].offset"
    ),
}


@dataclass(frozen=True)
class BrokenRung(Rung):
    """A rung with one fault, in its own source or in the prelude."""

    fault: Fault = Fault("", "", "")

    @property
    def text(self) -> str:
        text = super().text
        is_of_header = self.fault.right in super().headers
        return text.replace(self.fault.right, self.fault.wrong) if is_of_header else text

    @property
    def headers(self) -> str:
        return super().headers.replace(self.fault.right, self.fault.wrong)


def plant(fault: Fault, rung: Rung) -> BrokenRung:
    """`rung` with `fault` in it; AssertionError where that does not fit exactly once."""
    assert rung.text.count(fault.right) == 1
    values = {field.name: getattr(rung, field.name) for field in fields(rung)}
    values["source"] = rung.source.replace(fault.right, fault.wrong)
    return BrokenRung(**values, fault=fault)
