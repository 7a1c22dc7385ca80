/* Native accelerator: search whole blocks for signs and frames, and check JSON. It returns columns and decides nothing.

   Every function takes a buffer, holds no Python object, and releases the interpreter lock while it works. Functions
   for hash tables keep the lock, because releasing it takes as long as their work.
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
#define EDITION 15

/* ---- columns ---------------------------------------------------------------------------------------------- */

/* A growing array of rows of a fixed size. Once an allocation fails, `failed` is set and stays set. */
typedef struct {
    char *data;
    size_t row_size, count, capacity;
    int failed;
} Column;

static int column_grow(Column *column) {
    size_t capacity = column->capacity ? column->capacity * 2 : 64;
    char *data = NULL;
    if (capacity <= (size_t)PY_SSIZE_T_MAX / column->row_size)
        data = realloc(column->data, capacity * column->row_size);
    if (!data) {
        column->failed = 1;
        return 0;
    }
    column->data = data;
    column->capacity = capacity;
    return 1;
}

static void *column_add(Column *column) {
    if (column->count == column->capacity && !column_grow(column)) return NULL;
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

/* Return a tuple of two such columns. */
static PyObject *both_columns(Column *one, Column *other) {
    one->failed |= other->failed;
    PyObject *first = column_bytes(one), *second = column_bytes(other);
    PyObject *result = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return result;
}

/* ---- buffers ---------------------------------------------------------------------------------------------- */

/* Take `count` buffers from the arguments, beginning with the first; further ones are empty. */
static int take_buffers(PyObject *arguments, Py_buffer *buffers, int least, int count) {
    int given = (int)PyTuple_Size(arguments);
    memset(buffers, 0, sizeof *buffers * (size_t)count);
    if (given < least || given > count) PyErr_SetString(PyExc_TypeError, "wrong number of buffers");
    for (int place = 0; place < given && !PyErr_Occurred(); place++)
        PyObject_GetBuffer(PyTuple_GetItem(arguments, place), buffers + place, PyBUF_SIMPLE);
    return !PyErr_Occurred();
}

static void release_buffers(Py_buffer *buffers, int count) {
    while (count) PyBuffer_Release(buffers + --count);
}

static int64_t rows_in(const Py_buffer *buffer, size_t row_size) { return buffer->len / (int64_t)row_size; }

/* ---- kernels: for each instruction set, one that finds pairs ------------------------------------------------- */

/* Two bytes at a fixed distance, each with two possible values: `<|`, or the two rarest bytes of a needle. */
typedef struct {
    int64_t first_at, second_at;
    uint8_t first, first_other, second, second_other;
} Pair;

#define INLINE static inline __attribute__((always_inline))

INLINE int is_wanted(const uint8_t *at, const Pair *pair) {
    uint8_t one = at[pair->first_at], two = at[pair->second_at];
    return (one == pair->first || one == pair->first_other) && (two == pair->second || two == pair->second_other);
}

/* Return the offset of the first block of 64 bytes, counted from `at`, that contains a match, and set a bit in `found`
   for each match. Only whole blocks before `limit` are searched. */
typedef int64_t (*Kernel)(const uint8_t *data, int64_t at, int64_t limit, const Pair *pair, uint64_t *found);

struct Signs;

/* Return 64 bits, one for each byte that may begin a sign, and set `is_doubtful` if the bytes may be ill-formed UTF-8.
   Three bytes before them and two after them can be read. */
typedef uint64_t (*Look)(const struct Signs *signs, const uint8_t *at, int *is_doubtful);

/* Compilers turn the inner loop over pairs into vector instructions. */
static int64_t next_scalar(const uint8_t *data, int64_t at, int64_t limit, const Pair *wanted, uint64_t *found) {
    const Pair pair = *wanted;
    *found = 0;
    for (; at + 64 <= limit; at += 64) {
        const uint8_t *one = data + at + pair.first_at, *two = data + at + pair.second_at;
        uint8_t any = 0;
        for (int place = 0; place < 64; place++)
            any |= ((one[place] == pair.first) | (one[place] == pair.first_other)) &
                   ((two[place] == pair.second) | (two[place] == pair.second_other));
        if (!any) continue;
        for (int place = 0; place < 64; place++) *found |= (uint64_t)is_wanted(data + at + place, wanted) << place;
        return at;
    }
    return at;
}

#if HAS_X86
INLINE __m128i load16(const uint8_t *data) { return _mm_loadu_si128((const __m128i *)(const void *)data); }

INLINE __m128i either16(__m128i bytes, uint8_t one, uint8_t other) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)one)),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)other)));
}

static int64_t next_sse2(const uint8_t *data, int64_t at, int64_t limit, const Pair *pair, uint64_t *found) {
    uint64_t bits = 0;
    for (; at + 64 <= limit; at += 64) {
        for (int part = 0; part < 64; part += 16) {
            __m128i one = load16(data + at + part + pair->first_at), two = load16(data + at + part + pair->second_at);
            __m128i both = _mm_and_si128(either16(one, pair->first, pair->first_other),
                                         either16(two, pair->second, pair->second_other));
            bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(both) << part;
        }
        if (bits) break;
    }
    *found = bits;
    return at;
}

#define AVX2 __attribute__((target("avx2")))

AVX2 INLINE __m256i load32(const uint8_t *data) {
    return _mm256_loadu_si256((const __m256i *)(const void *)data);
}

AVX2 INLINE __m256i either32(__m256i bytes, uint8_t one, uint8_t other) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)one)),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)other)));
}

AVX2 INLINE __m256i wanted32(const uint8_t *data, const Pair *pair) {
    return _mm256_and_si256(either32(load32(data + pair->first_at), pair->first, pair->first_other),
                            either32(load32(data + pair->second_at), pair->second, pair->second_other));
}

AVX2 static int64_t next_avx2(const uint8_t *data, int64_t at, int64_t limit, const Pair *wanted, uint64_t *found) {
    const Pair pair = *wanted;
    *found = 0;
    for (; at + 64 <= limit; at += 64) {
        __m256i low = wanted32(data + at, &pair), high = wanted32(data + at + 32, &pair);
        if (!_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1))) {
            *found = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
            return at;
        }
    }
    return at;
}
#endif

static uint64_t look_scalar(const struct Signs *signs, const uint8_t *at, int *is_doubtful);
#if HAS_X86
AVX2 static uint64_t look_avx2(const struct Signs *signs, const uint8_t *at, int *is_doubtful);
#endif

static const struct {
    const char *name;
    Kernel next;
    Look look;
} LEVELS[] = {
    {"scalar", next_scalar, look_scalar},
#if HAS_X86
    {"sse2", next_sse2, look_scalar},
    {"avx2", next_avx2, look_avx2},
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
    const Pair *wanted;
    uint64_t found;
    Kernel next;
} Walk;

/* Return an iterator over the matches before `limit`. Both bytes of a pair must be in the data. */
static Walk walk_over(const uint8_t *data, int64_t limit, const Pair *wanted) {
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
    Walk walk = walk_over(data, size - length + 1, &pair);
    for (int64_t at; (at = next_place(&walk)) >= 0;) {
        int64_t place = 0;
        while (place < length && (data[at + place] == needle[place] || data[at + place] == other[place])) place++;
        if (place == length && !column_add_offset(found, at)) return;
    }
}

static PyObject *fast_find(PyObject *module, PyObject *arguments) {
    Py_buffer given[3], *data = given, *needle = given + 1, *fold = given + 2;
    Column found = {NULL, sizeof(int64_t), 0, 0, 0};
    (void)module;
    if (take_buffers(arguments, given, 3, 3) && (!needle->len || needle->len != fold->len))
        PyErr_SetString(PyExc_ValueError, "the needle is empty, or its other spelling differs in length");
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS
        if (needle->len <= data->len) find_all(&found, data->buf, data->len, needle->buf, fold->buf, needle->len);
        Py_END_ALLOW_THREADS
    }
    release_buffers(given, 3);
    return PyErr_Occurred() ? NULL : column_bytes(&found);
}

/* ---- counts ----------------------------------------------------------------------------------------------- */

/* Compilers turn the inner loop into vector instructions; a uint8_t cannot overflow in it. */
static int64_t count_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
    int64_t count = 0;
    while (at < end) {
        const uint8_t *stop = end - at < 255 ? end : at + 255;
        uint8_t part = 0;
        for (; at < stop; at++) part += *at == byte;
        count += part;
    }
    return count;
}

static PyObject *fast_counts(PyObject *module, PyObject *arguments) {
    Py_buffer given[3], *data = given, *byte = given + 1, *cuts = given + 2;
    Column counts = {NULL, sizeof(int64_t), 0, 0, 0};
    (void)module;
    if (take_buffers(arguments, given, 3, 3) && byte->len != 1) PyErr_SetString(PyExc_ValueError, "expected one byte");
    if (!PyErr_Occurred()) {
        const uint8_t *bytes = data->buf;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0, at[2]; row + 1 < rows_in(cuts, sizeof *at); row++) {
            memcpy(at, (const int64_t *)cuts->buf + row, sizeof at);
            int is_inside = at[0] >= 0 && at[0] <= at[1] && at[1] <= data->len;
            int64_t count = is_inside ? count_byte(bytes + at[0], bytes + at[1], *(uint8_t *)byte->buf) : 0;
            if (!column_add_offset(&counts, count)) break;
        }
        Py_END_ALLOW_THREADS
    }
    release_buffers(given, 3);
    return PyErr_Occurred() ? NULL : column_bytes(&counts);
}

/* ---- tables ----------------------------------------------------------------------------------------------- */

/* A hash table with linear probing. The number of slots is a power of two, and an entry of 0 is free. */
typedef struct {
    uint32_t *entries, *hashes;
    int64_t size;
} Table;

/* Take a table from two buffers. `writable` is a flag of `PyObject_GetBuffer`. */
static int take_table(PyObject *arguments, Py_buffer *given, Table *table, int writable) {
    for (int place = 0; place < 2 && !PyErr_Occurred(); place++)
        PyObject_GetBuffer(PyTuple_GetItem(arguments, place), given + place, PyBUF_SIMPLE | writable);
    if (PyErr_Occurred()) return 0;
    *table = (Table){given[0].buf, given[1].buf, rows_in(given, sizeof(uint32_t))};
    int is_aligned = !(((uintptr_t)given[0].buf | (uintptr_t)given[1].buf) % sizeof(uint32_t));
    if (given[0].len != given[1].len || table->size < 1 || table->size & (table->size - 1) || !is_aligned)
        PyErr_SetString(PyExc_ValueError, "not a table");
    return !PyErr_Occurred();
}

/* Return the slot of a hash: the first one with it, or else the first free one; -1 if there is neither. */
static int64_t slot_of(const Table *table, uint32_t hash, int stops_at_hash) {
    for (int64_t probe = 0; probe < table->size; probe++) {
        int64_t slot = (hash + probe) & (table->size - 1);
        if (!table->entries[slot] || (stops_at_hash && table->hashes[slot] == hash)) return slot;
    }
    return -1;
}

static PyObject *fast_fill_table(PyObject *module, PyObject *arguments) {
    Py_buffer given[4] = {{0}}, *values = given + 2, *hashes = given + 3;
    Table table = {NULL, NULL, 0};
    (void)module;
    if (PyTuple_Size(arguments) != 4) PyErr_SetString(PyExc_TypeError, "wrong number of buffers");
    if (!PyErr_Occurred() && take_table(arguments, given, &table, PyBUF_WRITABLE))
        for (int place = 2; place < 4 && !PyErr_Occurred(); place++)
            PyObject_GetBuffer(PyTuple_GetItem(arguments, place), given + place, PyBUF_SIMPLE);
    if (!PyErr_Occurred() && values->len != hashes->len) PyErr_SetString(PyExc_ValueError, "not as many hashes");
    if (!PyErr_Occurred()) {
        for (int64_t row = 0; row < rows_in(values, sizeof(uint32_t)); row++) {
            uint32_t value, hash;
            memcpy(&value, (const uint32_t *)values->buf + row, sizeof value);
            memcpy(&hash, (const uint32_t *)hashes->buf + row, sizeof hash);
            int64_t slot = slot_of(&table, hash, 0);
            if (slot < 0) {
                PyErr_SetString(PyExc_ValueError, "the table is full");
                break;
            }
            table.entries[slot] = value, table.hashes[slot] = hash;
        }
    }
    release_buffers(given, 4);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *fast_find_hashes(PyObject *module, PyObject *arguments) {
    Py_buffer given[3] = {{0}}, *wanted = given + 2;
    Table table = {NULL, NULL, 0};
    Column found = {NULL, 1, 0, 0, 0};
    (void)module;
    if (PyTuple_Size(arguments) != 3) PyErr_SetString(PyExc_TypeError, "wrong number of buffers");
    if (!PyErr_Occurred() && take_table(arguments, given, &table, 0))
        PyObject_GetBuffer(PyTuple_GetItem(arguments, 2), wanted, PyBUF_SIMPLE);
    if (!PyErr_Occurred()) {
        for (int64_t row = 0; row < rows_in(wanted, sizeof(uint32_t)); row++) {
            uint32_t hash;
            memcpy(&hash, (const uint32_t *)wanted->buf + row, sizeof hash);
            int64_t slot = slot_of(&table, hash, 1);
            uint8_t *flag = column_add(&found);
            if (!flag) break;
            *flag = slot >= 0 && table.entries[slot];
        }
    }
    release_buffers(given, 3);
    return PyErr_Occurred() ? NULL : column_bytes(&found);
}

/* ---- signs ------------------------------------------------------------------------------------------------ */

enum { ILL_FORMED = 1, LONE_RETURN = 2, MAY_HIDE = 4 }; /* bits of a message; the others belong to bytes and literals */

#define LONGEST_LITERAL 26

/* Text to find in bodies. Python writes these 32 bytes. */
typedef struct {
    uint32_t bit;
    uint8_t folds, length, text[LONGEST_LITERAL]; /* in lower case if `folds` */
} Literal;

typedef struct { int64_t start, body, end; } Message; /* the starts of a message and its body, and the body's end */

#define SPELLINGS 512 /* bytes of flags for the low bits of the second and third byte of a character */

/* The bytes that may begin a sign, and those that may follow them. Each bit represents a bucket of signs. */
typedef struct {
    uint8_t of[256];          /* the buckets of each byte */
    uint8_t low[16], high[16]; /* the buckets of each half of a byte: a superset */
} Buckets;

#define MARKS 3 /* the number of bytes of a literal that are compared at once */
#define MOST_CHAINS 1024

/* A search: the data, and the signs to find. */
typedef struct Signs {
    const uint8_t *data;
    int64_t size, count, literal_count, lead_count;
    const Message *messages;
    const Literal *literals;
    const uint8_t *leads, *spellings; /* first bytes of characters that may be hidden, and the flags of each */
    const uint8_t *pictographs;       /* a flag for each code point below 0x20000, or NULL */
    uint32_t of_byte[256];            /* the bit of each byte */
    Buckets bytes;                    /* for bytes with a bit, and carriage returns */
    Buckets marks[MARKS];             /* for the first bytes of literals */
    Buckets hidden[2];                /* for the first bytes of characters that may be hidden */
    int32_t chains[MOST_CHAINS + 1], *next; /* the literals by their first bytes, as linked lists; -1 ends a list */
    uint8_t lead_of[256];                   /* the index of each lead, plus 1 */
    uint32_t *bits;
    Column hiding;
} Signs;

static inline uint8_t lower(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; }
static inline uint8_t upper(uint8_t byte) { return byte >= 'a' && byte <= 'z' ? byte - 32 : byte; }

/* Return the message that contains a byte, or whose end precedes it, given a message near it. */
static inline int64_t message_at(const Signs *signs, int64_t row, int64_t at) {
    while (row && signs->messages[row].start > at) row--;
    while (row + 1 < signs->count && signs->messages[row + 1].start <= at) row++;
    return row;
}

static int is_literal(const Literal *literal, const uint8_t *at, const uint8_t *end) {
    if (end - at < literal->length) return 0;
    if (!literal->folds) return !memcmp(at, literal->text, literal->length);
    for (int place = 0; place < literal->length; place++)
        if (lower(at[place]) != literal->text[place]) return 0;
    return 1;
}

/* Return the list of the literals that begin with these bytes, ignoring case. Short literals are in the last list. */
static int chain_of(const uint8_t *text) {
    uint32_t word = lower(text[0]) | (uint32_t)lower(text[1]) << 8 | (uint32_t)lower(text[2]) << 16;
    return (int)(word * 0x9E3779B1u >> 22);
}

/* Set the bits of all literals that begin at a byte. */
static void note_literals(Signs *signs, int64_t row, int64_t at) {
    const Message *message = signs->messages + row;
    const uint8_t *first = signs->data + at, *end = signs->data + message->end;
    int lists[] = {MOST_CHAINS, end - first < MARKS ? MOST_CHAINS : chain_of(first)};
    for (int list = 0; list < 2; list++)
        for (int32_t number = signs->chains[lists[list]]; number >= 0; number = signs->next[number]) {
            const Literal *literal = signs->literals + number;
            if (literal->bit & ~signs->bits[row] && is_literal(literal, first, end)) signs->bits[row] |= literal->bit;
        }
}

/* Return the length of a well-formed character beyond ASCII, or 0. */
static int character_length(const uint8_t *at, const uint8_t *end) {
    uint8_t lead = *at, low = 0x80, high = 0xBF;
    int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || end - at < length) return 0;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    if (at[1] < low || at[1] > high) return 0;
    for (int place = 2; place < length; place++)
        if ((at[place] & 0xC0) != 0x80) return 0;
    return length;
}

static inline int is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Check that characters are UTF-8: those between two offsets, including one that is cut at the first offset, and the
   rest of one that crosses the last offset. */
static void check_characters(Signs *signs, int64_t row, int64_t first, int64_t last) {
    const uint8_t *data = signs->data, *end = data + signs->size;
    int64_t cut = first > 3 ? first - 3 : 0, at = cut;
    while (at > 0 && cut - at < 3 && is_continuation(data[at])) at--;
    if (is_continuation(data[at])) at = cut; /* no character is that long */
    while (at < last || (at < last + 3 && data + at < end && is_continuation(data[at]))) {
        int length = data[at] < 0x80 ? 1 : character_length(data + at, end);
        if (!length) signs->bits[row = message_at(signs, row, at)] |= ILL_FORMED;
        at += length ? length : 1;
    }
}

/* True if the next two bytes of a character have a flag. Its first byte is at index `lead` in `leads`. */
static int may_hide(const Signs *signs, int lead, const uint8_t *at, const uint8_t *end) {
    if (end - at < 3) return 1;
    unsigned place = (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return signs->spellings[lead * SPELLINGS + (place >> 3)] >> (place & 7) & 1;
}

#define FIRST_CODES 0x20000u /* the code points with flags */

/* Return the code point of a character of three or four bytes, or 0. */
static uint32_t code_at(const uint8_t *at) {
    if (!is_continuation(at[1]) || !is_continuation(at[2])) return 0;
    uint32_t code = (at[0] & 0xFu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    if ((at[0] & 0xF0) == 0xE0) return code >= 0x800 ? code : 0;
    if ((at[0] & 0xF8) != 0xF0 || !is_continuation(at[3])) return 0;
    code = (at[0] & 0x7u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
    return code >= 0x10000 && code < FIRST_CODES ? code : 0;
}

/* Return the code point of the character before a byte, if it has three or four bytes, or 0. */
static uint32_t code_before(const uint8_t *at) {
    uint32_t code = code_at(at - 3);
    if (code && code < 0x10000) return code;
    code = code_at(at - 4);
    return code >= 0x10000 ? code : 0;
}

static int is_pictograph(const Signs *signs, uint32_t code) { return signs->pictographs[code >> 3] >> (code & 7) & 1; }
static int is_selector(uint32_t code) { return code == 0xFE0E || code == 0xFE0F; }

/* True if a character is part of an emoji: a selector after a pictograph or in a keycap, or a joiner between two. */
static int is_in_emoji(const Signs *signs, int64_t place) {
    const uint8_t *at = signs->data + place;
    if (!signs->pictographs || place < 8 || signs->size - place < 8) return 0;
    uint32_t code = code_at(at), before = code_before(at);
    if (is_selector(code)) {
        int is_key = (at[-1] >= '0' && at[-1] <= '9') || at[-1] == '#' || at[-1] == '*';
        return is_pictograph(signs, before) || (is_key && code == 0xFE0F && !memcmp(at + 3, "\xE2\x83\xA3", 3));
    }
    if (code != 0x200D || !is_pictograph(signs, code_at(at + 3))) return 0;
    if (is_selector(before)) return is_pictograph(signs, code_before(at - 3));
    int is_color = before >= 0x1F3FB && before <= 0x1F3FF;
    return is_pictograph(signs, is_color ? code_before(at - 4) : before);
}

/* Record the signs that begin at a byte. */
static int note_signs(Signs *signs, int64_t row, int64_t at) {
    const uint8_t *data = signs->data, byte = data[at];
    const Message *message = signs->messages + row;
    if (byte < 0x80) signs->bits[row] |= signs->of_byte[byte];
    if (byte == '\r' && (at + 1 == signs->size || data[at + 1] != '\n')) signs->bits[row] |= LONE_RETURN;
    if (at < message->body || at >= message->end) return 1;
    note_literals(signs, row, at);
    int lead = signs->lead_of[byte];
    if (!lead || !may_hide(signs, lead - 1, data + at, data + signs->size) || is_in_emoji(signs, at)) return 1;
    signs->bits[row] |= MAY_HIDE;
    return column_add_offset(&signs->hiding, at);
}

static uint64_t look_scalar(const Signs *signs, const uint8_t *at, int *is_doubtful) {
    const Buckets *marks = signs->marks, *hidden = signs->hidden;
    uint64_t found = 0;
    uint8_t all = at[-3] | at[-2] | at[-1];
    for (int place = 0; place < 64; place++, at++) {
        uint8_t mark = marks[0].of[at[0]] & marks[1].of[at[1]];
        uint8_t other = signs->bytes.of[at[0]] | (hidden[0].of[at[0]] & hidden[1].of[at[1]]);
        all |= at[0];
        if (mark | other) found |= (uint64_t)((mark & marks[2].of[at[2]]) || other) << place;
    }
    *is_doubtful = all >= 0x80;
    return found;
}

#if HAS_X86
AVX2 INLINE __m256i both_halves(const uint8_t *halves) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)halves));
}

/* Look up the halves of 32 bytes. */
AVX2 INLINE __m256i low_halves(const uint8_t *table, __m256i bytes) {
    return _mm256_shuffle_epi8(both_halves(table), _mm256_and_si256(bytes, _mm256_set1_epi8(15)));
}

AVX2 INLINE __m256i high_halves(const uint8_t *table, __m256i bytes) {
    return low_halves(table, _mm256_srli_epi16(bytes, 4));
}

AVX2 INLINE __m256i buckets32(const Buckets *buckets, const uint8_t *at) {
    __m256i bytes = load32(at);
    return _mm256_and_si256(low_halves(buckets->low, bytes), high_halves(buckets->high, bytes));
}

AVX2 INLINE uint32_t look32(const Signs *signs, const uint8_t *at) {
    __m256i mark = _mm256_and_si256(buckets32(signs->marks, at), buckets32(signs->marks + 1, at + 1));
    __m256i hidden = _mm256_and_si256(buckets32(signs->hidden, at), buckets32(signs->hidden + 1, at + 1));
    __m256i any = _mm256_or_si256(_mm256_and_si256(mark, buckets32(signs->marks + 2, at + 2)), hidden);
    any = _mm256_or_si256(any, buckets32(&signs->bytes, at));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(any, _mm256_setzero_si256()));
}

/* The possible faults of two consecutive bytes, after Keiser and Lemire, "Validating UTF-8 In Less Than One Instruction
   Per Byte" (2020). Each table lists the faults that are possible given one half of the first byte, or the high half of
   the second. */
enum { SHORT = 1, LONG = 2, OVERLONG_3 = 4, LARGE = 8, SURROGATE = 16, OVERLONG_2 = 32, LARGE_4 = 64, TWO = 128 };
#define ANY_FIRST (SHORT | LONG | TWO)
#define BEYOND (ANY_FIRST | LARGE | LARGE_4)
#define AFTER_ANY (LONG | OVERLONG_2 | TWO)
static const uint8_t FIRST_HIGH[16] = {LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, TWO, TWO, TWO, TWO,
                                       SHORT | OVERLONG_2, SHORT, SHORT | OVERLONG_3 | SURROGATE,
                                       SHORT | LARGE | LARGE_4};
static const uint8_t FIRST_LOW[16] = {ANY_FIRST | OVERLONG_3 | OVERLONG_2 | LARGE_4, ANY_FIRST | OVERLONG_2, ANY_FIRST,
                                      ANY_FIRST, ANY_FIRST | LARGE, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND,
                                      BEYOND, BEYOND, BEYOND | SURROGATE, BEYOND, BEYOND};
static const uint8_t SECOND_HIGH[16] = {SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,
                                        AFTER_ANY | OVERLONG_3 | LARGE_4, AFTER_ANY | OVERLONG_3 | LARGE,
                                        AFTER_ANY | SURROGATE | LARGE, AFTER_ANY | SURROGATE | LARGE,
                                        SHORT, SHORT, SHORT, SHORT};

/* Return nonzero bytes if 32 bytes are not UTF-8, given the three bytes before them. */
AVX2 INLINE __m256i faults32(const uint8_t *at) {
    __m256i before = load32(at - 1), here = load32(at);
    __m256i faults = _mm256_and_si256(_mm256_and_si256(high_halves(FIRST_HIGH, before), low_halves(FIRST_LOW, before)),
                                      high_halves(SECOND_HIGH, here));
    __m256i third = _mm256_subs_epu8(load32(at - 2), _mm256_set1_epi8(0x60));
    __m256i fourth = _mm256_subs_epu8(load32(at - 3), _mm256_set1_epi8(0x70));
    __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(wanted, faults);
}

AVX2 static uint64_t look_avx2(const Signs *signs, const uint8_t *at, int *is_doubtful) {
    __m256i all = _mm256_or_si256(_mm256_or_si256(load32(at - 3), load32(at)), load32(at + 32));
    *is_doubtful = 0;
    if (_mm256_movemask_epi8(all)) {
        __m256i faults = _mm256_or_si256(faults32(at), faults32(at + 32));
        *is_doubtful = !_mm256_testz_si256(faults, faults);
    }
    return look32(signs, at) | (uint64_t)look32(signs, at + 32) << 32;
}
#endif

/* True if the messages are in order, and each is inside the data. */
static int are_ordered(const Signs *signs) {
    int64_t before = 0;
    for (int64_t row = 0; row < signs->count; row++) {
        const Message *message = signs->messages + row;
        if (message->start < before || message->body < message->start || message->end < message->body) return 0;
        before = message->end;
    }
    return before <= signs->size;
}

static void add_bucket(Buckets *buckets, int byte, int bucket) {
    buckets->of[byte] |= (uint8_t)(1 << bucket);
    buckets->low[byte & 15] |= (uint8_t)(1 << bucket);
    buckets->high[byte >> 4] |= (uint8_t)(1 << bucket);
}

/* Return a bucket for a literal. The literals of a bucket should share half bytes, because the bucket matches all
   combinations of these. Most literals begin with `<`. */
static int bucket_of(const Literal *literal) {
    uint8_t first = literal->text[0], second = literal->length > 1 ? lower(literal->text[1]) : 0;
    if (first == '<') return second == '/' ? 0 : second > 'z' ? 1 : second < 'a' ? 1 : second <= 'm' ? 2 : 3;
    return first == '[' ? 4 : first >> 4 == 2 ? 5 : first >> 4 == 3 ? 6 : 7;
}

static void add_literal(Signs *signs, int32_t number) {
    const Literal *literal = signs->literals + number;
    int bucket = bucket_of(literal), chain = literal->length < MARKS ? MOST_CHAINS : chain_of(literal->text);
    for (int place = 0; place < MARKS; place++) {
        if (place < literal->length) {
            add_bucket(signs->marks + place, literal->text[place], bucket);
            if (literal->folds) add_bucket(signs->marks + place, upper(literal->text[place]), bucket);
        } else {
            for (int byte = 0; byte < 256; byte++) add_bucket(signs->marks + place, byte, bucket);
        }
    }
    signs->next[number] = signs->chains[chain];
    signs->chains[chain] = number;
}

/* Fill the tables. */
static void prepare(Signs *signs) {
    memset(signs->chains, -1, sizeof signs->chains);
    for (int64_t number = 0; number < signs->literal_count; number++) add_literal(signs, (int32_t)number);
    for (int byte = 0; byte < 128; byte++)
        if (byte == '\r' || signs->of_byte[byte]) add_bucket(&signs->bytes, byte, byte >> 4);
    for (int lead = 0; lead < signs->lead_count; lead++) {
        const uint8_t *spellings = signs->spellings + lead * SPELLINGS;
        int bucket = lead % 7;
        signs->lead_of[signs->leads[lead]] = (uint8_t)(lead + 1);
        add_bucket(signs->hidden, signs->leads[lead], bucket);
        for (int second = 0; second < 256; second++) {
            const uint64_t none = 0;
            if (memcmp(spellings + (second & 0x3F) * 8, &none, 8)) add_bucket(signs->hidden + 1, second, bucket);
        }
    }
}

/* Scan for bytes with a bit, carriage returns, beginnings of literals, and characters beyond ASCII. */
static void find_signs(Signs *signs) {
    Look look = LEVELS[level].look;
    int64_t row = 0;
    for (int64_t at = 0; at < signs->size; at += 64) {
        int64_t end = at + 64 < signs->size ? at + 64 : signs->size;
        int is_doubtful = 1;
        uint64_t found = UINT64_MAX >> (64 - (end - at)); /* at both ends, look at each byte */
        if (at >= 3 && at + 64 + MARKS - 1 <= signs->size) found = look(signs, signs->data + at, &is_doubtful);
        if (is_doubtful) check_characters(signs, row, at, end);
        for (; found; found &= found - 1) {
            int64_t place = at + __builtin_ctzll(found);
            row = message_at(signs, row, place);
            if (!note_signs(signs, row, place)) return;
        }
    }
}

static PyObject *fast_signs(PyObject *module, PyObject *arguments) {
    Py_buffer given[7], *data = given, *messages = given + 1, *of_byte = given + 2, *literals = given + 3;
    Py_buffer *leads = given + 4, *spellings = given + 5, *pictographs = given + 6;
    Column bits = {NULL, sizeof(uint32_t), 0, 0, 0};
    Signs signs = {.hiding = {NULL, sizeof(int64_t), 0, 0, 0}};
    (void)module;
    int is_valid = take_buffers(arguments, given, 6, 7);
    signs.data = data->buf, signs.size = data->len, signs.leads = leads->buf, signs.lead_count = leads->len;
    signs.messages = messages->buf, signs.count = rows_in(messages, sizeof(Message));
    signs.literals = literals->buf, signs.literal_count = rows_in(literals, sizeof(Literal));
    signs.spellings = spellings->buf, signs.pictographs = pictographs->len ? pictographs->buf : NULL;
    is_valid &= of_byte->len == sizeof signs.of_byte && spellings->len == leads->len * SPELLINGS && leads->len < 128;
    is_valid &= !((uintptr_t)messages->buf % sizeof(int64_t)) && !((uintptr_t)literals->buf % sizeof(uint32_t));
    is_valid &= signs.literal_count < INT32_MAX && (!pictographs->len || pictographs->len == FIRST_CODES / 8);
    for (int64_t number = 0; is_valid && number < signs.literal_count; number++)
        is_valid = signs.literals[number].length - 1u < LONGEST_LITERAL;
    if (is_valid && are_ordered(&signs)) {
        memcpy(signs.of_byte, of_byte->buf, sizeof signs.of_byte);
        signs.next = malloc((size_t)signs.literal_count * sizeof *signs.next + 1);
        bits.failed = !signs.next;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0; row < signs.count && column_add(&bits); row++) ((uint32_t *)(void *)bits.data)[row] = 0;
        signs.bits = (uint32_t *)(void *)bits.data;
        if (signs.count && !bits.failed) {
            prepare(&signs);
            find_signs(&signs);
        }
        Py_END_ALLOW_THREADS
        free(signs.next);
    }
    release_buffers(given, 7);
    return PyErr_Occurred() ? NULL : both_columns(&bits, &signs.hiding);
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
    Walk walk = walk_over(data, size - 2, &mark);
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
    return both_columns(&rows, &kinds.examples);
}

/* ---- objects ---------------------------------------------------------------------------------------------- */

enum { PLAIN = 1, HAS_OK = 2, MAY_FAIL = 4, FITS = 8, MISFITS = 16 }; /* flags of a JSON object; 0 if in doubt */

#define MOST_DEPTH 32
#define MOST_KEYS 64 /* of all open objects together */
#define MOST_DIGITS 15 /* with sign and point */
#define LONGEST_OBJECT 65536

typedef struct { const uint8_t *text; size_t length; } Key;

/* Return the first quote, backslash, or control character, or the end. */
static const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end) {
#if HAS_X86
    for (; end - at >= 16; at += 16) {
        __m128i bytes = load16(at), controls = _mm_set1_epi8(0x1F);
        __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, controls), bytes);
        int found = _mm_movemask_epi8(_mm_or_si128(either16(bytes, '"', '\\'), is_control));
        if (found) return at + __builtin_ctz((unsigned)found);
    }
#endif
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\') at++;
    return at;
}

/* Return the end of a string without \u, given its first character, or NULL. A backslash is noted. */
static const uint8_t *skip_string(const uint8_t *at, const uint8_t *end, int *has_escape) {
    static const uint8_t ESCAPES[256] = {
        ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1};
    while ((at = skip_plain(at, end)) < end && *at >= 0x20) {
        if (*at == '"') return at + 1;
        *has_escape = 1;
        if (++at == end || !ESCAPES[*at]) return NULL;
        at++;
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

/* The values that a part of a flat schema allows. Python writes these 32 bytes. `others` and `items` are numbers of
   parts, or ANYTHING, or NOTHING. */
typedef struct {
    int32_t kinds;       /* a bit for each kind in `Kind` */
    int32_t first, last; /* the names of its members */
    int32_t others, items;
    int32_t first_word, last_word; /* the allowed words; both are -1 if any value is allowed */
    int32_t required;              /* the number of required members */
} Part;

/* A member, or a word. The `place` of a required member is from 0 to 63; any other is -1. */
typedef struct { int32_t text, length, part, place; } Name;

enum Kind { OBJECT = 1, ARRAY = 2, STRING = 4, NUMBER = 8, INTEGER = 16, BOOLEAN = 32, NOTHING_GIVEN = 64 };
enum { ANYTHING = -1, NOTHING = -2, UNKNOWN = -3 };

typedef struct {
    const Part *parts;
    const Name *names;
    const uint8_t *text;
    int32_t part_count, name_count, text_length;
} Schemas;

static int is_part(const Schemas *schemas, int32_t part) { return part >= NOTHING && part < schemas->part_count; }

static int are_valid(const Schemas *schemas) {
    for (const Part *part = schemas->parts; part < schemas->parts + schemas->part_count; part++)
        if (part->first < 0 || part->last < part->first || part->last > schemas->name_count ||
            part->first_word < -1 || part->last_word < part->first_word || part->last_word > schemas->name_count ||
            part->required < 0 || part->required > 64 || !is_part(schemas, part->others) ||
            !is_part(schemas, part->items))
            return 0;
    for (const Name *name = schemas->names; name < schemas->names + schemas->name_count; name++)
        if (name->text < 0 || name->length < 0 || name->length > schemas->text_length ||
            name->text > schemas->text_length - name->length || name->place < -1 || name->place > 63 ||
            !is_part(schemas, name->part))
            return 0;
    return 1;
}

static const Name *find_name(const Schemas *schemas, int32_t first, int32_t last, const Key *key) {
    for (const Name *name = schemas->names + first; name < schemas->names + last; name++)
        if ((size_t)name->length == key->length && !memcmp(schemas->text + name->text, key->text, key->length))
            return name;
    return NULL;
}

static int kind_of_value(const uint8_t *at, const uint8_t *end) {
    switch (*at) {
    case '{': return OBJECT;
    case '[': return ARRAY;
    case '"': return STRING;
    case 't': case 'f': return BOOLEAN;
    case 'n': return NOTHING_GIVEN;
    default: return memchr(at, '.', (size_t)(end - at)) ? NUMBER : NUMBER | INTEGER;
    }
}

enum Reason { NONE, WRONG_TYPE, NOT_IN_ENUM, MISSING, UNEXPECTED };

/* A fault of an object. Python reads these 32 bytes. */
typedef struct { int64_t row, reason, start, end; } Fault;

#define MOST_FAULTS 256 /* of one object */

/* The result of comparing an object with its schema. Once `is_doubtful` is set, faults may be wrong. */
typedef struct {
    const Schemas *schemas;
    const uint8_t *data;
    Column *faults;
    int64_t row;
    size_t first;
    int is_doubtful;
} Fitting;

static void add_fault(Fitting *fitting, int reason, const uint8_t *start, const uint8_t *end) {
    Fault *fault = fitting->faults->count - fitting->first < MOST_FAULTS ? column_add(fitting->faults) : NULL;
    if (fault)
        *fault = (Fault){fitting->row, reason, start - fitting->data, end - fitting->data};
    else
        fitting->is_doubtful = 1;
}

/* Return why a value does not fit a part. `end` is the end of a string or scalar; `has_escape` applies to strings. */
static int judge_value(Fitting *fitting, int32_t number, const uint8_t *at, const uint8_t *end, int has_escape) {
    if (number < 0) return number == NOTHING ? WRONG_TYPE : NONE;
    const Part *part = fitting->schemas->parts + number;
    int kind = kind_of_value(at, end);
    if (!(part->kinds & kind)) {
        if (kind == NUMBER && part->kinds & INTEGER) fitting->is_doubtful = 1; /* 1.0 is an integer */
        return WRONG_TYPE;
    }
    if (part->first_word < 0) return NONE;
    if (has_escape) fitting->is_doubtful = 1;
    Key word = {at + 1, *at == '"' ? (size_t)(end - at - 2) : 0};
    return *at == '"' && find_name(fitting->schemas, part->first_word, part->last_word, &word) ? NONE : NOT_IN_ENUM;
}

/* Check UTF-8 that should be one JSON object without repeated keys. Anything doubtful is not plain. `fitting`
   collects the faults relative to the part. */
static uint8_t flags_of_object(const uint8_t *at, const uint8_t *end, Fitting *fitting, int32_t part) {
    enum { VALUE, FIRST, NEXT, AFTER } state = VALUE; /* `FIRST` may be a closing bracket, `NEXT` follows a comma */
    Key keys[MOST_KEYS];
    uint8_t openers[MOST_DEPTH + 1] = {0}, flags = PLAIN;
    int firsts[MOST_DEPTH + 1], depth = 0, count = 0, has_escape = 0;
    int32_t parts[MOST_DEPTH + 1] = {ANYTHING}; /* the part of each open object, or of the items of an open array */
    uint64_t seen[MOST_DEPTH + 1] = {0};        /* the required members of each open object */
    int64_t misfits[MOST_DEPTH + 1] = {-1};     /* the fault of each open value, whose end is not known yet */
    if (end - at > LONGEST_OBJECT) return 0;
    for (;;) {
        while (at < end && is_space(*at)) at++;
        if (state == AFTER && !depth) return at == end ? flags : 0;
        if (at == end || (!depth && *at != '{')) return 0;
        if ((state == AFTER || state == FIRST) && *at == openers[depth] + 2) { /* both brackets differ by 2 */
            int required = *at == '}' && parts[depth] >= 0 ? fitting->schemas->parts[parts[depth]].required : 0;
            for (int place = 0; place < required; place++)
                if (!(seen[depth] >> place & 1)) add_fault(fitting, MISSING, at, at);
            at++, state = AFTER;
            if (misfits[depth] >= 0) ((Fault *)(void *)fitting->faults->data)[misfits[depth]].end = at - fitting->data;
            count = firsts[depth--];
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
            part = parts[depth];
            if (part >= 0) {
                const Part *whole = fitting->schemas->parts + part;
                const Name *name = find_name(fitting->schemas, whole->first, whole->last, &key);
                part = name ? name->part : whole->others;
                if (name && name->place >= 0) seen[depth] |= (uint64_t)1 << name->place;
                if (part == NOTHING) add_fault(fitting, UNEXPECTED, key.text - 1, at), part = ANYTHING;
            }
            while (at < end && is_space(*at)) at++;
            if (at == end || *at++ != ':') return 0;
            state = VALUE;
        } else if (*at == '{' || *at == '[') {
            if (depth == MOST_DEPTH) return 0;
            if (state != VALUE) part = parts[depth];
            int reason = judge_value(fitting, part, at, at + 1, 0);
            misfits[++depth] = reason ? (int64_t)fitting->faults->count : -1;
            if (reason) add_fault(fitting, reason, at, at + 1), part = ANYTHING;
            if (reason && fitting->is_doubtful) misfits[depth] = -1;
            openers[depth] = *at, firsts[depth] = count, state = FIRST, seen[depth] = 0;
            parts[depth] = *at++ == '[' && part >= 0 ? fitting->schemas->parts[part].items : part;
        } else {
            const uint8_t *first = at;
            if (state != VALUE) part = parts[depth];
            if (depth == 1 && *at == 'f' && is_word(keys + count - 1, "ok")) flags |= MAY_FAIL;
            at = *at == '"' ? skip_string(at + 1, end, &has_escape) : skip_scalar(at, end);
            if (!at) return 0;
            int reason = judge_value(fitting, part, first, at, has_escape);
            if (reason) add_fault(fitting, reason, first, at);
            has_escape = 0, state = AFTER;
        }
    }
}

/* Add the faults of an object whose schema has this number. Return its flags. */
static uint8_t judge_object(Fitting *fitting, const uint8_t *at, const uint8_t *end, int32_t part) {
    fitting->first = fitting->faults->count;
    fitting->is_doubtful = 0;
    uint8_t flags = flags_of_object(at, end, fitting, part == UNKNOWN ? ANYTHING : part);
    if (!flags || fitting->is_doubtful || part == UNKNOWN)
        fitting->faults->count = fitting->first;
    else
        flags |= fitting->faults->count == fitting->first ? FITS : MISFITS;
    return flags;
}

static PyObject *fast_objects(PyObject *module, PyObject *arguments) {
    Py_buffer given[6], *data = given, *bounds = given + 1, *parts = given + 2, *names = given + 3, *text = given + 4;
    Py_buffer *wanted = given + 5;
    Column flags = {NULL, 1, 0, 0, 0}, faults = {NULL, sizeof(Fault), 0, 0, 0};
    (void)module;
    if (take_buffers(arguments, given, 2, 6)) {
        Schemas schemas = {parts->buf, names->buf, text->buf, (int32_t)rows_in(parts, sizeof(Part)),
                           (int32_t)rows_in(names, sizeof(Name)), (int32_t)text->len};
        Fitting fitting = {&schemas, data->buf, &faults, 0, 0, 0};
        int is_small = parts->len < INT32_MAX && names->len < INT32_MAX && text->len < INT32_MAX;
        Py_BEGIN_ALLOW_THREADS
        int is_valid = is_small && are_valid(&schemas);
        for (int64_t at[2]; fitting.row < rows_in(bounds, sizeof at); fitting.row++) {
            int32_t part = UNKNOWN;
            memcpy(at, (const char *)bounds->buf + fitting.row * (int64_t)sizeof at, sizeof at);
            if (is_valid && fitting.row < rows_in(wanted, sizeof part))
                memcpy(&part, (const char *)wanted->buf + fitting.row * (int64_t)sizeof part, sizeof part);
            if (!is_part(&schemas, part)) part = UNKNOWN;
            int is_inside = at[0] >= 0 && at[0] <= at[1] && at[1] <= data->len;
            uint8_t *flag = column_add(&flags);
            if (!flag || faults.failed) break;
            *flag = is_inside ? judge_object(&fitting, fitting.data + at[0], fitting.data + at[1], part) : 0;
        }
        Py_END_ALLOW_THREADS
    }
    release_buffers(given, 6);
    return PyErr_Occurred() ? NULL : both_columns(&flags, &faults);
}

#include "_proof.c"
#include "_records.c"
#include "_strings.c"

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
    {"counts", fast_counts, METH_VARARGS, NULL},
    {"fill_table", fast_fill_table, METH_VARARGS, NULL},
    {"find", fast_find, METH_VARARGS, NULL},
    {"find_hashes", fast_find_hashes, METH_VARARGS, NULL},
    {"frames", fast_frames, METH_VARARGS, NULL},
    {"joined", fast_joined, METH_VARARGS, NULL},
    {"objects", fast_objects, METH_VARARGS, NULL},
    {"prove", fast_prove, METH_VARARGS, NULL},
    {"records", fast_records, METH_VARARGS, NULL},
    {"signs", fast_signs, METH_VARARGS, NULL},
    {"string_objects", fast_string_objects, METH_VARARGS, NULL},
    {"levels", fast_levels, METH_NOARGS, NULL},
    {"use_level", fast_use_level, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int fast_start(PyObject *module) {
    find_levels();
    find_sets();
    return PyModule_AddIntConstant(module, "EDITION", EDITION);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, fast_start}, {0, NULL}};

static PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_fast", NULL, 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void) { return PyModuleDef_Init(&MODULE); }
