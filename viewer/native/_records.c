/* JSON records: match the bytes of objects with known shapes.

   `_fast.c` includes this file and has the helpers that it uses. A program is a list of steps that match bytes in one
   way only, so nothing is tried twice in the same place. Python makes each program together with an equal pattern. */

/* ---- steps ------------------------------------------------------------------------------------------------ */

/* Python writes these numbers. A literal, or the text between messages, follows its step with its length (uint32). */
enum Step {
    LITERAL, /* these bytes */
    OPENS,   /* begin a group */
    CLOSES,  /* end the group */
    TEXT,    /* a nonempty string as a group, and its last escape that may spell any character as another group */
    ID,      /* an ASCII string without escapes, with its quotes */
    NAME,    /* the name of a tool or a speaker */
    WORDS,   /* text that does not affect reading, without quotes */
    SHORT_NUMBER,
    ANY,     /* a value that does not affect reading */
    LIST,    /* a short list of such values */
    SCALAR,  /* a value other than an object or a list */
    SCALARS, /* a list of such values */
    SPACE,   /* any whitespace */
    ITEM,    /* a message of a known shape */
    ITEMS,   /* at least one such message, with text between them */
    PLACE,   /* note the place */
    BODY,    /* a string: note its bounds, without its quotes if it has no escapes, and its flags */
    DELTA,   /* the same, but without surrogates */
    GOES_ON  /* a comma, or the end of a list */
};

enum Surrogates { IN_PAIRS, ALLOWED, REFUSED };
enum { HAS_ESCAPE = 1, IS_SPELLED = 2, MAY_LEAD = 4 }; /* flags of a text */

/* True if the next bytes are hexadecimal digits. */
static int is_hex(const uint8_t *at, int count) {
    for (int place = 0; place < count; place++) {
        uint8_t byte = lower(at[place]);
        if (!((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'))) return 0;
    }
    return 1;
}

/* Return the length of `\uXXXX`, or of two such escapes that are a surrogate pair, or 0. */
static int long_escape(const uint8_t *at, const uint8_t *end, enum Surrogates surrogates) {
    if (end - at < 6 || !is_hex(at + 2, 4)) return 0;
    if (surrogates == ALLOWED || lower(at[2]) != 'd' || at[3] <= '7') return 6;
    if (surrogates == REFUSED) return 0;
    uint8_t half = lower(at[3]);
    if (half >= 'c') return 0;
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u' || lower(at[8]) != 'd' || !is_hex(at + 8, 4)) return 0;
    half = lower(at[9]);
    return half >= 'c' && half <= 'f' ? 12 : 0;
}

/* Return the end of a valid string, given its opening quote, or NULL. Record its flags, and the position of the last
   escape that may spell any character. */
static const uint8_t *match_string(const uint8_t *at, const uint8_t *end, enum Surrogates surrogates, uint8_t *flags,
                                   const uint8_t **spelled, int *spelled_length) {
    if (at == end || *at != '"') return NULL;
    at++;
    while ((at = skip_plain(at, end)) < end && *at >= 0x20) {
        if (*at == '"') return at + 1;
        *flags |= HAS_ESCAPE;
        if (end - at < 2) return NULL;
        int length = 2;
        switch (at[1]) {
        case '"': case '\\': case 'n': case 't': at += 2; continue;
        case 'r':
            if (end - at >= 4 && at[2] == '\\' && at[3] == 'n') {
                at += 2;
                continue;
            }
            break;
        case '/': case 'b': case 'f': break;
        case 'u': length = long_escape(at, end, surrogates); break;
        default: return NULL;
        }
        if (!length) return NULL;
        *flags |= IS_SPELLED, *spelled = at, *spelled_length = length;
        at += length;
    }
    return NULL;
}

enum { IN_WORDS = 1, IN_NAME = 2, IN_ID = 4 };
static uint8_t sets_of_byte[256];

static void find_sets(void) {
    for (int byte = 0x20; byte < 0x7F; byte++) {
        int is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        sets_of_byte[byte] = (uint8_t)((strchr("\"<>\\|", byte) ? 0 : IN_WORDS) |
                                       (is_letter || strchr("_.:/-", byte) ? IN_NAME : 0) |
                                       (byte == '"' || byte == '\\' ? 0 : IN_ID));
    }
}

/* Return the end of at least one byte of a set, or NULL. */
static const uint8_t *match_set(const uint8_t *at, const uint8_t *end, int set) {
    const uint8_t *first = at;
    while (at < end && sets_of_byte[*at] & set) at++;
    return at > first ? at : NULL;
}

/* Return the end of a number with at most this many digits before and after the point, or NULL. */
static const uint8_t *match_number(const uint8_t *at, const uint8_t *end, int digits, int decimals, int has_exponent) {
    if (at < end && *at == '-') at++;
    const uint8_t *first = at;
    at = skip_digits(at, end);
    if (at == first || at - first > digits || (*first == '0' && at - first > 1)) return NULL;
    if (at < end && *at == '.') {
        first = ++at, at = skip_digits(at, end);
        if (at == first || at - first > decimals) return NULL;
    }
    if (has_exponent && at < end && lower(*at) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        first = at, at = skip_digits(at, end);
        if (at == first || at - first > 3) return NULL;
    }
    return at < end && (*at == '.' || lower(*at) == 'e') ? NULL : at;
}

static const uint8_t *match_bytes(const uint8_t *at, const uint8_t *end, const void *text, int64_t length) {
    return end - at >= length && !memcmp(at, text, (size_t)length) ? at + length : NULL;
}

/* Return the end of a value other than an object or a list, or NULL. `is_plain` excludes strings that may affect
   reading. */
static const uint8_t *match_scalar(const uint8_t *at, const uint8_t *end, int is_plain) {
    if (at == end) return NULL;
    if (*at == 't') return match_bytes(at, end, "true", 4);
    if (*at == 'f') return match_bytes(at, end, "false", 5);
    if (*at == 'n') return match_bytes(at, end, "null", 4);
    if (*at != '"') return match_number(at, end, 18, 20, 1);
    if (!is_plain) {
        uint8_t flags = 0;
        const uint8_t *spelled;
        int length;
        return match_string(at, end, IN_PAIRS, &flags, &spelled, &length);
    }
    const uint8_t *last = match_set(++at, end, IN_WORDS);
    return match_bytes(last ? last : at, end, "\"", 1);
}

/* Return the end of a list of at most `most` such values, or NULL. After
   a comma, `is_plain` allows at most one space; otherwise, any number is allowed. */
static const uint8_t *match_list(const uint8_t *at, const uint8_t *end, int is_plain, int64_t most) {
    if (!(at = match_bytes(at, end, "[", 1)) || at == end) return NULL;
    if (*at == ']') return at + 1;
    for (int64_t count = 1; (at = match_scalar(at, end, is_plain)) && at < end; count++) {
        if (*at == ']') return at + 1;
        if (*at++ != ',' || count == most) return NULL;
        while (at < end && *at == ' ') {
            at++;
            if (!is_plain) break;
        }
    }
    return NULL;
}

/* ---- records ---------------------------------------------------------------------------------------------- */

/* Arguments from Python: the index at which to begin, the maximum number of records, the number to add to offsets, the
   last shape, the number of shapes, and the maximum lengths of a message and of a record. */
typedef struct { int64_t at, most, base, last, shapes, longest_item, longest_record; } Settings;

/* One message in an object of a shape. Python writes these 24 bytes: the number of the message shape, the groups
   of the body, the ID, the name, and the tool, and the index of the body among the texts. A group of 0 is absent. */
typedef struct { int32_t number, body, id, name, tool, text; } Saying;

/* Results. The counts include this row. */
typedef struct { int64_t program, start, end, items, messages, values; } RecordRow;
typedef struct { int64_t shape, start, end, messages, groups; } ItemRow;

enum {
    ROWS, VALUES, GROUPS, ITEM_ROWS, TEXTS, FLAGS, NUMBERS, STARTS, ENDS, BODIES, BODY_ENDS, OF_TEXT, NAMED, NAMES,
    COLUMNS
};
static const uint8_t ROW_SIZES[COLUMNS] = {
    sizeof(RecordRow), 8, 16, sizeof(ItemRow), sizeof(Message), 1, 4, 8, 8, 8, 8, 4, 4, 1};

typedef struct {
    const uint8_t *data, *end;
    Settings settings;
    const uint8_t *programs, *programs_end;
    const int64_t *starts; /* the start of each program; programs of shapes come first */
    int64_t program_count;
    int32_t *nexts; /* the shape that last followed each shape */
    const Saying *sayings;
    const int32_t *saying_ends;
    Column columns[COLUMNS];
} Records;

static void *records_add(Records *records, int column) { return column_add(records->columns + column); }
static int64_t place_of(const Records *records, const uint8_t *at) { return at - records->data; }

static int add_group(Records *records, int column, const uint8_t *start, const uint8_t *end) {
    int64_t *row = records_add(records, column);
    if (!row) return 0;
    row[0] = start ? place_of(records, start) : -1, row[1] = start ? place_of(records, end) : -1;
    return 1;
}

/* Match a string as two groups. */
static const uint8_t *match_text(Records *records, const uint8_t *at) {
    const uint8_t *spelled = NULL, *end = records->end;
    int length = 0;
    uint8_t flags = 0, *row;
    const uint8_t *last = match_string(at, end, IN_PAIRS, &flags, &spelled, &length);
    if (!last || last - at == 2) return NULL;
    if (at[1] == ' ' || at[1] == '\\' || at[1] == 'a' || at[1] == 'c') flags |= MAY_LEAD;
    Message *text = records_add(records, TEXTS);
    if (!text) return NULL;
    text->start = text->body = place_of(records, at) - records->settings.at;
    text->end = place_of(records, last) - records->settings.at;
    if (!(row = records_add(records, FLAGS))) return NULL;
    *row = flags;
    const uint8_t *spelled_end = spelled ? spelled + length : NULL;
    return add_group(records, GROUPS, at, last) && add_group(records, GROUPS, spelled, spelled_end) ? last : NULL;
}

/* Match a step that only consumes bytes. */
static const uint8_t *match_step(int step, const uint8_t *at, const uint8_t *end) {
    switch (step) {
    case ID:
        if (!(at = match_bytes(at, end, "\"", 1)) || !(at = match_set(at, end, IN_ID))) return NULL;
        return match_bytes(at, end, "\"", 1);
    case NAME: return match_set(at, end, IN_NAME);
    case WORDS: return match_set(at, end, IN_WORDS);
    case SHORT_NUMBER: return match_number(at, end, 15, 15, 0);
    case ANY: return match_scalar(at, end, 1);
    case LIST: return match_list(at, end, 1, 32);
    case SCALAR: return match_scalar(at, end, 0);
    case SCALARS: return match_list(at, end, 0, INT64_MAX);
    case SPACE:
        while (at < end && is_space(*at)) at++;
        return at;
    case GOES_ON: return at < end && (*at == ',' || *at == ']') ? at + 1 : NULL;
    default: return NULL;
    }
}

/* Read the bytes that follow a step in a program. */
static const uint8_t *take_bytes(const Records *records, const uint8_t **program, uint32_t *length) {
    const uint8_t *text = *program + sizeof *length;
    if (records->programs_end - *program < (int64_t)sizeof *length) return NULL;
    memcpy(length, *program, sizeof *length);
    if (records->programs_end - text < (int64_t)*length) return NULL;
    *program = text + *length;
    return text;
}

static const uint8_t *program_at(const Records *records, int64_t number, const uint8_t **end) {
    int64_t size = records->programs_end - records->programs, first, last;
    if (number < 0 || number >= records->program_count) return NULL;
    first = records->starts[number], last = number + 1 < records->program_count ? records->starts[number + 1] : size;
    if (first < 0 || last < first || last > size) return NULL;
    *end = records->programs + last;
    return records->programs + first;
}

/* Match a literal or a step of bytes. Groups are added to a column; `group` is the start of the open one. */
static const uint8_t *match_part(Records *records, const uint8_t **program, int column, const uint8_t **group,
                                 const uint8_t *at) {
    uint32_t length;
    const uint8_t *text;
    int step = *(*program)++;
    switch (step) {
    case LITERAL:
        text = take_bytes(records, program, &length);
        return text ? match_bytes(at, records->end, text, length) : NULL;
    case OPENS: return *group = at;
    case CLOSES: return *group && add_group(records, column, *group, at) ? at : NULL;
    case TEXT: return column == GROUPS ? match_text(records, at) : NULL;
    default: return match_step(step, at, records->end);
    }
}

/* Add a name and a line feed. Return 0 if memory runs out. */
static int add_name(Records *records, const uint8_t *at, int64_t length) {
    Column *names = records->columns + NAMES;
    while (names->capacity - names->count <= (size_t)length)
        if (!column_grow(names)) return 0;
    memcpy(names->data + names->count, at, (size_t)length);
    names->count += (size_t)length;
    names->data[names->count++] = '\n';
    return 1;
}

/* Add the messages of an object. Return 0 if memory runs out, or if the object lacks a group. */
static int add_messages(Records *records, int64_t shape, int64_t start, int64_t end, size_t groups, size_t texts) {
    const int64_t base = records->settings.base, group_count = (int64_t)(records->columns[GROUPS].count - groups);
    const int64_t text_count = (int64_t)(records->columns[TEXTS].count - texts);
    const int64_t(*group)[2] = (const void *)(records->columns[GROUPS].data + groups * ROW_SIZES[GROUPS]);
    static const int64_t nothing[2] = {0, 0};
    for (int32_t row = shape ? records->saying_ends[shape - 1] : 0; row < records->saying_ends[shape]; row++) {
        const Saying *saying = records->sayings + row;
        const int32_t parts[] = {saying->id, saying->name, saying->tool};
        if (saying->body < 1 || saying->body > group_count || saying->text < 0 || saying->text >= text_count) return 0;
        uint8_t flags = (uint8_t)records->columns[FLAGS].data[texts + (size_t)saying->text];
        int is_plain = !(flags & HAS_ESCAPE);
        const int64_t *body = group[saying->body - 1];
        const int64_t values[] = {base + start, base + end, base + body[0] + is_plain, base + body[1] - is_plain};
        if (saying->id || saying->name || saying->tool) {
            int32_t *named = records_add(records, NAMED);
            if (!named) return 0;
            *named = (int32_t)records->columns[NUMBERS].count;
            for (int part = 0; part < 3; part++) {
                if (parts[part] < 0 || parts[part] > group_count) return 0;
                const int64_t *found = parts[part] ? group[parts[part] - 1] : nothing;
                if (found[0] < 0 || !add_name(records, records->data + found[0], found[1] - found[0])) return 0;
            }
        }
        for (int column = STARTS; column <= BODY_ENDS; column++)
            if (!column_add_offset(records->columns + column, values[column - STARTS])) return 0;
        int32_t *text = records_add(records, OF_TEXT), *number = records_add(records, NUMBERS);
        if (!text || !number) return 0;
        *text = (int32_t)texts + saying->text, *number = saying->number;
    }
    return 1;
}

/* Match an object of one shape. Its groups and texts are added only if it matches. */
static const uint8_t *match_shape(Records *records, int64_t shape, const uint8_t *at) {
    const uint8_t *end, *program = program_at(records, shape, &end), *first = at, *group = NULL;
    size_t groups = records->columns[GROUPS].count, texts = records->columns[TEXTS].count;
    while (at && program && program < end) at = match_part(records, &program, GROUPS, &group, at);
    if (!at || !program || at - first > records->settings.longest_item) {
        records->columns[GROUPS].count = groups;
        records->columns[TEXTS].count = records->columns[FLAGS].count = texts;
        return NULL;
    }
    return at;
}

/* Match an object with a known shape and add its messages. */
static const uint8_t *match_item(Records *records, const uint8_t *at) {
    size_t groups = records->columns[GROUPS].count, texts = records->columns[TEXTS].count;
    if (!records->settings.shapes) return NULL;
    int64_t last = records->settings.last, shape = records->nexts[last];
    const uint8_t *end = match_shape(records, shape, at);
    for (int64_t number = 0; !end && number < records->settings.shapes; number++)
        end = match_shape(records, shape = number, at);
    if (!end) return NULL;
    records->nexts[last] = (int32_t)shape, records->settings.last = shape;
    int64_t start = place_of(records, at), stop = place_of(records, end);
    if (!add_messages(records, shape, start, stop, groups, texts)) return NULL;
    ItemRow *item = records_add(records, ITEM_ROWS);
    if (!item) return NULL;
    *item = (ItemRow){shape, start, stop, (int64_t)records->columns[NUMBERS].count, (int64_t)groups};
    return end;
}

/* Add the offset of a byte in the input. */
static int add_value(Records *records, const uint8_t *at) {
    return column_add_offset(records->columns + VALUES, records->settings.base + place_of(records, at));
}

/* Match a string and add three values. */
static const uint8_t *match_body(Records *records, const uint8_t *at, enum Surrogates surrogates) {
    const uint8_t *spelled;
    int length;
    uint8_t flags = 0;
    const uint8_t *last = match_string(at, records->end, surrogates, &flags, &spelled, &length);
    int is_plain = !(flags & HAS_ESCAPE);
    if (!last || !add_value(records, at + is_plain) || !add_value(records, last - is_plain)) return NULL;
    return column_add_offset(records->columns + VALUES, flags) ? last : NULL;
}

/* Match a record and add it. On failure, the caller must drop rows that were already added to other columns. */
static const uint8_t *match_record(Records *records, int64_t number, const uint8_t *at) {
    const uint8_t *end, *program = program_at(records, number, &end), *first = at, *group = NULL, *text = NULL;
    uint32_t length = 0;
    while (at && program && program < end) {
        int step = *program;
        if (step == ITEM || step == ITEMS) {
            program++;
            if (step == ITEMS && !(text = take_bytes(records, &program, &length))) return NULL;
            do {
                if (!(at = match_item(records, at)) || at - first > records->settings.longest_record) return NULL;
            } while (step == ITEMS && match_bytes(at, records->end, text, length) && (at += length));
        } else if (step == PLACE) {
            program++;
            if (!add_value(records, at)) return NULL;
        } else if (step == CLOSES) {
            program++;
            if (!group || !add_value(records, group) || !add_value(records, at)) return NULL;
        } else if (step == BODY || step == DELTA) {
            program++;
            at = match_body(records, at, step == BODY ? ALLOWED : REFUSED);
        } else {
            at = match_part(records, &program, VALUES, &group, at);
        }
    }
    return program ? at : NULL;
}

/* Match records one after another. `order` has the programs to try; the one that matched last is tried first. */
static void match_records(Records *records, int64_t *order, int64_t order_count) {
    const uint8_t *at = records->data + records->settings.at;
    while ((int64_t)records->columns[ROWS].count < records->settings.most) {
        size_t counts[COLUMNS];
        for (int column = 0; column < COLUMNS; column++) counts[column] = records->columns[column].count;
        const uint8_t *end = NULL;
        int64_t place = 0;
        for (; !end && place < order_count; place++)
            if (!(end = match_record(records, order[place], at)))
                for (int column = 0; column < COLUMNS; column++) records->columns[column].count = counts[column];
        if (!end) return;
        int64_t program = order[--place];
        memmove(order + 1, order, (size_t)place * sizeof *order);
        order[0] = program;
        RecordRow *row = records_add(records, ROWS);
        if (!row) return;
        *row = (RecordRow){program, place_of(records, at), place_of(records, end),
                           (int64_t)records->columns[ITEM_ROWS].count, (int64_t)records->columns[NUMBERS].count,
                           (int64_t)records->columns[VALUES].count};
        if (end == at) return;
        at = end;
    }
}

static int are_aligned(const Py_buffer *buffers, int first, int last) {
    for (int place = first; place < last; place++)
        if (buffers[place].len && (uintptr_t)buffers[place].buf % sizeof(int64_t)) return 0;
    return 1;
}

/* True if the numbers in the buffers are within bounds. */
static int are_usable(const Records *records, const Py_buffer *nexts, const Py_buffer *sayings, const Py_buffer *ends) {
    const Settings *given = &records->settings;
    int64_t count = given->shapes, before = 0;
    if (given->at < 0 || given->at > records->end - records->data) return 0;
    if (count < 0 || count > records->program_count) return 0;
    if (count && (given->last < 0 || given->last >= count)) return 0;
    if (rows_in(nexts, 4) != count || rows_in(ends, 4) != count) return 0;
    for (int64_t shape = 0; shape < count; shape++) {
        if (records->nexts[shape] < 0 || records->nexts[shape] >= count) return 0;
        if (records->saying_ends[shape] < before) return 0;
        before = records->saying_ends[shape];
    }
    return before <= rows_in(sayings, sizeof(Saying));
}

/* Return the columns as a tuple of bytes, and free them. */
static PyObject *all_columns(Column *columns, int count) {
    PyObject *result = PyTuple_New(count);
    int failed = !result;
    for (int number = 0; number < count; number++) failed |= columns[number].failed;
    for (int number = 0; number < count; number++) {
        columns[number].failed = failed;
        PyObject *bytes = PyErr_Occurred() ? (free(columns[number].data), NULL) : column_bytes(columns + number);
        if (bytes && PyTuple_SetItem(result, number, bytes)) failed = 1;
    }
    if (PyErr_Occurred()) Py_CLEAR(result);
    return result;
}

static PyObject *fast_records(PyObject *module, PyObject *arguments) {
    Py_buffer given[8], *data = given, *settings = given + 1, *programs = given + 2, *starts = given + 3;
    Py_buffer *nexts = given + 4, *sayings = given + 5, *ends = given + 6, *order = given + 7;
    Records records = {0};
    int64_t *own_order = NULL;
    (void)module;
    for (int column = 0; column < COLUMNS; column++) records.columns[column].row_size = ROW_SIZES[column];
    int is_valid = take_buffers(arguments, given, 8, 8);
    is_valid = is_valid && settings->len == sizeof(Settings) && are_aligned(given, 3, 8);
    if (is_valid) {
        memcpy(&records.settings, settings->buf, sizeof records.settings);
        records.data = data->buf, records.end = records.data + data->len;
        records.programs = programs->buf, records.programs_end = records.programs + programs->len;
        records.starts = starts->buf, records.program_count = rows_in(starts, sizeof(int64_t));
        records.sayings = sayings->buf, records.saying_ends = ends->buf;
        records.nexts = malloc((size_t)nexts->len + 1), own_order = malloc((size_t)order->len + 1);
        if (!records.nexts || !own_order) {
            PyErr_NoMemory();
        } else {
            memcpy(records.nexts, nexts->buf, (size_t)nexts->len);
            memcpy(own_order, order->buf, (size_t)order->len);
            Py_BEGIN_ALLOW_THREADS
            if (are_usable(&records, nexts, sayings, ends))
                match_records(&records, own_order, rows_in(order, sizeof(int64_t)));
            Py_END_ALLOW_THREADS
        }
    }
    free(records.nexts);
    free(own_order);
    release_buffers(given, 8);
    return all_columns(records.columns, COLUMNS);
}
