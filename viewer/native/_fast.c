/* Native accelerator: search whole blocks for bytes and frames, and judge JSON. It returns columns and decides nothing.

   Every function takes a buffer, holds no Python object, and releases the interpreter lock while it works.
   All offsets are int64_t, every allocation is checked, and nothing recurses. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#include <immintrin.h>
#else
#define HAS_X86 0
#endif

/* Must equal the number in __init__.py, so that a module compiled from older source is not used. */
#define EDITION 5

/* ---- columns ---------------------------------------------------------------------------------------------- */

/* A growing array of rows of a fixed size. Once an allocation fails, `failed` is set and stays set. */
typedef struct {
    char *data;
    size_t row_size, count, capacity;
    int failed;
} Column;

static void *column_add(Column *column) {
    if (column->count == column->capacity) {
        size_t capacity = column->capacity ? column->capacity * 2 : 64;
        char *data = NULL;
        if (capacity <= (size_t)PY_SSIZE_T_MAX / column->row_size)
            data = realloc(column->data, capacity * column->row_size);
        if (!data) {
            column->failed = 1;
            return NULL;
        }
        column->data = data;
        column->capacity = capacity;
    }
    return column->data + column->row_size * column->count++;
}

static int column_add_offset(Column *column, int64_t offset) {
    int64_t *row = column_add(column);
    if (!row) return 0;
    *row = offset;
    return 1;
}

/* Return the rows as bytes, or raise MemoryError, and free the column. */
static PyObject *column_bytes(Column *column) {
    PyObject *bytes;
    if (column->failed)
        bytes = PyErr_NoMemory();
    else
        bytes = PyBytes_FromStringAndSize(column->data, (Py_ssize_t)(column->count * column->row_size));
    free(column->data);
    return bytes;
}

/* ---- kernels: for each instruction set, one that finds pairs and one that finds bytes of a set -------------- */

/* Two bytes at a fixed distance, each with two possible values: `<|`, or the two rarest bytes of a needle. */
typedef struct {
    int64_t first_at, second_at;
    uint8_t first, first_other, second, second_other;
} Pair;

#define MOST_RANGES 16

/* A set of bytes: a flag for each byte, and its ranges by their first byte and width. */
typedef struct {
    int count;
    uint8_t low[MOST_RANGES], width[MOST_RANGES], has[256];
} Set;

/* What to find: one of the two; the other is NULL. */
typedef struct {
    const Pair *pair;
    const Set *set;
} Wanted;

/* A kernel has one loop for pairs and one for sets, both generated from the same lines. */
#define INLINE static inline __attribute__((always_inline))
#define BOTH_LOOPS(loop)                                                                                              \
    if (wanted.pair) return loop(data, at, limit, (Wanted){wanted.pair, NULL}, found);                                 \
    return loop(data, at, limit, (Wanted){NULL, wanted.set}, found);

INLINE int is_wanted(const uint8_t *at, Wanted wanted) {
    if (wanted.pair) {
        const Pair *pair = wanted.pair;
        uint8_t one = at[pair->first_at], two = at[pair->second_at];
        return (one == pair->first || one == pair->first_other) && (two == pair->second || two == pair->second_other);
    }
    return wanted.set->has[*at];
}

/* Return the offset of the first block of 64 bytes, counted from `at`, that contains a match, and set a bit in `found`
   for each match. Only whole blocks before `limit` are searched. */
typedef int64_t (*Kernel)(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found);

/* Compilers turn the loop over pairs into vector instructions. */
INLINE int any_wanted(const uint8_t *data, Wanted wanted) {
    uint8_t any = 0;
    if (wanted.pair) {
        const Pair pair = *wanted.pair;
        const uint8_t *one = data + pair.first_at, *two = data + pair.second_at;
        for (int place = 0; place < 64; place++)
            any |= ((one[place] == pair.first) | (one[place] == pair.first_other)) &
                   ((two[place] == pair.second) | (two[place] == pair.second_other));
    } else {
        for (int place = 0; place < 64; place++) any |= wanted.set->has[data[place]];
    }
    return any;
}

INLINE int64_t loop_scalar(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    *found = 0;
    for (; at + 64 <= limit; at += 64)
        if (any_wanted(data + at, wanted)) {
            for (int place = 0; place < 64; place++) *found |= (uint64_t)is_wanted(data + at + place, wanted) << place;
            return at;
        }
    return at;
}

static int64_t next_scalar(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    BOTH_LOOPS(loop_scalar)
}

#if HAS_X86
INLINE __m128i load16(const uint8_t *data) { return _mm_loadu_si128((const __m128i *)(const void *)data); }

INLINE __m128i either16(__m128i bytes, uint8_t one, uint8_t other) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)one)),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)other)));
}

INLINE __m128i wanted16(const uint8_t *data, Wanted wanted) {
    if (wanted.pair) {
        const Pair *pair = wanted.pair;
        return _mm_and_si128(either16(load16(data + pair->first_at), pair->first, pair->first_other),
                             either16(load16(data + pair->second_at), pair->second, pair->second_other));
    }
    __m128i bytes = load16(data), any = _mm_setzero_si128();
    for (int range = 0; range < wanted.set->count; range++) {
        __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8((char)wanted.set->low[range]));
        __m128i most = _mm_set1_epi8((char)wanted.set->width[range]);
        any = _mm_or_si128(any, _mm_cmpeq_epi8(_mm_min_epu8(above, most), above));
    }
    return any;
}

INLINE int64_t loop_sse2(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    uint64_t bits = 0;
    for (; at + 64 <= limit; at += 64) {
        for (int part = 0; part < 64; part += 16)
            bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(wanted16(data + at + part, wanted)) << part;
        if (bits) break;
    }
    *found = bits;
    return at;
}

static int64_t next_sse2(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    BOTH_LOOPS(loop_sse2)
}

#define AVX2 __attribute__((target("avx2")))

AVX2 INLINE __m256i load32(const uint8_t *data) {
    return _mm256_loadu_si256((const __m256i *)(const void *)data);
}

AVX2 INLINE __m256i either32(__m256i bytes, uint8_t one, uint8_t other) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)one)),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)other)));
}

AVX2 INLINE __m256i wanted32(const uint8_t *data, Wanted wanted) {
    if (wanted.pair) {
        const Pair *pair = wanted.pair;
        return _mm256_and_si256(either32(load32(data + pair->first_at), pair->first, pair->first_other),
                                either32(load32(data + pair->second_at), pair->second, pair->second_other));
    }
    __m256i bytes = load32(data), any = _mm256_setzero_si256();
    for (int range = 0; range < wanted.set->count; range++) {
        __m256i above = _mm256_sub_epi8(bytes, _mm256_set1_epi8((char)wanted.set->low[range]));
        __m256i most = _mm256_set1_epi8((char)wanted.set->width[range]);
        any = _mm256_or_si256(any, _mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above));
    }
    return any;
}

AVX2 INLINE int64_t loop_avx2(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    *found = 0;
    for (; at + 64 <= limit; at += 64) {
        __m256i low = wanted32(data + at, wanted), high = wanted32(data + at + 32, wanted);
        if (!_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1))) {
            *found = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
            return at;
        }
    }
    return at;
}

AVX2 static int64_t next_avx2(const uint8_t *data, int64_t at, int64_t limit, Wanted wanted, uint64_t *found) {
    BOTH_LOOPS(loop_avx2)
}
#endif

static const struct {
    const char *name;
    Kernel next;
} LEVELS[] = {
    {"scalar", next_scalar},
#if HAS_X86
    {"sse2", next_sse2},
    {"avx2", next_avx2},
#endif
};

static int level_count = 1, level = 0;

static void find_levels(void) {
#if HAS_X86
    __builtin_cpu_init();
    level_count = __builtin_cpu_supports("avx2") ? 3 : 2;
#endif
    level = level_count - 1;
}

/* An iterator over all matches in the data. */
typedef struct {
    const uint8_t *data;
    int64_t at, limit;
    Wanted wanted;
    uint64_t found;
    Kernel next;
} Walk;

/* Return an iterator over the matches before `limit`. Both bytes of a pair must be in the data. */
static Walk walk_over(const uint8_t *data, int64_t limit, Wanted wanted) {
    return (Walk){data, -64, limit, wanted, 0, LEVELS[level].next};
}

/* Return the offset of the next match, or -1 after the last one. */
static inline int64_t next_place(Walk *walk) {
    if (!walk->found) {
        walk->at = walk->next(walk->data, walk->at + 64, walk->limit, walk->wanted, &walk->found);
        for (int64_t at = walk->at; !walk->found && at < walk->limit; at++)
            if (is_wanted(walk->data + at, walk->wanted)) {
                walk->at = at - 63; /* the search continues at the next byte */
                walk->found = (uint64_t)1 << 63;
            }
        if (!walk->found) return -1;
    }
    int bit = __builtin_ctzll(walk->found);
    walk->found &= walk->found - 1;
    return walk->at + bit;
}

/* ---- find ------------------------------------------------------------------------------------------------- */

#define SAMPLES 16
#define SAMPLE 256

/* Find the two rarest bytes of a needle, judging by samples of the data. */
static Pair rarest_pair(const uint8_t *data, int64_t size, const uint8_t *needle, const uint8_t *other,
                        int64_t length) {
    uint32_t counts[256] = {0};
    for (int64_t sample = 0; sample < SAMPLES; sample++) {
        int64_t first = size / SAMPLES * sample, last = first + SAMPLE < size ? first + SAMPLE : size;
        for (int64_t at = first; at < last; at++) counts[data[at]]++;
    }
    int64_t best = 0, next = -1;
    uint64_t best_cost = UINT64_MAX, next_cost = UINT64_MAX;
    for (int64_t at = 0; at < length; at++) {
        uint64_t cost = counts[needle[at]] + (needle[at] == other[at] ? 0 : counts[other[at]]);
        if (cost < best_cost) {
            next = at ? best : -1, next_cost = best_cost;
            best = at, best_cost = cost;
        } else if (cost < next_cost) {
            next = at, next_cost = cost;
        }
    }
    if (next < 0) next = best;
    return (Pair){best, next, needle[best], other[best], needle[next], other[next]};
}

static void find_all(Column *found, const uint8_t *data, int64_t size, const uint8_t *needle, const uint8_t *other,
                     int64_t length) {
    Pair pair = rarest_pair(data, size, needle, other, length);
    Walk walk = walk_over(data, size - length + 1, (Wanted){&pair, NULL});
    for (int64_t at; (at = next_place(&walk)) >= 0;) {
        int64_t place = 0;
        while (place < length && (data[at + place] == needle[place] || data[at + place] == other[place])) place++;
        if (place == length && !column_add_offset(found, at)) return;
    }
}

static PyObject *fast_find(PyObject *module, PyObject *arguments) {
    Py_buffer data, needle, fold;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*y*y*:find", &data, &needle, &fold)) return NULL;
    PyObject *result = NULL;
    if (!needle.len || needle.len != fold.len) {
        PyErr_SetString(PyExc_ValueError, "the needle is empty, or its other spelling has another length");
    } else {
        Column found = {NULL, sizeof(int64_t), 0, 0, 0};
        Py_BEGIN_ALLOW_THREADS
        if (needle.len <= data.len) find_all(&found, data.buf, data.len, needle.buf, fold.buf, needle.len);
        Py_END_ALLOW_THREADS
        result = column_bytes(&found);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&needle);
    PyBuffer_Release(&fold);
    return result;
}

/* ---- places ----------------------------------------------------------------------------------------------- */

static void find_places(Column *found, const uint8_t *data, int64_t size, const Set *set) {
    Walk walk = walk_over(data, size, (Wanted){NULL, set});
    for (int64_t at; (at = next_place(&walk)) >= 0;)
        if (!column_add_offset(found, at)) return;
}

static PyObject *fast_places(PyObject *module, PyObject *arguments) {
    Py_buffer data, ranges;
    Set set = {0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*y*:places", &data, &ranges)) return NULL;
    PyObject *result = NULL;
    const uint8_t *bounds = ranges.buf;
    int is_valid = ranges.len % 2 == 0 && ranges.len <= 2 * MOST_RANGES;
    for (; is_valid && set.count < ranges.len / 2; set.count++) {
        uint8_t low = bounds[2 * set.count], high = bounds[2 * set.count + 1];
        set.low[set.count] = low;
        set.width[set.count] = (uint8_t)(high - low);
        if (low > high) is_valid = 0;
        for (int byte = low; byte <= high; byte++) set.has[byte] = 1;
    }
    if (!is_valid) {
        PyErr_SetString(PyExc_ValueError, "the ranges are not pairs of a low and a high byte, or too many");
    } else {
        Column found = {NULL, sizeof(int64_t), 0, 0, 0};
        Py_BEGIN_ALLOW_THREADS
        find_places(&found, data.buf, data.len, &set);
        Py_END_ALLOW_THREADS
        result = column_bytes(&found);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&ranges);
    return result;
}

/* ---- frames ----------------------------------------------------------------------------------------------- */

enum { FOREIGN, OTHER, START, MESSAGE, INNER, END, RETURN, CALL };

/* The bytes after `<|` that identify a token: at most eight or nine of them. */
static const struct {
    const char *text;
    uint8_t length, kind;
} TOKENS[] = {
    {"start|>", 7, START}, {"message|>", 9, MESSAGE}, {"channel|", 8, INNER},  {"constrai", 8, INNER},
    {"end|>", 5, END},     {"return|>", 8, RETURN},   {"call|>", 6, CALL},
    {"literal|", 8, OTHER}, {"endliter", 8, OTHER},
};
#define TOKEN_COUNT (sizeof TOKENS / sizeof *TOKENS)
static const int64_t STOP_LENGTHS[] = {7, 10, 8}; /* of `<|end|>`, `<|return|>` and `<|call|>` */

#define START_LENGTH 9
#define LONGEST_TOKEN 13
#define LONGEST_GAP 64
#define LONGEST_WORDS 192
#define LONGEST_ID 64
#define MOST_KINDS 3000
#define KIND_SLOTS 8192
#define MOST_PROBES 64
#define IRREGULAR (-1)

#define ESCAPED 1 /* a flag: the body has a mark after `<`, which escapes it */

/* A plain frame: `<|start|>`, words, `<|message|>`, a body without tokens, a stop. Python reads these 48 bytes. */
typedef struct {
    int64_t start, message, stop, id_start; /* 0 without a call id */
    int32_t id_length, kind;
    uint32_t flags;
    uint8_t ending, follows; /* `follows`: only whitespace before the next row */
    uint16_t unused;
} Row;

static inline int is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

static inline int token_at(const uint8_t *data, int64_t size, int64_t at) {
    for (size_t number = 0; number < TOKEN_COUNT; number++)
        if (data[at + 2] == (uint8_t)TOKENS[number].text[0] && size - at - 2 >= TOKENS[number].length &&
            !memcmp(data + at + 2, TOKENS[number].text, TOKENS[number].length))
            return TOKENS[number].kind;
    return FOREIGN;
}

/* Find the call id of a header. Return 0 if there is more than one, which only the parser can handle. */
static int find_id(const uint8_t *data, Row *row) {
    const uint8_t *words = data + row->start + START_LENGTH, *end = data + row->message, *key = NULL;
    for (const uint8_t *at = words; (at = memchr(at, '=', (size_t)(end - at))); at++)
        if (at - words >= 7 && !memcmp(at - 7, "call_id", 7)) {
            if (key) return 0;
            key = at;
        }
    if (!key || key - words < 8 || !is_space(key[-8])) return 1;
    const uint8_t *last = key + 1;
    while (last < end && *last > ' ' && *last < 0x7f && *last != '<') last++;
    if (last == key + 1 || last - key > LONGEST_ID + 1 || (last < end && *last != '<' && !is_space(*last))) return 1;
    row->id_start = key + 1 - data;
    row->id_length = (int32_t)(last - key - 1);
    return 1;
}

/* The words of a header before and after its call id. */
typedef struct {
    const uint8_t *before, *after;
    size_t before_length, after_length;
} Words;

static Words words_of(const uint8_t *data, const Row *row) {
    int64_t first = row->start + START_LENGTH, before_end = row->id_start ? row->id_start : row->message;
    int64_t after = before_end + row->id_length;
    return (Words){data + first, data + after, (size_t)(before_end - first), (size_t)(row->message - after)};
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t length) {
    hash += length;
    for (; length; bytes += 8) {
        uint64_t word = 0;
        size_t size = length < 8 ? length : 8;
        memcpy(&word, bytes, size);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
        length -= size;
    }
    return hash;
}

static int is_same(const Words *one, const Words *other) {
    return one->before_length == other->before_length && one->after_length == other->after_length &&
           !memcmp(one->before, other->before, one->before_length) &&
           !memcmp(one->after, other->after, one->after_length);
}

/* The header kinds of a block. Headers of one kind have the same words, except for the call id. */
typedef struct {
    Column examples; /* the first row of each kind */
    int32_t slots[KIND_SLOTS];
} Kinds;

/* Return the number of a kind, found by hash and confirmed by its bytes. Words chosen to collide are irregular. */
static int32_t kind_of(Kinds *kinds, const uint8_t *data, const Row *rows, const Row *row, int64_t number) {
    Words words = words_of(data, row);
    uint64_t hash = hash_bytes(row->id_start != 0, words.before, words.before_length);
    hash = hash_bytes(hash, words.after, words.after_length);
    for (uint64_t probe = 0; probe < MOST_PROBES; probe++) {
        int32_t *slot = kinds->slots + (hash + probe) % KIND_SLOTS;
        if (!*slot) {
            if (kinds->examples.count >= MOST_KINDS || !column_add_offset(&kinds->examples, number)) return IRREGULAR;
            *slot = (int32_t)kinds->examples.count;
            return *slot - 1;
        }
        const Row *example = rows + ((const int64_t *)(const void *)kinds->examples.data)[*slot - 1];
        Words theirs = words_of(data, example);
        if (!row->id_start == !example->id_start && is_same(&words, &theirs)) return *slot - 1;
    }
    return IRREGULAR;
}

static int only_space(const uint8_t *data, int64_t from, int64_t to) {
    if (to - from > LONGEST_GAP) return 0;
    while (from < to && is_space(data[from])) from++;
    return from == to;
}

/* Add a frame, and record whether it directly follows another one. */
static int add_row(Column *rows, Kinds *kinds, const uint8_t *data, const Row *frame) {
    Row *row = column_add(rows);
    if (!row) return 0;
    *row = *frame;
    if (rows->count > 1) {
        Row *last = row - 1;
        last->follows = (uint8_t)only_space(data, last->stop + STOP_LENGTHS[last->ending], row->start);
    }
    if (row->message - row->start - START_LENGTH <= LONGEST_WORDS && find_id(data, row))
        row->kind = kind_of(kinds, data, (const Row *)(const void *)rows->data, row, (int64_t)rows->count - 1);
    return !kinds->examples.failed;
}

/* Find all plain frames of a block. `before` is the byte before it. With `escapes`, a mark after `<` is text. */
static void find_frames(Column *rows, Kinds *kinds, const uint8_t *data, int64_t size, int before, int escapes) {
    const Pair mark = {0, 1, '<', '<', '|', '|'};
    Walk walk = walk_over(data, size - 2, (Wanted){&mark, NULL});
    enum { NOTHING, WORDS, BODY } state = NOTHING;
    Row row = {0};
    for (int64_t at; (at = next_place(&walk)) >= 0;) {
        int kind = token_at(data, size, at), is_escaped = (at ? data[at - 1] : before) == '<';
        if (at >= size - LONGEST_TOKEN) {
            if (is_escaped || kind == FOREIGN) kind = OTHER; /* it may still become another token */
        } else if (kind == FOREIGN || (is_escaped && escapes)) {
            if (is_escaped && escapes && state == BODY) row.flags |= ESCAPED;
            continue;
        }
        if (kind == START) {
            row = (Row){.start = at, .kind = IRREGULAR};
            state = WORDS;
        } else if (kind == MESSAGE && state == WORDS) {
            row.message = at;
            state = BODY;
        } else if (kind >= END && state == BODY) {
            row.stop = at;
            row.ending = (uint8_t)(kind - END);
            if (!add_row(rows, kinds, data, &row)) return;
            state = NOTHING;
        } else if (kind != INNER || state == BODY) {
            state = NOTHING;
        }
    }
}

static PyObject *fast_frames(PyObject *module, PyObject *arguments) {
    Py_buffer data;
    int before, escapes;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*ip:frames", &data, &before, &escapes)) return NULL;
    Column rows = {NULL, sizeof(Row), 0, 0, 0};
    Kinds kinds = {.examples = {NULL, sizeof(int64_t), 0, 0, 0}};
    Py_BEGIN_ALLOW_THREADS
    if (data.len > 2) find_frames(&rows, &kinds, data.buf, data.len, before, escapes);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    rows.failed |= kinds.examples.failed;
    PyObject *row_bytes = column_bytes(&rows), *example_bytes = column_bytes(&kinds.examples), *result = NULL;
    if (row_bytes && example_bytes) result = PyTuple_Pack(2, row_bytes, example_bytes);
    Py_XDECREF(row_bytes);
    Py_XDECREF(example_bytes);
    return result;
}

/* ---- objects ---------------------------------------------------------------------------------------------- */

enum { PLAIN = 1, HAS_OK = 2, MAY_FAIL = 4 }; /* flags of a JSON object; 0 if it is not surely a plain one */

#define MOST_DEPTH 32
#define MOST_KEYS 64 /* of all open objects together */
#define MOST_DIGITS 15 /* with sign and point */
#define LONGEST_OBJECT 65536

typedef struct { const uint8_t *text; size_t length; } Key;
/* Return the end of a string without \u, given its first character, or NULL. A backslash is noted. */
static const uint8_t *skip_string(const uint8_t *at, const uint8_t *end, int *has_escape) {
    for (; at < end && *at >= 0x20; at++) {
        if (*at == '"') return at + 1;
        if (*at != '\\') continue;
        *has_escape = 1;
        if (++at == end || !memchr("\"\\/bfnrt", *at, 8)) return NULL;
    }
    return NULL;
}

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* Return the end of a literal, or of a short number without an exponent, or NULL. */
static const uint8_t *skip_scalar(const uint8_t *at, const uint8_t *end) {
    static const char *const LITERALS[] = {"true", "false", "null", NULL};
    for (const char *const *word = LITERALS; *word; word++)
        if ((size_t)(end - at) >= strlen(*word) && !memcmp(at, *word, strlen(*word))) return at + strlen(*word);
    const uint8_t *first = at + (*at == '-'), *last = skip_digits(first, end);
    if (last == first || (*first == '0' && last > first + 1)) return NULL;
    if (last < end && *last == '.' && (first = last + 1, last = skip_digits(first, end)) == first) return NULL;
    return last - at <= MOST_DIGITS ? last : NULL;
}

static int is_word(const Key *key, const char *word) {
    return key->length == strlen(word) && !memcmp(key->text, word, key->length);
}

/* Judge UTF-8 that should be one JSON object without repeated keys. Whatever is doubtful is not plain. */
static uint8_t flags_of_object(const uint8_t *at, const uint8_t *end) {
    enum { VALUE, FIRST, NEXT, AFTER } state = VALUE; /* `FIRST` may be a closing bracket, `NEXT` follows a comma */
    Key keys[MOST_KEYS];
    uint8_t openers[MOST_DEPTH + 1] = {0}, flags = PLAIN;
    int firsts[MOST_DEPTH + 1], depth = 0, count = 0, has_escape = 0;
    if (end - at > LONGEST_OBJECT) return 0;
    for (;;) {
        while (at < end && is_space(*at)) at++;
        if (state == AFTER && !depth) return at == end ? flags : 0;
        if (at == end || (!depth && *at != '{')) return 0;
        if ((state == AFTER || state == FIRST) && *at == openers[depth] + 2) { /* both brackets differ by 2 */
            count = firsts[depth--], at++, state = AFTER;
        } else if (state == AFTER) {
            if (*at++ != ',') return 0;
            state = NEXT;
        } else if (state != VALUE && openers[depth] == '{') {
            if (*at++ != '"' || count == MOST_KEYS) return 0;
            Key key = {at, 0};
            if (!(at = skip_string(at, end, &has_escape)) || has_escape) return 0;
            key.length = (size_t)(at - 1 - key.text);
            for (int number = firsts[depth]; number < count; number++)
                if (keys[number].length == key.length && !memcmp(keys[number].text, key.text, key.length)) return 0;
            keys[count++] = key;
            if (depth == 1 && is_word(&key, "ok")) flags |= HAS_OK;
            if (depth == 1 && is_word(&key, "error")) flags |= MAY_FAIL;
            while (at < end && is_space(*at)) at++;
            if (at == end || *at++ != ':') return 0;
            state = VALUE;
        } else if (*at == '{' || *at == '[') {
            if (depth == MOST_DEPTH) return 0;
            openers[++depth] = *at++, firsts[depth] = count, state = FIRST;
        } else {
            if (depth == 1 && *at == 'f' && is_word(keys + count - 1, "ok")) flags |= MAY_FAIL;
            at = *at == '"' ? skip_string(at + 1, end, &has_escape) : skip_scalar(at, end);
            if (!at) return 0;
            has_escape = 0, state = AFTER;
        }
    }
}

static PyObject *fast_objects(PyObject *module, PyObject *arguments) {
    Py_buffer data, bounds;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*y*:objects", &data, &bounds)) return NULL;
    int64_t at[2], count = bounds.len / (int64_t)sizeof at;
    Column flags = {NULL, 1, 0, 0, 0};
    Py_BEGIN_ALLOW_THREADS
    for (int64_t row = 0; row < count; row++) {
        memcpy(at, (const char *)bounds.buf + row * (int64_t)sizeof at, sizeof at);
        int is_inside = at[0] >= 0 && at[0] <= at[1] && at[1] <= data.len;
        uint8_t *flag = column_add(&flags);
        if (!flag) break;
        *flag = is_inside ? flags_of_object((uint8_t *)data.buf + at[0], (uint8_t *)data.buf + at[1]) : 0;
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    PyBuffer_Release(&bounds);
    return column_bytes(&flags);
}

/* ---- module ----------------------------------------------------------------------------------------------- */

static PyObject *fast_levels(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    PyObject *names = PyTuple_New(level_count);
    for (int number = 0; names && number < level_count; number++) {
        PyObject *name = PyUnicode_FromString(LEVELS[number].name);
        if (!name || PyTuple_SetItem(names, number, name)) Py_CLEAR(names);
    }
    return names;
}

static PyObject *fast_use_level(PyObject *module, PyObject *arguments) {
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "s:use_level", &name)) return NULL;
    for (int number = 0; number < level_count; number++)
        if (!strcmp(name, LEVELS[number].name)) {
            level = number;
            Py_RETURN_NONE;
        }
    PyErr_SetString(PyExc_ValueError, "this processor has no such level");
    return NULL;
}

static PyMethodDef METHODS[] = {
    {"find", fast_find, METH_VARARGS, NULL},
    {"frames", fast_frames, METH_VARARGS, NULL},
    {"objects", fast_objects, METH_VARARGS, NULL},
    {"places", fast_places, METH_VARARGS, NULL},
    {"levels", fast_levels, METH_NOARGS, NULL},
    {"use_level", fast_use_level, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int fast_start(PyObject *module) {
    find_levels();
    return PyModule_AddIntConstant(module, "EDITION", EDITION);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, fast_start}, {0, NULL}};

static PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_fast", NULL, 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void) { return PyModuleDef_Init(&MODULE); }
