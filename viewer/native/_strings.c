/* Texts of JSON strings: check the objects in them, and join them.

   `_fast.c` includes this file after `_records.c`. */

/* ---- decoding ---------------------------------------------------------------------------------------------- */

static uint32_t code_of_hex(const uint8_t *at) {
    uint32_t code = 0;
    for (int place = 0; place < 4; place++)
        code = code << 4 | (uint32_t)(at[place] <= '9' ? at[place] - '0' : lower(at[place]) - 'a' + 10);
    return code;
}

/* Write a character as UTF-8 and return the byte after it. */
static uint8_t *write_character(uint8_t *out, uint32_t code) {
    if (code < 0x80) return *out = (uint8_t)code, out + 1;
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (uint8_t)(0xFF << (7 - more) | code >> (6 * more));
    while (more--) *out++ = (uint8_t)(0x80 | ((code >> (6 * more)) & 0x3F));
    return out;
}

/* Decode `\uXXXX`, or a surrogate pair of such escapes. Return the byte after it, or NULL. */
static const uint8_t *decode_long(const uint8_t *at, const uint8_t *end, uint8_t **out) {
    int length = long_escape(at, end, IN_PAIRS);
    if (!length) return NULL;
    uint32_t code = code_of_hex(at + 2);
    if (length == 12) code = 0x10000 + ((code & 0x3FF) << 10 | (code_of_hex(at + 8) & 0x3FF));
    *out = write_character(*out, code);
    return at + length;
}

/* Decode the text of a JSON string, given with its quotes. The text is no longer than the string. Return the length of
   the text, or -1. */
static int64_t decode_string(const uint8_t *at, const uint8_t *end, uint8_t *text, int has_long_escapes) {
    static const uint8_t ESCAPES[256] = {['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b',
                                         ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    uint8_t *out = text;
    if (end - at < 2 || *at++ != '"' || *--end != '"') return -1;
    while (at < end) {
        const uint8_t *stop = skip_plain(at, end);
        memcpy(out, at, (size_t)(stop - at));
        out += stop - at, at = stop;
        if (at == end) break;
        if (*at != '\\' || end - at < 2) return -1;
        if (at[1] == 'u' && has_long_escapes) {
            if (!(at = decode_long(at, end, &out))) return -1;
            continue;
        }
        if (!ESCAPES[at[1]]) return -1;
        *out++ = ESCAPES[at[1]];
        at += 2;
    }
    return out - text;
}

/* ---- objects in strings ----------------------------------------------------------------------------------- */

static PyObject *fast_string_objects(PyObject *module, PyObject *arguments) {
    Py_buffer given[3], *data = given, *bounds = given + 1, *strings = given + 2;
    Column flags = {NULL, 1, 0, 0, 0}, faults = {NULL, sizeof(Fault), 0, 0, 0};
    (void)module;
    if (take_buffers(arguments, given, 3, 3)) {
        Schemas schemas = {NULL, NULL, NULL, 0, 0, 0};
        const uint8_t *bytes = data->buf;
        uint8_t *text = malloc(LONGEST_OBJECT);
        flags.failed = !text;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0, at[2]; text && row < rows_in(bounds, sizeof at); row++) {
            memcpy(at, (const char *)bounds->buf + row * (int64_t)sizeof at, sizeof at);
            uint8_t *flag = column_add(&flags);
            if (!flag) break;
            *flag = 0;
            if (at[0] < 0 || at[0] > at[1] || at[1] > data->len || row >= strings->len) continue;
            const uint8_t *first = bytes + at[0], *last = bytes + at[1];
            if (((const uint8_t *)strings->buf)[row]) {
                int64_t length = at[1] - at[0] <= LONGEST_OBJECT ? decode_string(first, last, text, 0) : -1;
                if (length < 0) continue;
                first = text, last = text + length;
            }
            Fitting fitting = {&schemas, first, &faults, 0, 0, 0};
            *flag = judge_object(&fitting, first, last, UNKNOWN);
        }
        Py_END_ALLOW_THREADS
        free(text);
    }
    free(faults.data);
    release_buffers(given, 3);
    return PyErr_Occurred() ? NULL : column_bytes(&flags);
}

/* ---- joined texts ----------------------------------------------------------------------------------------- */

/* A part of a text. The flag `HAS_ESCAPE` marks a JSON string with its quotes; other parts are the text itself. */
typedef struct { int64_t start, end, flags; } TextPart;

static int is_utf8(const uint8_t *at, const uint8_t *end) {
    for (uint64_t eight; at < end;) {
        int length = 8;
        if (end - at < 8 || (memcpy(&eight, at, sizeof eight), eight & 0x8080808080808080u))
            length = *at < 0x80 ? 1 : character_length(at, end);
        if (!length) return 0;
        at += length;
    }
    return 1;
}

/* Take a part whose offsets have a base. Return 0 if it is not inside the data. */
static int take_part(const Py_buffer *parts, int64_t row, int64_t base, int64_t size, TextPart *part) {
    memcpy(part, (const char *)parts->buf + row * (int64_t)sizeof *part, sizeof *part);
    if (part->start < base || part->end < part->start || part->end - base > size) return 0;
    part->start -= base, part->end -= base;
    return 1;
}

/* Return the sum of the lengths of all parts, or -1 if one of them is not inside the data. */
static int64_t length_of_parts(const Py_buffer *parts, int64_t base, int64_t size) {
    int64_t length = 0;
    TextPart part;
    for (int64_t row = 0; row < rows_in(parts, sizeof part); row++) {
        if (!take_part(parts, row, base, size, &part)) return -1;
        if (part.end - part.start > PY_SSIZE_T_MAX - length) return -1;
        length += part.end - part.start;
    }
    return length;
}

/* Write the text of all parts, which have room for it. Return its length, or -1 for doubtful parts. */
static int64_t join_parts(const Py_buffer *parts, int64_t base, const Py_buffer *data, uint8_t *text) {
    uint8_t *out = text;
    TextPart part;
    for (int64_t row = 0; row < rows_in(parts, sizeof part); row++) {
        if (!take_part(parts, row, base, data->len, &part)) return -1;
        const uint8_t *at = (const uint8_t *)data->buf + part.start, *end = (const uint8_t *)data->buf + part.end;
        int64_t length = end - at;
        if (!is_utf8(at, end)) return -1;
        if (part.flags & HAS_ESCAPE)
            length = decode_string(at, end, out, 1);
        else
            memcpy(out, at, (size_t)length);
        if (length < 0) return -1;
        out += length;
    }
    return out - text;
}

static PyObject *fast_joined(PyObject *module, PyObject *arguments) {
    Py_buffer data, parts;
    long long base;
    uint8_t *text = NULL;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*Ly*:joined", &data, &base, &parts)) return NULL;
    int64_t length = base < 0 ? -1 : length_of_parts(&parts, base, data.len);
    if (length >= 0 && !(text = malloc((size_t)length + 1))) PyErr_NoMemory();
    if (text) {
        Py_BEGIN_ALLOW_THREADS
        length = join_parts(&parts, base, &data, text);
        Py_END_ALLOW_THREADS
    }
    if (!PyErr_Occurred())
        result = length < 0 ? (Py_INCREF(Py_None), Py_None) : PyBytes_FromStringAndSize((char *)text, length);
    free(text);
    PyBuffer_Release(&data);
    PyBuffer_Release(&parts);
    return result;
}
