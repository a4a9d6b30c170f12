-- SPDX-License-Identifier: BSD-3-Clause
-- The catalogue of runs on a server, version 1: PostgreSQL 15 or newer, no extensions. 'lode runs init' runs
-- it in one transaction, below a lock; whoever runs it owns it. doc/runs.md describes it for people.

-- Roles are those of the cluster: another catalogue may have created them. None can log in.
DO $$
DECLARE r text;
BEGIN
    FOREACH r IN ARRAY ARRAY['lode_reader', 'lode_writer', 'lode_admin'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', r);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    BEGIN
        GRANT lode_reader TO lode_writer;
        GRANT lode_writer TO lode_admin;
    EXCEPTION WHEN unique_violation THEN NULL;
    END;
END $$;

-- ---- names: everything belongs to a project, names too ----

CREATE TABLE lode.project(
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 64));
-- Who sees a project, and may add to it: a role of the cluster, which is a user or a group.
CREATE TABLE lode.member(
    project int NOT NULL REFERENCES lode.project ON DELETE CASCADE, role name NOT NULL,
    can_write boolean NOT NULL DEFAULT false, PRIMARY KEY (project, role));

-- A name can be longer than what an index takes (2,704 bytes): unique by digest. convert_to() is not immutable.
CREATE FUNCTION lode.digest(name text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT substring(sha256(decode(replace(name, '\', '\\'), 'escape')) FOR 16) $$;
CREATE TABLE lode.metric(
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project int NOT NULL REFERENCES lode.project, name text NOT NULL,
    digest bytea NOT NULL GENERATED ALWAYS AS (lode.digest(name)) STORED, UNIQUE (project, digest));
CREATE TABLE lode.function(
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project int NOT NULL REFERENCES lode.project, name text NOT NULL, module text NOT NULL, file text NOT NULL,
    digest bytea NOT NULL GENERATED ALWAYS AS (lode.digest(name)) STORED, UNIQUE (project, digest));
-- The label 'title', as a number: a history is one range of an index.
CREATE TABLE lode.series(
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project int NOT NULL REFERENCES lode.project, title text NOT NULL,
    digest bytea NOT NULL GENERATED ALWAYS AS (lode.digest(title)) STORED, UNIQUE (project, digest));

-- ---- runs ----

CREATE TABLE lode.run(
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project int NOT NULL REFERENCES lode.project, series int NOT NULL REFERENCES lode.series,
    owner name NOT NULL DEFAULT session_user,
    begun timestamptz NOT NULL,                               -- for months and people, in microseconds
    begun_ns bigint NOT NULL, added_ns bigint NOT NULL, modified_ns bigint NOT NULL,
    bytes bigint NOT NULL, profiles bigint NOT NULL, format text NOT NULL, path text NOT NULL,
    labels jsonb NOT NULL CHECK (jsonb_typeof(labels) = 'object'),
    metrics int[] NOT NULL, totals float8[] NOT NULL,         -- the first metric is the default one
    -- A digest of host, path, size and time of writing, which the client computes; and what makes an add idempotent:
    -- the same, unless a store is added again.
    store bytea NOT NULL CHECK (octet_length(store) = 16),
    identity bytea NOT NULL CHECK (octet_length(identity) = 16), UNIQUE (project, identity),
    CHECK (cardinality(metrics) = cardinality(totals)));
CREATE INDEX run_series ON lode.run(series, begun_ns DESC, id DESC);
CREATE INDEX run_begun ON lode.run(project, begun_ns DESC, id DESC);
CREATE INDEX run_store ON lode.run(project, store);
CREATE INDEX run_labels ON lode.run USING gin (labels jsonb_path_ops) WITH (fastupdate = on);

-- A row for each run and metric; NaN: the function does not have this metric. By month: retention drops a table.
CREATE TABLE lode.cost(
    run bigint NOT NULL, begun timestamptz NOT NULL, begun_ns bigint NOT NULL,
    series int NOT NULL, metric int NOT NULL, project int NOT NULL,
    functions int[] NOT NULL, exclusive float8[] NOT NULL, inclusive float8[] NOT NULL,
    minimum float8[], maximum float8[],                       -- of profiles; NULL if none is known
    PRIMARY KEY (run, metric, begun),
    CHECK (cardinality(functions) = cardinality(exclusive) AND cardinality(functions) = cardinality(inclusive))
) PARTITION BY RANGE (begun);
CREATE INDEX cost_series ON lode.cost(series, metric, begun);
-- Clocks that were never set.
CREATE TABLE lode.cost_past PARTITION OF lode.cost FOR VALUES FROM (MINVALUE) TO ('2000-01-01 00:00:00+00');

-- Not CREATE TABLE ... PARTITION OF: that locks out readers; ATTACH lets them work.
CREATE FUNCTION lode.ensure_month(at timestamptz) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first timestamptz := date_trunc('month', at, 'UTC');
    last timestamptz := date_trunc('month', first AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
    part text := 'cost_' || to_char(at AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
    IF at < '2000-01-01 00:00:00+00' THEN RETURN; END IF;
    -- Not to_regclass(): its cache still says that there is none after the wait for the lock.
    IF EXISTS (SELECT FROM pg_class c WHERE c.relname = part AND c.relnamespace = 'lode'::regnamespace) THEN RETURN; END IF;
    IF at > now() + interval '2 days' THEN
        RAISE EXCEPTION 'a run that begins in the future, at %, is not plausible', at USING ERRCODE = 'invalid_datetime_format';
    END IF;
    PERFORM pg_advisory_xact_lock(x'4c6f6465'::int, 2);
    IF EXISTS (SELECT FROM pg_class c WHERE c.relname = part AND c.relnamespace = 'lode'::regnamespace) THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE lode.%I (LIKE lode.cost INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', part);
    EXECUTE format('ALTER TABLE lode.%I ALTER exclusive SET STORAGE EXTERNAL, ALTER inclusive SET STORAGE EXTERNAL', part);
    EXECUTE format('ALTER TABLE lode.cost ATTACH PARTITION lode.%I FOR VALUES FROM (%L) TO (%L)', part, first, last);
END $$;

-- ---- who sees what ----

CREATE FUNCTION lode.my_projects(to_write boolean DEFAULT false) RETURNS int[] LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT m.project), '{}') FROM lode.member m JOIN pg_roles r ON r.rolname = m.role
    WHERE pg_has_role(session_user, r.oid, 'MEMBER') AND (m.can_write OR NOT to_write)
$$;
-- (SELECT ...): once for a statement, not once for a row.
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['metric', 'function', 'series', 'run', 'cost'] LOOP
        EXECUTE format('ALTER TABLE lode.%I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY see ON lode.%I FOR SELECT USING (project = ANY ((SELECT lode.my_projects())::int[]))', t);
    END LOOP;
END $$;
ALTER TABLE lode.project ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON lode.project FOR SELECT USING (id = ANY ((SELECT lode.my_projects())::int[]));

-- ---- adding: one statement, one round trip, one transaction ----

-- Metrics have numbers in the order in which the project met them: one writer at a time has new ones.
CREATE FUNCTION lode.intern_metrics(proj int, names text[]) RETURNS int[] LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE ids int[];
BEGIN
    FOR attempt IN 1..3 LOOP
        SELECT array_agg(m.id ORDER BY n.i) INTO ids FROM unnest(names) WITH ORDINALITY n(name, i)
        LEFT JOIN lode.metric m ON m.project = proj AND m.digest = lode.digest(n.name);
        IF array_position(ids, NULL) IS NULL THEN RETURN coalesce(ids, '{}'); END IF;
        IF attempt = 1 THEN PERFORM pg_advisory_xact_lock(x'4c6f6465'::int, 3); CONTINUE; END IF;
        INSERT INTO lode.metric(project, name)
        SELECT proj, n.name FROM unnest(names, ids) WITH ORDINALITY n(name, id, i) WHERE n.id IS NULL ORDER BY n.i
        ON CONFLICT (project, digest) DO NOTHING;
    END LOOP;
    RAISE EXCEPTION 'metrics were not added';
END $$;

-- New functions are inserted in one order, so that writers do not deadlock.
CREATE FUNCTION lode.intern_functions(proj int, names text[], modules text[], files text[]) RETURNS int[] LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE ids int[];
BEGIN
    FOR attempt IN 1..3 LOOP
        SELECT array_agg(f.id ORDER BY n.i) INTO ids FROM unnest(names) WITH ORDINALITY n(name, i)
        LEFT JOIN lode.function f ON f.project = proj AND f.digest = lode.digest(n.name);
        IF array_position(ids, NULL) IS NULL THEN RETURN coalesce(ids, '{}'); END IF;
        INSERT INTO lode.function(project, name, module, file)
        SELECT proj, n.name, n.module, n.file FROM unnest(names, modules, files, ids) n(name, module, file, id)
        WHERE n.id IS NULL ORDER BY n.name COLLATE "C"
        ON CONFLICT (project, digest) DO NOTHING;
    END LOOP;
    RAISE EXCEPTION 'functions were not added';
END $$;

CREATE FUNCTION lode.intern_title(proj int, in_title text) RETURNS int LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE ser int;
BEGIN
    SELECT s.id INTO ser FROM lode.series s WHERE s.project = proj AND s.digest = lode.digest(in_title);
    IF ser IS NULL THEN
        INSERT INTO lode.series(project, title) VALUES (proj, in_title) ON CONFLICT DO NOTHING;
        SELECT s.id INTO STRICT ser FROM lode.series s WHERE s.project = proj AND s.digest = lode.digest(in_title);
    END IF;
    RETURN ser;
END $$;

-- NULL: the only one that there is.
CREATE FUNCTION lode.project_to_write(in_project text) RETURNS int LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE mine int[] := lode.my_projects(true); proj int;
BEGIN
    IF in_project IS NULL AND cardinality(mine) > 1 THEN
        RAISE EXCEPTION 'which project? --project %',
            (SELECT string_agg(x.name, ', ') FROM (SELECT p.name FROM lode.project p WHERE p.id = ANY (mine) ORDER BY 1 LIMIT 3) x)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT p.id INTO proj FROM lode.project p WHERE (in_project IS NULL OR p.name = in_project) AND p.id = ANY (mine);
    IF proj IS NULL AND in_project IS NULL THEN
        RAISE EXCEPTION 'there is no project that you may add to' USING ERRCODE = 'insufficient_privilege';
    ELSIF proj IS NULL THEN
        RAISE EXCEPTION 'there is no project ''%'' that you may add to', in_project USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN proj;
END $$;

-- Costs are row by row: metric 1 of all functions, then metric 2 ... Of a run that is there, says when it was added:
-- whoever asks again after a lost connection knows his own by that.
CREATE FUNCTION lode.add_run(
    in_project text, in_identity bytea, in_store bytea, in_begun_ns bigint, in_added_ns bigint, in_modified_ns bigint,
    in_bytes bigint, in_profiles bigint, in_format text, in_path text, in_labels jsonb,
    in_metrics text[], in_totals float8[], in_names text[], in_modules text[], in_files text[],
    in_exclusive float8[], in_inclusive float8[], in_minimum float8[], in_maximum float8[],
    OUT id bigint, OUT added_ns bigint, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz := to_timestamp(in_begun_ns / 1000000000) + (in_begun_ns % 1000000000 / 1000) * interval '1 microsecond';
    proj int; ser int; mids int[]; fids int[]; n int := cardinality(in_names);
BEGIN
    is_new := false;
    proj := lode.project_to_write(in_project);
    SELECT r.id, r.added_ns INTO id, added_ns FROM lode.run r WHERE r.project = proj AND r.identity = in_identity;
    IF FOUND THEN RETURN; END IF;
    IF in_identity = in_store THEN
        SELECT r.id, r.added_ns INTO id, added_ns FROM lode.run r WHERE r.project = proj AND r.store = in_store ORDER BY r.id LIMIT 1;
        IF FOUND THEN RETURN; END IF;
    END IF;
    mids := lode.intern_metrics(proj, in_metrics);
    ser := lode.intern_title(proj, coalesce(in_labels ->> 'title', ''));
    fids := lode.intern_functions(proj, in_names, in_modules, in_files);
    PERFORM lode.ensure_month(at);
    INSERT INTO lode.run(project, series, begun, begun_ns, added_ns, modified_ns, bytes, profiles, format, path, labels, metrics, totals, store, identity)
    VALUES (proj, ser, at, in_begun_ns, in_added_ns, in_modified_ns, in_bytes, in_profiles, in_format, in_path, in_labels, mids, in_totals, in_store, in_identity)
    ON CONFLICT (project, identity) DO NOTHING RETURNING run.id, run.added_ns INTO id, added_ns;
    IF id IS NULL THEN      -- another attempt to add it won
        SELECT r.id, r.added_ns INTO STRICT id, added_ns FROM lode.run r WHERE r.project = proj AND r.identity = in_identity;
        RETURN;
    END IF;
    INSERT INTO lode.cost(run, begun, begun_ns, series, metric, project, functions, exclusive, inclusive, minimum, maximum)
    SELECT add_run.id, at, in_begun_ns, ser, mids[m], proj, fids,
           in_exclusive[(m - 1) * n + 1 : m * n], in_inclusive[(m - 1) * n + 1 : m * n],
           in_minimum[(m - 1) * n + 1 : m * n], in_maximum[(m - 1) * n + 1 : m * n]
    FROM generate_series(1, cardinality(mids)) m WHERE n > 0;
    is_new := true;
END $$;

-- Who added a run removes it, and so does an administrator. False: there is no such run, or it is not to be seen.
CREATE FUNCTION lode.remove_run(in_project text, in_run bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE r record;
BEGIN
    SELECT x.id, x.begun, x.owner INTO r FROM lode.run x JOIN lode.project p ON p.id = x.project
    WHERE x.id = in_run AND p.name = in_project AND p.id = ANY (lode.my_projects()) FOR UPDATE OF x;
    IF NOT FOUND THEN RETURN false; END IF;
    IF r.owner <> session_user AND NOT pg_has_role(session_user, 'lode_admin', 'MEMBER') THEN
        RAISE EXCEPTION 'run % was added by another user', in_run USING ERRCODE = 'insufficient_privilege';
    END IF;
    DELETE FROM lode.cost c WHERE c.run = in_run AND c.begun = r.begun;
    DELETE FROM lode.run x WHERE x.id = in_run;
    RETURN true;
END $$;

-- ---- administration ----

-- A level is reader, writer, admin or none. The project is created if there is none.
CREATE FUNCTION lode.grant_role(in_project text, in_role text, in_level text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE proj int;
BEGIN
    IF in_level NOT IN ('reader', 'writer', 'admin', 'none') THEN
        RAISE EXCEPTION 'a level is reader, writer, admin or none' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = in_role) THEN
        RAISE EXCEPTION 'the server has no role "%"; CREATE ROLE creates it', in_role USING ERRCODE = 'undefined_object';
    END IF;
    INSERT INTO lode.project(name) SELECT in_project WHERE in_level <> 'none' ON CONFLICT DO NOTHING;
    SELECT p.id INTO proj FROM lode.project p WHERE p.name = in_project;
    DELETE FROM lode.member m WHERE m.project = proj AND m.role = in_role;
    IF in_level = 'none' THEN RETURN; END IF;
    INSERT INTO lode.member(project, role, can_write) VALUES (proj, in_role, in_level <> 'reader');
    -- The right to call functions; which rows they have is what the member says.
    IF NOT pg_has_role(in_role, 'lode_' || in_level, 'MEMBER') THEN
        EXECUTE format('GRANT %I TO %I', 'lode_' || in_level, in_role);
    END IF;
END $$;

-- Removes runs that began before a time, which is the first of a month in UTC. Returns how many.
CREATE FUNCTION lode.drop_before(until timestamptz) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE part record; gone bigint;
BEGIN
    IF until <> date_trunc('month', until, 'UTC') THEN
        RAISE EXCEPTION 'not the first of a month' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    DELETE FROM lode.run WHERE begun < until;
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM lode.cost_past WHERE begun < until;
    FOR part IN SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'lode.cost'::regclass AND c.relname <> 'cost_past'
                  AND c.relname < 'cost_' || to_char(until AT TIME ZONE 'UTC', 'YYYY_MM') LOOP
        EXECUTE format('DROP TABLE %s', part.name);
    END LOOP;
    RETURN gone;
END $$;

-- ---- reading: for people and dashboards. Rights are those of who asks. ----

CREATE VIEW lode.totals WITH (security_invoker = true) AS
    SELECT r.begun AS time, p.name AS project, s.title, m.name AS metric, x.total AS value, r.id AS run,
           r.labels ->> 'branch' AS branch, r.labels ->> 'commit' AS commit, r.labels ->> 'host' AS host, r.labels
    FROM lode.run r JOIN lode.project p ON p.id = r.project JOIN lode.series s ON s.id = r.series,
         unnest(r.metrics, r.totals) x(metric, total) JOIN lode.metric m ON m.id = x.metric;
-- The time is that of the partitioned table, so that a range of it leaves out months.
CREATE VIEW lode.costs WITH (security_invoker = true) AS
    SELECT c.begun AS time, p.name AS project, s.title, m.name AS metric, f.name AS function, x.exclusive, x.inclusive,
           r.id AS run, r.labels
    FROM lode.cost c JOIN lode.run r ON r.id = c.run JOIN lode.metric m ON m.id = c.metric
         JOIN lode.project p ON p.id = c.project JOIN lode.series s ON s.id = c.series,
         unnest(c.functions, c.exclusive, c.inclusive) x(function, exclusive, inclusive) JOIN lode.function f ON f.id = x.function
    WHERE x.exclusive <> 'NaN';

-- The history of one function of one title; NULL: the total.
CREATE FUNCTION lode.trend(in_project text, in_title text, in_function text, in_metric text, in_labels jsonb DEFAULT '{}',
                           since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE ("time" timestamptz, run bigint, exclusive float8, inclusive float8) LANGUAGE plpgsql STABLE
SET jit = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    proj int := (SELECT p.id FROM lode.project p WHERE p.name = in_project);
    ser int := (SELECT s.id FROM lode.series s WHERE s.project = proj AND s.digest = lode.digest(in_title));
    met int := (SELECT m.id FROM lode.metric m WHERE m.project = proj AND m.digest = lode.digest(in_metric));
    fun int := (SELECT f.id FROM lode.function f WHERE f.project = proj AND f.digest = lode.digest(in_function));
BEGIN
    IF in_function IS NULL THEN
        RETURN QUERY SELECT r.begun, r.id, r.totals[x.i], r.totals[x.i]
        FROM lode.run r CROSS JOIN LATERAL (SELECT array_position(r.metrics, met) AS i OFFSET 0) x
        WHERE r.series = ser AND r.begun >= since AND r.begun < until AND x.i IS NOT NULL AND r.labels @> in_labels
        ORDER BY r.begun_ns, r.id;
    ELSE        -- OFFSET 0: the place of the function is computed once, and each array is read once
        RETURN QUERY SELECT c.begun, c.run, y.e, c.inclusive[x.i]
        FROM lode.cost c CROSS JOIN LATERAL (SELECT array_position(c.functions, fun) AS i OFFSET 0) x
             CROSS JOIN LATERAL (SELECT c.exclusive[x.i] AS e OFFSET 0) y
        WHERE c.series = ser AND c.metric = met AND c.begun >= since AND c.begun < until AND y.e <> 'NaN'
          AND (in_labels = '{}' OR EXISTS (SELECT FROM lode.run r WHERE r.id = c.run AND r.labels @> in_labels))
        ORDER BY c.begun_ns, c.run;
    END IF;
END $$;

-- ---- rights: reading is below row-level security; everything else is a function ----

GRANT USAGE ON SCHEMA lode TO lode_reader;
GRANT SELECT ON lode.schema_version, lode.project, lode.metric, lode.function, lode.series, lode.run, lode.cost, lode.totals, lode.costs TO lode_reader;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA lode FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lode.trend, lode.my_projects, lode.digest TO lode_reader;
GRANT EXECUTE ON FUNCTION lode.add_run, lode.remove_run TO lode_writer;
GRANT EXECUTE ON FUNCTION lode.grant_role, lode.drop_before TO lode_admin;
