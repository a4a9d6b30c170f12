#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The catalogue of runs on a PostgreSQL server that this starts, with fsync: runs_server.py BUILD [--runs N] [--adds N]

Fills it (on the server, as 'lode runs add' would; 200 functions; 10 % of runs are of one title with 3 metrics), then measures adds of 1, 16 and 128
writers with a connection each (`ninja bench-tools`), and questions. A million runs take 7 GB and some minutes.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "tools")]

import postgresql  # noqa: E402

FILL = """
SET synchronous_commit = off; SET TimeZone = 'UTC';
INSERT INTO lode.metric(project, name) SELECT 1, unnest(ARRAY['CPUTIME (sec)', 'PAPI_TOT_INS', 'calls']);
INSERT INTO lode.series(project, title) SELECT 1, 'app' || g FROM generate_series(0, 999) g;
INSERT INTO lode.series(project, title) VALUES (1, 'app'), (1, 'big');
INSERT INTO lode.function(project, name, module, file) SELECT 1, 'function_' || i || '(int)', '', '' FROM generate_series(0, 199) i;
DO $$ BEGIN FOR y IN 0..34 LOOP PERFORM lode.ensure_month('2024-01-15'::timestamptz + y * interval '1 month'); END LOOP; END $$;
CREATE TEMP TABLE sample AS SELECT s, array_agg(k ORDER BY k) AS f, array_agg(100.0::float8 / k * (1 + 0.02 * random()) ORDER BY k) AS e, array_agg(200.0::float8 / k ORDER BY k) AS i
    FROM generate_series(0, 999) s, generate_series(1, 200) k GROUP BY s;
CREATE UNIQUE INDEX ON sample(s);
CREATE FUNCTION pg_temp.gen(title text, n int, step interval, metrics int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH r AS (
        INSERT INTO lode.run(project, series, begun, begun_ns, added_ns, modified_ns, bytes, profiles, format, path, labels, metrics, totals, store, identity)
        SELECT 1, s.id, t, extract(epoch from t)::bigint * 1000000000, g, g, 1000, 1, 'synthetic', '/scratch/' || gen.title || '/' || g,
               jsonb_build_object('title', s.title, 'branch', CASE WHEN g % 5 = 0 THEN 'dev' ELSE 'main' END, 'host', 'node' || (g % 512), 'slurm_job', g::text),
               (ARRAY[1, 2, 3])[1:gen.metrics], (ARRAY[500 + random(), 600.0, 700.0])[1:gen.metrics], decode(md5(gen.title || g), 'hex'), decode(md5(gen.title || g), 'hex')
        FROM generate_series(1, n) g, LATERAL (SELECT date_trunc('second', '2024-01-01'::timestamptz + g * step) AS t) q,
             LATERAL (SELECT * FROM lode.series s WHERE s.title = CASE WHEN gen.title = 'x' THEN 'app' || (g % 1000) ELSE gen.title END) s
        RETURNING id, begun, begun_ns, series)
    INSERT INTO lode.cost(run, begun, begun_ns, series, metric, project, functions, exclusive, inclusive)
    SELECT r.id, r.begun, r.begun_ns, r.series, m, 1, s.f, s.e, s.i FROM r, generate_series(1, metrics) m, sample s WHERE s.s = (r.id * 7 + m) % 1000;
END $$;
"""


def wall(words):
    """Milliseconds, the best and the worst of five; it may find something."""
    times = []
    for _ in range(5):
        begin = time.monotonic()
        status = subprocess.run(words, stdout=subprocess.DEVNULL).returncode
        times.append(1000 * (time.monotonic() - begin))
        if status not in (0, 1):
            raise ValueError(words)
    return min(times), max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--runs", type=int, default=1000000)
    parser.add_argument("--adds", type=int, default=640, help="of all writers together")
    options = parser.parse_args()
    lode = str((options.build / "src" / "cli" / "lode").resolve())
    with postgresql.Server(fsync="on", connections=200, buffers="1GB", vacuum="on") as server:
        database = server.database()
        address = server.address(database)
        subprocess.run([lode, "runs", "init", "--catalogue", address], check=True, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        app, big = min(10000, options.runs // 10), min(100000, options.runs // 10)
        server.sql(FILL + f"SELECT pg_temp.gen('app', {app}, '25000 hours'::interval / {app}, 3); SELECT pg_temp.gen('big', {big}, '25000 hours'::interval / {big}, 3); "
                   f"SELECT pg_temp.gen('x', {options.runs - app - big}, '25000 hours'::interval / {options.runs}, 1)", database)
        # What filling leaves to do is not part of a question.
        server.sql("VACUUM ANALYZE; CHECKPOINT", database)
        size = int(server.sql("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'lode'::regnamespace AND relkind = 'r'", database)[0])
        print(f"{options.runs} runs: {size / 2**20:.0f} MiB, made in {time.monotonic() - begin:.0f} s", flush=True)
        at = ["--catalogue", address]
        for name, words in (("list", ["list"]), ("list --label slurm_job=77", ["list", "--label", "slurm_job=77"]), (f"trend, {app} runs", ["trend", "--label", "title=app"]),
                            (f"trend FUNCTION, {app} runs", ["trend", "function_5(int)", "--label", "title=app"]), (f"trend FUNCTION, {big} runs", ["trend", "function_5(int)", "--label", "title=big"]),
                            ("check", ["check", "--label", "title=app"])):
            best, worst = wall([lode, "runs", *words, "--json", *at])
            print(f"{name:32}{best:8.0f} to {worst:.0f} ms", flush=True)
        plugin = options.build / "src/postgresql/lode-postgresql.so"
        for number, writers in enumerate((1, 16, 128)):
            words = [options.build / "tests/bench/add_runs", plugin, address, writers, max(options.adds // writers, 2), 10000 * number]
            done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, check=True)
            print(f"add, {writers:3} writers: {done.stdout.decode().strip()}", flush=True)
        whole = server.sql("SELECT (SELECT count(*) FROM lode.run WHERE path LIKE '/scratch/%' AND format = 'synthetic' AND added_ns > 0 AND bytes = 0), "
                           "(SELECT count(*) FROM lode.run r WHERE bytes = 0 AND 3 <> (SELECT count(*) FROM lode.cost c WHERE c.run = r.id AND c.begun = r.begun))", database)
        print(f"runs that were added, and of these incomplete: {whole[0]}")


if __name__ == "__main__":
    sys.exit(main())
