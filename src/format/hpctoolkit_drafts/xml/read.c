/* SPDX-License-Identifier: BSD-3-Clause */
/* experiment.xml: from bytes to elements, with limits, and from elements to their readers. */
#include "base/error.h"
#include "format/hpctoolkit_drafts/xml/xml.h"
#include <expat.h>
#include <inttypes.h>
#include <string.h>

enum {
    MAX_DEPTH = 65536,       /* of nested elements */
    MAX_ATTRIBUTES = 64,     /* of an element */
    MAX_ATTRIBUTE = 1 << 20, /* bytes of a value */
    MAX_PIECE = 1 << 30      /* bytes that expat parses at once, without a copy */
};

/* ---- attributes ---- */

const char *lode_xml_attribute(const struct xml_element *element, const char *name)
{
    for (const char **at = element->attributes; *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

const char *lode_xml_copy(struct xml_reader *reader, const char *text, size_t length)
{
    char *copy = lode_arena_alloc(&reader->db->base.arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

lode_status lode_xml_finding(struct xml_reader *reader, unsigned rule, const struct xml_element *element,
                             const char *what)
{
    return lode_report_add(reader->report, rule, reader->db->meta->file, element->offset, "%s", what);
}

static bool digit_of(char c, unsigned base, unsigned *digit)
{
    if (c >= '0' && c <= '9')
        *digit = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
        *digit = (unsigned)(c - 'a') + 10;
    else
        return false;
    return *digit < base;
}

/* A decimal or, with 0x, hexadecimal number, with optional sign; of a range of lines, the first. */
static bool parse_number(const char *text, bool *negative, uint64_t *out)
{
    unsigned base = 10, digit;
    *negative = *text == '-';
    text += *negative;
    if (strncmp(text, "0x", 2) == 0) {
        base = 16;
        text += 2;
    }
    if (!digit_of(*text, base, &digit))
        return false;
    for (*out = 0; digit_of(*text, base, &digit); text++)
        if (!checked_mul(*out, base, out) || !checked_add(*out, digit, out))
            return false;
    return *text == '\0' || (*text == '-' && base == 10 && digit_of(text[1], base, &digit));
}

static lode_status bad_number(struct xml_reader *reader, const struct xml_element *element, const char *name)
{
    return lode_report_add(reader->report, DRAFTS_RULE_XML_NUMBER, reader->db->meta->file, element->offset,
                           "the attribute '%s' is not a number, or not in its range", name);
}

lode_status lode_xml_integer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                             int64_t least, int64_t most, int64_t otherwise, int64_t *out)
{
    const char *text = lode_xml_attribute(element, name);
    bool negative;
    uint64_t number;
    *out = otherwise;
    if (text == NULL)
        return LODE_OK;
    if (!parse_number(text, &negative, &number) || number > INT64_MAX)
        return bad_number(reader, element, name);
    int64_t value = negative ? -(int64_t)number : (int64_t)number;
    if (value < least || value > most)
        return bad_number(reader, element, name);
    *out = value;
    return LODE_OK;
}

lode_status lode_xml_unsigned(struct xml_reader *reader, const struct xml_element *element, const char *name,
                              uint64_t *out)
{
    const char *text = lode_xml_attribute(element, name);
    bool negative;
    uint64_t number;
    *out = 0;
    if (text == NULL)
        return LODE_OK;
    if (!parse_number(text, &negative, &number) || negative)
        return bad_number(reader, element, name);
    *out = number;
    return LODE_OK;
}

lode_status lode_xml_push(struct xml_reader *reader, struct lode_array *array, void **out)
{
    *out = lode_array_push(array);
    return *out ? LODE_OK : lode_fail_memory(reader->report->error);
}

/* ---- elements ---- */

static lode_status on_experiment(struct xml_reader *reader, const struct xml_element *element)
{
    const char *version = lode_xml_attribute(element, "version");
    struct lode_part_info *info = &reader->db->base.parts[HPCT_META];
    if (version && strcmp(version, "4.0") == 0) {
        info->major = HPCT_MAJOR;
        info->minor = HPCT_MINOR;
        return LODE_OK;
    }
    lode_status status =
        lode_xml_finding(reader, DRAFTS_RULE_XML_VERSION, element, "the document is not of version 4.0");
    return status == LODE_OK ? LODE_END : status == LODE_ERR_CORRUPT ? LODE_ERR_UNSUPPORTED : status;
}

static lode_status on_title(struct xml_reader *reader, const struct xml_element *element)
{
    const char *title = lode_xml_attribute(element, "n");
    if (title == NULL || reader->db->base.title)
        return LODE_OK;
    reader->db->base.title = lode_xml_copy(reader, title, strlen(title));
    return reader->db->base.title ? LODE_OK : lode_fail_memory(reader->report->error);
}

static lode_status on_tree(struct xml_reader *reader, const struct xml_element *element)
{
    (void)element;
    reader->in_tree = true;
    return LODE_OK;
}

typedef lode_status (*element_fn)(struct xml_reader *reader, const struct xml_element *element);
typedef lode_status (*frame_fn)(struct xml_reader *reader, const struct xml_element *element,
                                struct xml_frame *frame);

/* Known elements; those without a function are ignored. */
static const struct {
    const char *name;
    element_fn read;
} table_elements[] = {
    {"HPCToolkitExperiment", on_experiment},
    {"Header", on_title},
    {"SecCallPathProfile", on_title},
    {"SecCallPathProfileData", on_tree},
    {"Identifier", lode_xml_identifier},
    {"Metric", lode_xml_metric},
    {"MetricFormula", lode_xml_metric_formula},
    {"MetricDB", lode_xml_metric_db},
    {"TraceDB", lode_xml_trace},
    {"LoadModule", lode_xml_module},
    {"File", lode_xml_file},
    {"Procedure", lode_xml_procedure},
    {"SecHeader", NULL},
    {"Info", NULL},
    {"NV", NULL},
    {"IdentifierNameTable", NULL},
    {"MetricTable", NULL},
    {"MetricDBTable", NULL},
    {"TraceDBTable", NULL},
    {"LoadModuleTable", NULL},
    {"FileTable", NULL},
    {"ProcedureTable", NULL},
};

/* Pr and P are procedures too: viewers treat them as PF. */
static const struct {
    const char *name;
    frame_fn read;
} tree_elements[] = {
    {"S", lode_xml_statement},        {"C", lode_xml_call},
    {"PF", lode_xml_procedure_frame}, {"L", lode_xml_loop},
    {"Pr", lode_xml_procedure_frame}, {"P", lode_xml_procedure_frame},
};

static lode_status dispatch(struct xml_reader *reader, const struct xml_element *element,
                            struct xml_frame *frame)
{
    if (reader->in_tree) {
        for (size_t i = 0; i < sizeof tree_elements / sizeof *tree_elements; i++)
            if (strcmp(tree_elements[i].name, element->name) == 0)
                return frame->ignored ? LODE_OK : tree_elements[i].read(reader, element, frame);
    } else {
        for (size_t i = 0; i < sizeof table_elements / sizeof *table_elements; i++)
            if (strcmp(table_elements[i].name, element->name) == 0)
                return table_elements[i].read ? table_elements[i].read(reader, element) : LODE_OK;
    }
    return lode_xml_finding(reader, DRAFTS_RULE_XML_ELEMENT, element, "an unknown element is skipped");
}

/* Stops reading beyond a limit. */
static lode_status check_limits(struct xml_reader *reader, const struct xml_element *element)
{
    size_t count = 0;
    bool within = reader->frames.count < MAX_DEPTH;
    for (const char **at = element->attributes; *at && within; at += 2)
        within = ++count <= MAX_ATTRIBUTES && strnlen(at[1], MAX_ATTRIBUTE + 1) <= MAX_ATTRIBUTE;
    if (within)
        return LODE_OK;
    LODE_TRY(lode_report_add(
        reader->report, DRAFTS_RULE_XML_LIMIT, reader->db->meta->file, element->offset,
        "an element is nested more than %d deep, has more than %d attributes, or one of more than %d bytes",
        MAX_DEPTH, MAX_ATTRIBUTES, MAX_ATTRIBUTE));
    return LODE_END;
}

static lode_status begin(struct xml_reader *reader, const struct xml_element *element)
{
    LODE_TRY(check_limits(reader, element));
    struct xml_frame frame = {.file = LODE_NO_INDEX, .module = LODE_NO_INDEX};
    if (reader->frames.count > 0) {
        frame = *LODE_ARRAY_AT(&reader->frames, struct xml_frame, reader->frames.count - 1);
    } else if (strcmp(element->name, "HPCToolkitExperiment") != 0) {
        LODE_TRY(lode_xml_finding(reader, DRAFTS_RULE_XML_VERSION, element,
                                  "the document is not an HPCToolkitExperiment"));
        return LODE_END;
    }
    LODE_TRY(dispatch(reader, element, &frame));
    void *pushed;
    LODE_TRY(lode_xml_push(reader, &reader->frames, &pushed));
    *(struct xml_frame *)pushed = frame;
    return LODE_OK;
}

/* ---- expat ---- */

/* LODE_END: stop reading, and use what was read. */
static void stop(struct xml_reader *reader, lode_status status)
{
    if (status == LODE_OK)
        return;
    reader->status = status;
    XML_StopParser(reader->parser, XML_FALSE);
}

static uint64_t offset_of(const struct xml_reader *reader)
{
    XML_Index index = XML_GetCurrentByteIndex(reader->parser);
    return index < 0 ? 0 : (uint64_t)index;
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct xml_reader *reader = user;
    struct xml_element element = {.name = name, .attributes = attributes, .offset = offset_of(reader)};
    if (reader->status == LODE_OK)
        stop(reader, begin(reader, &element));
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct xml_reader *reader = user;
    if (reader->status != LODE_OK)
        return;
    if (reader->frames.count > 0)
        lode_array_pop(&reader->frames);
    if (strcmp(name, "SecCallPathProfileData") == 0)
        reader->in_tree = false;
    if (strcmp(name, "Metric") == 0)
        reader->metric.open = false;
}

/* Writers use no declarations; hostile ones (entities, default attributes) expand unboundedly. */
static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int internal)
{
    struct xml_reader *reader = user;
    struct xml_element element = {.name = name, .offset = offset_of(reader)};
    (void)system_id;
    (void)public_id;
    (void)internal;
    lode_status status = lode_xml_finding(reader, DRAFTS_RULE_XML_DECLARATION, &element,
                                          "the document declares a type, which could declare entities");
    /* The rest cannot be trusted, even if checking continues. */
    stop(reader, status == LODE_OK ? LODE_END : status);
}

static lode_status not_xml(struct xml_reader *reader)
{
    return lode_report_add(reader->report, DRAFTS_RULE_XML_FORM, reader->db->meta->file, offset_of(reader),
                           "not XML: %s", XML_ErrorString(XML_GetErrorCode(reader->parser)));
}

static lode_status parse(struct xml_reader *reader)
{
    struct lode_range rest = reader->db->files[HPCT_META].source.bytes;
    do {
        int size = rest.size > MAX_PIECE ? MAX_PIECE : (int)rest.size;
        bool last = (uint64_t)size == rest.size;
        enum XML_Status status = XML_Parse(reader->parser, (const char *)rest.data, size, last);
        if (reader->status != LODE_OK)
            return reader->status == LODE_END ? LODE_OK : reader->status;
        if (status == XML_STATUS_ERROR)
            return XML_GetErrorCode(reader->parser) == XML_ERROR_NO_MEMORY
                       ? lode_fail_memory(reader->report->error)
                       : not_xml(reader);
        rest = (struct lode_range){rest.data + size, rest.size - (uint64_t)size};
    } while (rest.size > 0);
    return LODE_OK;
}

/* ---- top level ---- */

static void init_table(struct xml_table *table, const char *what)
{
    table->what = what;
    lode_map_init(&table->by_id);
    lode_array_init(&table->entries, sizeof(struct xml_entry), UINT32_MAX - 1);
}

static void free_table(struct xml_table *table)
{
    lode_map_free(&table->by_id);
    lode_array_free(&table->entries);
}

static void init_reader(struct xml_reader *reader)
{
    size_t most = UINT32_MAX - 1;
    init_table(&reader->modules, "a load module");
    init_table(&reader->files, "a file");
    init_table(&reader->procedures, "a procedure");
    lode_array_init(&reader->kinds, sizeof(const char *), most);
    lode_array_init(&reader->columns, sizeof(struct xml_column), most);
    lode_array_init(&reader->frames, sizeof(struct xml_frame), MAX_DEPTH + 1);
    lode_array_init(&reader->contexts, sizeof(struct xml_context), most);
    lode_interner_init(&reader->functions, sizeof(struct xml_function));
    lode_map_init(&reader->formulas);
}

static void free_reader(struct xml_reader *reader)
{
    free_table(&reader->modules);
    free_table(&reader->files);
    free_table(&reader->procedures);
    lode_array_free(&reader->kinds);
    lode_array_free(&reader->columns);
    lode_array_free(&reader->frames);
    lode_array_free(&reader->contexts);
    lode_interner_free(&reader->functions);
    lode_map_free(&reader->formulas);
    XML_ParserFree(reader->parser);
}

static lode_status read_document(struct xml_reader *reader)
{
    LODE_TRY_ALLOC(reader->parser, reader->report->error);
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
    /* The global context, above all others. */
    void *root;
    LODE_TRY(lode_xml_push(reader, &reader->contexts, &root));
    *(struct xml_context *)root = (struct xml_context){.lexical = LODE_LEXICAL_GLOBAL,
                                                       .function = LODE_NO_INDEX,
                                                       .file = LODE_NO_INDEX,
                                                       .module = LODE_NO_INDEX};
    LODE_TRY(parse(reader));
    LODE_TRY(lode_xml_finish_tables(reader));
    LODE_TRY(lode_xml_finish_metrics(reader));
    return lode_xml_finish_contexts(reader);
}

lode_status lode_drafts_load_xml(struct drafts_database *db, struct lode_report *report)
{
    struct xml_reader reader = {.db = db, .report = report};
    init_reader(&reader);
    reader.parser = XML_ParserCreate(NULL);
    lode_status status = read_document(&reader);
    free_reader(&reader);
    return status;
}
