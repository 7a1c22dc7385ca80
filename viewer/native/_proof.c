/* End proof: search a block for literal tokens and for lines that may begin a document header.

   `_fast.c` includes this file and has the helpers that it uses. `viewer.scan.end_proof` explains what is searched, and
   searches in the same way without the accelerator. */

#define PROVED_AT_ONCE (128 * 1024) /* fits a cache while all signs are searched */
#define HEADER_SIGNS 2

/* What to search for, in two spellings, and how many bytes around it decide whether it is a sign. */
typedef struct {
    const char *text, *other;
    int64_t longest;
} Sign;

static const Sign HEADERS[HEADER_SIGNS] = {{"\n---", "\nver", 8}, {"\n\"version", "\n'version", 9}};
static const Sign LITERAL_SIGN = {"literal|", "literal|", 9};
static const char *const OPENING[] = {"<|start|>", "<|channel|>", "<|message|>", NULL};
static const char *const ENDING[] = {"<|end|>", "<|return|>", "<|call|>", NULL};

/* Return the end of the sign at this offset, or 0 if there is none before `last`. */
static int64_t end_of_sign(const uint8_t *data, int64_t at, int64_t last, const Sign *sign) {
    if (sign == &LITERAL_SIGN) return at + 9 <= last && data[at + 8] == '>' ? at + 9 : 0;
    if (sign == HEADERS + 1) return at + 9;
    if (!memcmp(data + at, "\n---", 4)) return at + 4;
    return at + 8 <= last && !memcmp(data + at, "\nversion", 8) ? at + 8 : 0;
}

/* Replace a column by the offsets of the signs that end after `first`, but not after `last`. */
static void collect_signs(Column *found, const uint8_t *data, int64_t first, int64_t last, const Sign *sign) {
    int64_t length = (int64_t)strlen(sign->text), begin = first < sign->longest ? 0 : first - sign->longest + 1;
    size_t kept = 0;
    found->count = 0;
    if (last - begin < length) return;
    find_all(found, data + begin, last - begin, (const uint8_t *)sign->text, (const uint8_t *)sign->other, length);
    int64_t *rows = (int64_t *)(void *)found->data;
    for (size_t row = 0; row < found->count; row++)
        if (end_of_sign(data, rows[row] + begin, last, sign) > first) rows[kept++] = rows[row] + begin;
    found->count = kept;
}

static int begins_token(const uint8_t *at, const uint8_t *end, const char *const *tokens) {
    for (; *tokens; tokens++)
        if ((size_t)(end - at) >= strlen(*tokens) && !memcmp(at, *tokens, strlen(*tokens))) return 1;
    return 0;
}

/* Return the last opening token between two offsets, or -1, and whether a stop token comes after it. */
static int64_t last_opening(const uint8_t *data, int64_t first, int64_t end, int *is_stopped) {
    *is_stopped = 0;
    for (int64_t at = end - 1; at >= first; at--) {
        if (data[at] != '<') continue;
        if (begins_token(data + at, data + end, OPENING)) return at;
        *is_stopped |= begins_token(data + at, data + end, ENDING);
    }
    return -1;
}

/* Whether an opening token is certainly one: it is not escaped, and its line is no event. */
static int is_certain(const uint8_t *data, int64_t opening) {
    if (opening < 1 || data[opening - 1] == '<') return 0;
    int64_t begin = opening;
    while (begin && data[begin - 1] != '\n') begin--;
    if (!begin) return 0;
    while (begin < opening && (data[begin] == ' ' || data[begin] == '\t' || data[begin] == '\r')) begin++;
    return begin == opening || data[begin] != '{';
}

/* A search through one block. Lines are judged in order, so that nothing is read twice. */
typedef struct {
    const uint8_t *data;
    int64_t back, line, opening, header, literal;
} Proof;

/* Judge the line at this offset. Return 0 if it may begin a document header. */
static int is_in_message(Proof *proof, int64_t line) {
    int is_stopped;
    int64_t reach = line > proof->back ? line - proof->back : 0;
    int64_t opening = last_opening(proof->data, proof->line > reach ? proof->line : reach, line, &is_stopped);
    if (opening >= 0) proof->opening = is_certain(proof->data, opening) ? opening : -1;
    proof->line = line;
    return !is_stopped && proof->opening >= reach;
}

static void prove(Proof *proof, Column *found, int64_t first, int64_t size) {
    for (int64_t last; first < size; first = last) {
        last = size - first < PROVED_AT_ONCE ? size : first + PROVED_AT_ONCE;
        collect_signs(found, proof->data, first, last, &LITERAL_SIGN);
        if (found->count) proof->literal = ((int64_t *)(void *)found->data)[found->count - 1];
        for (int sign = 0; sign < HEADER_SIGNS; sign++)
            collect_signs(found + sign, proof->data, first, last, HEADERS + sign);
        const int64_t *one = (int64_t *)(void *)found[0].data, *other = (int64_t *)(void *)found[1].data;
        const int64_t *one_end = one + found[0].count, *other_end = other + found[1].count;
        while (one < one_end || other < other_end) {
            int64_t line = 1 + (other == other_end || (one < one_end && *one < *other) ? *one++ : *other++);
            if (is_in_message(proof, line)) continue;
            proof->header = line;
            return;
        }
    }
}

static PyObject *fast_prove(PyObject *module, PyObject *arguments) {
    Py_buffer data;
    long long first, back;
    Column found[HEADER_SIGNS];
    int failed = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*LL:prove", &data, &first, &back)) return NULL;
    Proof proof = {data.buf, back, 0, -1, -1, -1};
    for (int sign = 0; sign < HEADER_SIGNS; sign++) found[sign] = (Column){NULL, sizeof(int64_t), 0, 0, 0};
    Py_BEGIN_ALLOW_THREADS
    if (first >= 0 && back >= 0) prove(&proof, found, first, data.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    for (int sign = 0; sign < HEADER_SIGNS; sign++) {
        failed |= found[sign].failed;
        free(found[sign].data);
    }
    return failed ? PyErr_NoMemory() : Py_BuildValue("LL", (long long)proof.header, (long long)proof.literal);
}
