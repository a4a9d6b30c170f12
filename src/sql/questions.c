/* SPDX-License-Identifier: BSD-3-Clause */
/* The questions of `.questions`. tests/sql/questions.py runs all of them. */
#include "sql/sql.h"

static const sql_question questions[] = {
    {"database", "the most expensive functions",
     "select name, exclusive, 100 * exclusive / sum(exclusive) over () percent\n"
     "from hotspot('function') order by exclusive desc limit 10;"},
    {"database", "the most expensive lines of a file",
     "select name, exclusive from hotspot('line') where file like '%.cc' order by exclusive desc limit 5;"},
    {"database", "MPI, OpenMP, libc and the rest",
     "select case when name glob 'MPI_*' or name glob 'PMPI_*' then 'MPI'\n"
     "            when name like '<omp%' or name like '%GOMP%' then 'OpenMP'\n"
     "            when module like '%libc%' then 'libc' else 'rest' end part, sum(exclusive) total\n"
     "from hotspot('function') group by part order by total desc;"},
    {"database", "callers of a function, and through how many paths",
     "select p.name caller, count(*) paths, sum(k.inclusive) total\n"
     "from context c join cost k on k.context_id = c.id join context p on p.id = c.caller_id\n"
     "join function f on f.id = c.function_id\n"
     "where f.name like '%brk%' group by p.name order by total desc;"},
    {"database", "the path to the most expensive line",
     "with recursive up (id, parent_id, depth, name) as (\n"
     "  select id, parent_id, depth, name from context where id = (\n"
     "    select c.id from context c join cost k on k.context_id = c.id\n"
     "    where c.kind = 'line' order by k.inclusive desc limit 1)\n"
     "  union all select c.id, c.parent_id, c.depth, c.name from context c join up on c.id = up.parent_id)\n"
     "select depth, name from up order by depth;"},
    {"database", "what lies below a context",
     "select s.kind, count(*) contexts from context r\n"
     "join context s on s.position between r.position and r.last_position\n"
     "where r.name like 'main%' and r.kind = 'function' group by s.kind;"},
    {"database", "the slowest threads",
     "select p.rank, p.thread, v.value seconds from value v join profile p on p.id = v.profile_id\n"
     "join metric m on m.id = v.metric_id\n"
     "where v.context_id = 0 and m.scope = 'execution' and m.name = 'CPUTIME (sec)'\n"
     "order by seconds desc limit 5;"},
    {"database", "how evenly one function is spread over profiles",
     "select d.* from context c, distribution(c.id) d where c.name like 'main%' and c.kind = 'function' limit 1;"},
    {"database", "whose imbalance costs most",
     "select c.name, d.max - d.mean wasted, d.imbalance from context c, distribution(c.id) d\n"
     "where c.kind = 'function' and d.n > 2 order by wasted desc limit 10;"},
    {"database", "waiting, by rank",
     "select p.rank, sum(v.value) total, sum(case when f.name like '<omp%' then v.value end) waiting\n"
     "from value v join profile p on p.id = v.profile_id\n"
     "join metric m on m.id = v.metric_id and m.scope = 'function'\n"
     "join context c on c.id = v.context_id join function f on f.id = c.function_id\n"
     "where c.kind = 'function' group by p.rank order by waiting desc;"},
    {"database", "outliers: profiles beyond three median deviations",
     "with t as (select v.profile_id id, v.value x from value v join metric m on m.id = v.metric_id\n"
     "           where v.context_id = 0 and m.scope = 'execution'),\n"
     "q as (select x, row_number() over (order by x) r, count(*) over () n from t),\n"
     "med as (select avg(x) m from q where r in ((n + 1) / 2, (n + 2) / 2)),\n"
     "dev as (select abs(x - m) d, row_number() over (order by abs(x - m)) r, count(*) over () n from t, med),\n"
     "mad as (select avg(d) d from dev where r in ((n + 1) / 2, (n + 2) / 2))\n"
     "select p.name, t.x from t, med, mad join profile p on p.id = t.id where abs(t.x - med.m) > 3 * 1.4826 * mad.d;"},
    {"database", "what rank 0 did in the second tenth of a second",
     "select c.name, sum(s.duration_ns) / 1e9 seconds from sample s join profile p on p.id = s.profile_id\n"
     "join context c on c.id = s.context_id\n"
     "where p.rank = 0 and s.time_ns between (select min(time_ns) from sample) + 100000000\n"
     "                                   and (select min(time_ns) from sample) + 200000000\n"
     "group by c.name order by seconds desc;"},
    {"database", "who was idle longest",
     "select p.name, sum(case when s.context_id = 0 then s.duration_ns else 0 end) / 1e9 idle\n"
     "from sample s join profile p on p.id = s.profile_id group by p.id order by idle desc limit 3;"},
    {"database", "which metrics there are, and their totals",
     "select s.name, s.scope, s.combine, t.value from total t join statistic s on s.id = t.statistic_id\n"
     "where t.context_id = 0;"},
    {"recording", "the slowest calls",
     "select function, duration_ns / 1e6 ms, begin_ns, track_id from call order by duration_ns desc limit 5;"},
    {"recording", "the worst tails",
     "select function, calls, p50_ns, p99_ns, 1.0 * p99_ns / p50_ns tail from call_stat\n"
     "where calls >= 5 order by tail desc limit 5;"},
    {"recording", "off-CPU time by thread",
     "select t.tid, sum(c.duration_ns) / 1e6 ms from call c join track t on t.id = c.track_id\n"
     "where c.function like 'linux:schedule%' group by t.tid order by ms desc;"},
    {"recording", "calls over time",
     "select (begin_ns - (select min(begin_ns) from call)) / 1000000 ms, count(*) calls from call\n"
     "group by ms order by ms;"},
    {"requests", "failures by exception",
     "select exception, count(*) requests, max(duration_ns) / 1e6 worst_ms from request\n"
     "where errors > 0 group by exception order by requests desc;"},
    {"requests", "the slowest URIs",
     "select a.value uri, count(*) requests, avg(r.duration_ns) / 1e6 mean_ms, max(r.duration_ns) / 1e6 max_ms\n"
     "from request r join attribute a on a.track_id = r.track_id\n"
     "where a.key = 'URI' group by uri order by max_ms desc;"},
};

const sql_question *sql_question_at(size_t index)
{
    return index < sizeof questions / sizeof *questions ? &questions[index] : 0;
}
