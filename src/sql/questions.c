/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The questions of `.questions`, with names of the store in the place of {metric} and {}: see
 * sql.h. tests/sql/questions.py runs all of them.
 */
#include "sql/sql.h"

/* A function to look at: the hottest that was called, and none that stands for something else. */
#define NAME_OF_A_FUNCTION                                                                                   \
    "select name from hotspot('function') where name not glob '<*' and name in (\n"                          \
    "  select name from context where kind = 'function' and caller_id is not null)\n"                        \
    "order by exclusive desc, name limit 1"
#define A_FUNCTION                                                                                           \
    "select c.id from context c join cost k on k.context_id = c.id\n"                                        \
    "where c.kind = 'function' and c.caller_id is not null and c.name = (" NAME_OF_A_FUNCTION ")\n"          \
    "order by k.inclusive desc, c.id limit 1"
#define VALUES_OF_PROFILES                                                                                   \
    "from value v join profile p on p.id = v.profile_id\n"                                                   \
    "join metric m on m.id = v.metric_id\n"                                                                  \
    "where v.context_id = 0 and m.scope = 'execution' and m.name = {metric}"

static const sql_question questions[] = {
    {"database", "the most expensive functions",
     "select name, exclusive, 100 * exclusive / sum(exclusive) over () percent\n"
     "from hotspot('function') order by exclusive desc limit 10;",
     NULL},
    {"database", "the most expensive lines of {}",
     "select name, exclusive from hotspot('line') where file = {} order by exclusive desc limit 5;",
     "select file from hotspot('line') where file is not null order by exclusive desc limit 1"},
    {"database", "own code, MPI, threads and other kinds of functions",
     "select name, exclusive, 100 * exclusive / sum(exclusive) over () percent\n"
     "from hotspot('kind') order by exclusive desc;",
     NULL},
    {"database", "callers of {}, and through how many paths",
     "select p.name caller, count(*) paths, sum(k.inclusive) total\n"
     "from context c join cost k on k.context_id = c.id join context p on p.id = c.caller_id\n"
     "where c.kind = 'function' and c.name = {} and p.name <> {} group by p.name order by total desc;",
     NAME_OF_A_FUNCTION},
    {"database", "the path to the most expensive context",
     "with recursive up (id, parent_id, depth, name) as (\n"
     "  select id, parent_id, depth, name from context where id = (\n"
     "    select context_id from cost order by exclusive desc, context_id limit 1)\n"
     "  union all select c.id, c.parent_id, c.depth, c.name from context c join up on c.id = up.parent_id)\n"
     "select depth, name from up order by depth;",
     NULL},
    {"database", "what lies below context {}",
     "select s.kind, count(*) contexts from context r\n"
     "join context s on s.position between r.position and r.last_position\n"
     "where r.id = {} group by s.kind;",
     A_FUNCTION},
    {"database", "the slowest threads, by {metric}",
     "select p.name, v.value " VALUES_OF_PROFILES "\norder by v.value desc limit 5;",
     "select 1 " VALUES_OF_PROFILES " limit 1"},
    {"database", "how evenly context {} is spread over profiles", "select * from distribution({});",
     A_FUNCTION},
    {"database", "whose imbalance costs most",
     "select c.name, d.max - d.mean wasted, d.imbalance from context c, distribution(c.id) d\n"
     "where c.kind = 'function' and d.n > 0 order by wasted desc limit 10;",
     "select 1 from context where kind = 'function' limit 1"},
    {"database", "cost by rank",
     "select p.rank, sum(v.value) total, median(v.value) median, max(v.value) largest\n" VALUES_OF_PROFILES
     "\ngroup by p.rank order by p.rank;",
     "select 1 " VALUES_OF_PROFILES " and p.rank is not null limit 1"},
    {"database", "profiles that are farthest from the median",
     "with t as (select p.name, v.value x " VALUES_OF_PROFILES "),\n"
     "med as (select median(x) m from t)\n"
     "select t.name, t.x, t.x - med.m deviation from t, med order by abs(t.x - med.m) desc, t.name limit 5;",
     "select 1 " VALUES_OF_PROFILES " limit 1"},
    {"database", "what profile {} did in the first tenth of its time",
     "select c.name, sum(s.duration_ns) / 1e9 seconds from sample s join context c on c.id = s.context_id\n"
     "where s.profile_id = {} and s.time_ns <= (\n"
     "  select min(time_ns) + (max(time_ns) - min(time_ns)) / 10 from sample where profile_id = {})\n"
     "group by c.name order by seconds desc;",
     "select profile_id from sample limit 1"},
    {"database", "who was idle longest",
     "select p.name, sum(case when s.context_id = 0 then s.duration_ns else 0 end) / 1e9 idle\n"
     "from sample s join profile p on p.id = s.profile_id group by p.id order by idle desc limit 3;",
     "select 1 from sample limit 1"},
    {"database", "which metrics there are, and their totals",
     "select s.name, s.scope, s.combine, t.value from total t join statistic s on s.id = t.statistic_id\n"
     "where t.context_id = 0;",
     "select 1 from total where context_id = 0 limit 1"},
    {"recording", "the slowest calls",
     "select function, duration_ns / 1e6 ms, begin_ns, track_id, id from call\n"
     "order by duration_ns desc limit 5;",
     "select 1 from call limit 1"},
    {"recording", "the worst tails",
     "select function, calls, p50_ns, p99_ns, 1.0 * p99_ns / p50_ns tail from call_stat\n"
     "where p50_ns > 0 order by tail desc limit 5;",
     "select 1 from call limit 1"},
    {"recording", "off-CPU time by thread",
     "select t.tid, sum(c.duration_ns) / 1e6 ms from call c join track t on t.id = c.track_id\n"
     "where c.function like 'linux:schedule%' group by t.tid order by ms desc;",
     "select 1 from function where name like 'linux:schedule%' limit 1"},
    {"recording", "calls over time, in twenty parts",
     "with t as (select min(begin_ns) first, max(begin_ns) + 1 last from call)\n"
     "select (begin_ns - first) * 20 / (last - first) part, count(*) calls, sum(self_ns) / 1e6 ms\n"
     "from call, t group by part order by part;",
     "select 1 from call limit 1"},
    {"recording", "callers of {}, and how long its calls take",
     "with p as materialized (select id, function from call)\n"
     "select p.function caller, count(*) calls, median(c.duration_ns) / 1e6 median_ms,\n"
     "  sum(c.duration_ns) / 1e6 total_ms\n"
     "from call c left join p on p.id = c.parent_id where c.function = {}\n"
     "group by p.function order by total_ms desc;",
     "select function from call_stat order by self_ns desc, function limit 1"},
    {"requests", "failures by exception",
     "select exception, count(*) requests, max(duration_ns) / 1e6 worst_ms from request\n"
     "where errors > 0 group by exception order by requests desc;",
     "select 1 from request where errors > 0 limit 1"},
    {"requests", "the slowest requests by {}",
     "select a.value, count(*) requests, avg(r.duration_ns) / 1e6 mean_ms,\n"
     "  quantile(r.duration_ns, 0.9) / 1e6 p90_ms, max(r.duration_ns) / 1e6 max_ms\n"
     "from request r join (select distinct track_id, value from attribute where key = {}) a\n"
     "on a.track_id = r.track_id group by a.value order by max_ms desc;",
     /* Addresses if there are, else what most requests have, with most values. */
     "select key from attribute group by key\n"
     "order by key in ('URI', 'http.url') desc, count(distinct track_id) desc, count(distinct value) desc, key\n"
     "limit 1"},
};

const sql_question *sql_question_at(size_t index)
{
    return index < sizeof questions / sizeof *questions ? &questions[index] : NULL;
}
