/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example trace store: twelve seconds of a web shop. One checkout waits almost three seconds
 * for a row of the stock, and three fail because the payment service does not answer.
 */
#include "base/error.h"
#include "format/zorka/write/write.h"
#include "format/zorka/zorka.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- the story ---- */

enum {
    REQUESTS = 80,
    THREADS = 4,
    PROCESS = 2217,
    FIRST_THREAD = 31,
    FLAG_ERROR = 8,
    NAME_SIZE = 128
};
#define START_STAMP UINT64_C(1772457960000)  /* milliseconds: 2026-03-02 13:26:00 UTC */
#define START_CLOCK UINT64_C(86400000000000) /* nanoseconds: the machine has been up for a day */
#define MS(n)       (UINT64_C(1000000) * (n))

enum method {
    SERVICE,
    HOME,
    PRODUCT,
    SEARCH,
    CHECKOUT,
    FEATURED,
    FIND,
    PRICE,
    QUERY,
    CREATE,
    RESERVE,
    CHARGE,
    SEND,
    SAVE,
    RENDER,
    EXECUTE_QUERY,
    EXECUTE_UPDATE,
    METHODS
};
static const struct {
    const char *class_name, *name, *signature;
} methods[METHODS] = {
    [SERVICE] = {"org.apache.catalina.connector.CoyoteAdapter", "service", "(Request,Response)"},
    [HOME] = {"com.acme.shop.web.HomeController", "show", "(Request)"},
    [PRODUCT] = {"com.acme.shop.web.ProductController", "show", "(Request)"},
    [SEARCH] = {"com.acme.shop.web.SearchController", "search", "(Request)"},
    [CHECKOUT] = {"com.acme.shop.web.CheckoutController", "submit", "(Request)"},
    [FEATURED] = {"com.acme.shop.catalog.ProductRepository", "featured", "()"},
    [FIND] = {"com.acme.shop.catalog.ProductRepository", "find", "(long)"},
    [PRICE] = {"com.acme.shop.catalog.PriceService", "price", "(Product,Customer)"},
    [QUERY] = {"com.acme.shop.search.SearchIndex", "query", "(String)"},
    [CREATE] = {"com.acme.shop.order.OrderService", "create", "(Cart)"},
    [RESERVE] = {"com.acme.shop.stock.StockRepository", "reserve", "(long,int)"},
    [CHARGE] = {"com.acme.shop.payment.PaymentClient", "charge", "(Card,Money)"},
    [SEND] = {"com.acme.shop.http.HttpClient", "send", "(HttpRequest)"},
    [SAVE] = {"com.acme.shop.order.OrderRepository", "save", "(Order)"},
    [RENDER] = {"com.acme.shop.web.TemplateEngine", "render", "(String,Model)"},
    [EXECUTE_QUERY] = {"org.postgresql.jdbc.PgPreparedStatement", "executeQuery", "()"},
    [EXECUTE_UPDATE] = {"org.postgresql.jdbc.PgPreparedStatement", "executeUpdate", "()"},
};

/* A call of a request: its depth, its method, and its self time in microseconds. */
struct step {
    unsigned depth;
    enum method method;
    unsigned time;
    const char *sql; /* attribute of the call, or NULL */
};

static const struct step home[] = {
    {0, SERVICE, 600, NULL},
    {1, HOME, 900, NULL},
    {2, FEATURED, 500, NULL},
    {3, EXECUTE_QUERY, 6400, "SELECT * FROM products WHERE featured ORDER BY rank LIMIT 12"},
    {2, RENDER, 5200, NULL},
    {0}};
static const struct step product[] = {
    {0, SERVICE, 600, NULL}, {1, PRODUCT, 1100, NULL},
    {2, FIND, 500, NULL},    {3, EXECUTE_QUERY, 3900, "SELECT * FROM products WHERE id = ?"},
    {2, PRICE, 2300, NULL},  {3, EXECUTE_QUERY, 4200, "SELECT discount FROM customers WHERE id = ?"},
    {2, RENDER, 4400, NULL}, {0}};
static const struct step search[] = {{0, SERVICE, 600, NULL},
                                     {1, SEARCH, 1300, NULL},
                                     {2, QUERY, 21000, NULL},
                                     {2, FIND, 700, NULL},
                                     {3, EXECUTE_QUERY, 7600, "SELECT * FROM products WHERE id = ANY (?)"},
                                     {2, RENDER, 6100, NULL},
                                     {0}};
static const struct step checkout[] = {
    {0, SERVICE, 700, NULL},
    {1, CHECKOUT, 1900, NULL},
    {2, CREATE, 2400, NULL},
    {3, RESERVE, 800, NULL},
    {4, EXECUTE_UPDATE, 9300, "UPDATE stock SET reserved = reserved + ? WHERE product_id = ?"},
    {3, CHARGE, 1700, NULL},
    {4, SEND, 88000, NULL},
    {3, SAVE, 900, NULL},
    {4, EXECUTE_UPDATE, 8100, "INSERT INTO orders (customer_id, total, items) VALUES (?, ?, ?)"},
    {2, RENDER, 3900, NULL},
    {0}};

/* Frequent kinds come more than once. */
static const struct {
    const char *url;
    const struct step *steps;
    const char *verb;
} kinds[] = {
    {"https://shop.acme.example/", home, "GET"},
    {"https://shop.acme.example/search?q=lamp", search, "GET"},
    {"https://shop.acme.example/product/17", product, "GET"},
    {"https://shop.acme.example/product/42", product, "GET"},
    {"https://shop.acme.example/", home, "GET"},
    {"https://shop.acme.example/search?q=office+chair", search, "GET"},
    {"https://shop.acme.example/product/17", product, "GET"},
    {"https://shop.acme.example/checkout", checkout, "POST"},
    {"https://shop.acme.example/product/8", product, "GET"},
    {"https://shop.acme.example/checkout", checkout, "POST"},
};
enum {
    KINDS = sizeof kinds / sizeof *kinds
};

/* Requests that differ from the others of their kind; all are checkouts. */
enum {
    SLOW_REQUEST = 37,
    SLOW_FACTOR = 440 /* of the self time of its first SQL statement */
};
static const unsigned failing[] = {27, 49, 67};

/* ---- strings ---- */

enum key {
    KEY_COMPONENT,
    KEY_VERB,
    KEY_URL,
    KEY_STATUS,
    KEY_PROCESS,
    KEY_THREAD,
    KEY_THREAD_NAME,
    KEY_SQL,
    KEY_COUNT
};
static const char *const key_names[KEY_COUNT] = {
    [KEY_COMPONENT] = "component",     [KEY_VERB] = "http.method",    [KEY_URL] = "http.url",
    [KEY_STATUS] = "http.status_code", [KEY_PROCESS] = "process.pid", [KEY_THREAD] = "thread.id",
    [KEY_THREAD_NAME] = "thread.name", [KEY_SQL] = "db.statement",
};

struct shop {
    struct zor_writer writer;
    struct zor_entry *methods[METHODS], *keys[KEY_COUNT];
    struct zor_entry *timeout, *failed; /* exceptions */
    uint64_t begins[REQUESTS];          /* nanoseconds since the start */
    bool has_memory;
};

static struct zor_entry *make_text(struct shop *self, enum zor_mark mark, const char *text)
{
    struct zor_entry *entry = lode_zor_string(&self->writer.strings, mark, zor_range(text));
    self->has_memory = self->has_memory && entry;
    return entry;
}

static struct zor_entry *make_tuple(struct shop *self, enum zor_mark mark, struct zor_entry *const *parts,
                                    size_t count, uint64_t line)
{
    struct zor_entry *entry = lode_zor_tuple(&self->writer.strings, mark, parts, count, line);
    self->has_memory = self->has_memory && entry;
    return entry;
}

struct frame {
    const char *class_name, *method, *file;
    unsigned line;
};

static struct zor_entry *make_exception(struct shop *self, const char *class_name, const char *message,
                                        const struct frame *frames, size_t count, struct zor_entry *cause)
{
    struct zor_entry *items[8];
    for (size_t i = 0; i < count; i++) {
        struct zor_entry *parts[] = {make_text(self, ZOR_MARK_CLASS, frames[i].class_name),
                                     make_text(self, ZOR_MARK_METHOD_NAME, frames[i].method),
                                     make_text(self, ZOR_MARK_NONE, frames[i].file)};
        items[i] = make_tuple(self, ZOR_MARK_STACK_ITEM, parts, 3, frames[i].line);
    }
    struct zor_entry *stack = make_tuple(self, ZOR_MARK_STACK, items, count, 0);
    struct zor_entry *parts[] = {make_text(self, ZOR_MARK_CLASS, class_name),
                                 make_text(self, ZOR_MARK_NONE, message), stack, cause};
    return make_tuple(self, ZOR_MARK_EXCEPTION, parts, 4, 0);
}

static void make_exceptions(struct shop *self)
{
    static const struct frame timeout[] = {
        {"java.net.SocketInputStream", "socketRead0", "SocketInputStream.java", 0},
        {"java.net.SocketInputStream", "read", "SocketInputStream.java", 171},
        {"com.acme.shop.http.HttpClient", "send", "HttpClient.java", 88},
        {"com.acme.shop.payment.PaymentClient", "charge", "PaymentClient.java", 52}};
    static const struct frame failed[] = {
        {"com.acme.shop.payment.PaymentClient", "charge", "PaymentClient.java", 57},
        {"com.acme.shop.order.OrderService", "create", "OrderService.java", 41},
        {"com.acme.shop.web.CheckoutController", "submit", "CheckoutController.java", 63}};
    self->timeout =
        make_exception(self, "java.net.SocketTimeoutException", "Read timed out", timeout, 4, NULL);
    self->failed = make_exception(self, "com.acme.shop.payment.PaymentFailed",
                                  "no answer from payments.acme.example", failed, 3, self->timeout);
}

static void make_names(struct shop *self)
{
    for (unsigned i = 0; i < METHODS; i++) {
        self->methods[i] = lode_zor_method(&self->writer.strings, zor_range(methods[i].class_name),
                                           zor_range(methods[i].name), zor_range(methods[i].signature));
        self->has_memory = self->has_memory && self->methods[i];
    }
    for (unsigned i = 0; i < KEY_COUNT; i++)
        self->keys[i] = make_text(self, ZOR_MARK_NONE, key_names[i]);
}

/* ---- a request ---- */

struct request {
    struct shop *self;
    struct zor_encoder *encoder;
    unsigned number;
    const struct step *steps;
    const char *url, *verb;
    bool fails;
    uint64_t time; /* nanoseconds since its begin */
    const struct step *stack[8];
    unsigned depth;
};

/* A number from 0 to `below` - 1 that depends on its arguments only. */
static uint64_t draw(uint64_t a, uint64_t b, uint64_t below)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03) + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static uint64_t tick_of(const struct request *request)
{
    return (START_CLOCK + request->self->begins[request->number] + request->time) >> ZOR_TICK_SHIFT;
}

static void put_text(struct request *request, enum key key, const char *text)
{
    lode_zor_attribute_text(request->encoder, request->self->keys[key],
                            make_text(request->self, ZOR_MARK_NONE, text));
}

static void put_number(struct request *request, enum key key, int64_t number)
{
    lode_zor_attribute_number(request->encoder, request->self->keys[key], number);
}

static void put_attributes(struct request *request)
{
    char thread[NAME_SIZE];
    unsigned number = request->number % THREADS;
    snprintf(thread, sizeof thread, "http-nio-8080-exec-%u", number + 1);
    put_text(request, KEY_COMPONENT, "http");
    put_text(request, KEY_VERB, request->verb);
    put_text(request, KEY_URL, request->url);
    put_number(request, KEY_STATUS, request->fails ? 502 : 200);
    put_number(request, KEY_PROCESS, PROCESS);
    put_number(request, KEY_THREAD, FIRST_THREAD + (int64_t)number);
    put_text(request, KEY_THREAD_NAME, thread);
}

/* The payment service does not answer, and everything that called it fails. */
static lode_status put_failure(struct request *request, enum method method, lode_error *error)
{
    bool is_failing = request->fails && (method == SEND || method == CHARGE || method == CREATE ||
                                         method == CHECKOUT || method == SERVICE);
    if (!is_failing)
        return LODE_OK;
    LODE_TRY(lode_zor_more(request->encoder, error));
    if (method == SEND || method == CHARGE)
        lode_zor_thrown(request->encoder, method == SEND ? request->self->timeout : request->self->failed);
    lode_zor_number(request->encoder, ZOR_KEY_FLAGS, FLAG_ERROR);
    return LODE_OK;
}

static lode_status leave(struct request *request, lode_error *error)
{
    const struct step *step = request->stack[--request->depth];
    request->time += UINT64_C(300) * step->time;
    LODE_TRY(put_failure(request, step->method, error));
    LODE_TRY(lode_zor_more(request->encoder, error));
    return lode_zor_leave(request->encoder, tick_of(request), error);
}

/* Self time: most of it at the beginning of the call, the rest at its end. */
static uint64_t time_of(const struct request *request, const struct step *step)
{
    uint64_t time = UINT64_C(700) * step->time;
    bool is_first_sql = step->method == EXECUTE_UPDATE && step[-1].method == RESERVE;
    if (request->number == SLOW_REQUEST && is_first_sql)
        return time * SLOW_FACTOR + MS(7);
    if (request->fails && step->method == SEND)
        return MS(1000);
    return time + draw(request->number, (uint64_t)(step - request->steps), time / 2 + 1);
}

static lode_status enter(struct request *request, const struct step *step, lode_error *error)
{
    request->stack[request->depth++] = step;
    LODE_TRY(lode_zor_more(request->encoder, error));
    LODE_TRY(lode_zor_enter(request->encoder, tick_of(request), request->self->methods[step->method], error));
    if (step->sql) {
        put_text(request, KEY_COMPONENT, "db");
        put_text(request, KEY_SQL, step->sql);
    }
    return LODE_OK;
}

static lode_status begin(struct request *request, lode_error *error)
{
    struct zor_encoder *encoder = request->encoder;
    struct zor_id id = {UINT64_C(0x5eed000000000000) | draw(request->number, 21, UINT64_C(1) << 40),
                        draw(request->number, 22, UINT64_C(1) << 62) | 1};
    uint64_t stamp = START_STAMP + request->self->begins[request->number] / 1000000;
    lode_zor_begin_track(encoder, request->number);
    lode_zor_begin_trace(encoder, id, stamp);
    request->stack[request->depth++] = &request->steps[0];
    LODE_TRY(
        lode_zor_enter(encoder, tick_of(request), request->self->methods[request->steps->method], error));
    lode_zor_number(encoder, ZOR_KEY_STAMP, stamp);
    lode_zor_number(encoder, ZOR_KEY_SPAN, id.low >> 1);
    lode_zor_put_ids(encoder);
    put_attributes(request);
    request->time += time_of(request, request->steps);
    return LODE_OK;
}

static bool has_failed(const struct request *request, const struct step *step)
{
    return request->fails && (step->method == SAVE || step[-1].method == SAVE);
}

static lode_status play(struct request *request, lode_error *error)
{
    LODE_TRY(begin(request, error));
    for (const struct step *step = request->steps + 1; step->time; step++) {
        if (has_failed(request, step))
            continue;
        while (request->depth > step->depth)
            LODE_TRY(leave(request, error));
        LODE_TRY(enter(request, step, error));
        request->time += time_of(request, step);
    }
    while (request->depth > 0)
        LODE_TRY(leave(request, error));
    return LODE_OK;
}

static bool is_failing(unsigned number)
{
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++)
        if (failing[i] == number)
            return true;
    return false;
}

/* Threads serve their requests one after the other; the first time, begins are set. */
static lode_status play_all(struct shop *self, bool sets_begins, lode_error *error)
{
    uint64_t free_at[THREADS] = {0};
    for (unsigned i = 0; i < REQUESTS; i++) {
        unsigned kind = i % KINDS, thread = i % THREADS;
        uint64_t due = MS(150) * i + draw(i, 20, MS(60));
        struct request request = {.self = self,
                                  .encoder = &self->writer.encoders[0],
                                  .number = i,
                                  .steps = kinds[kind].steps,
                                  .url = kinds[kind].url,
                                  .verb = kinds[kind].verb,
                                  .fails = is_failing(i)};
        if (sets_begins)
            self->begins[i] = due > free_at[thread] ? due : free_at[thread] + MS(3);
        LODE_TRY(play(&request, error));
        free_at[thread] = self->begins[i] + request.time;
    }
    return self->has_memory ? LODE_OK : lode_fail_memory(error);
}

static lode_status make(struct shop *self, const char *path, lode_error *error)
{
    LODE_TRY(lode_zor_writer_create(&self->writer, path, ZOR_LAYOUT_PAGE, false, 1, error));
    make_names(self);
    make_exceptions(self);
    if (!self->has_memory)
        return lode_fail_memory(error);
    LODE_TRY(play_all(self, true, error));
    LODE_TRY(lode_zor_writer_number(&self->writer, error));
    LODE_TRY(play_all(self, false, error));
    return lode_zor_writer_finish(&self->writer, error);
}

lode_status lode_zor_example(const char *path, lode_error *error)
{
    struct shop self = {.writer = ZOR_WRITER_INIT, .has_memory = true};
    lode_status status = make(&self, path, error);
    lode_zor_writer_close(&self.writer);
    return status;
}
