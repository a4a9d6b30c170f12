# SPDX-License-Identifier: BSD-3-Clause
"""`lode tree` with several metrics, and parts of a tree (--below, --skip), against the reference."""

import corpora
import db_reference as reference
from asking import Wrong, nested


def _rows(cost, mode, focus):
    if mode == "bottom-up":
        return reference.bottom_up(cost, focus)
    return reference.callers(cost, focus) if mode == "callers" else reference.tree(cost, focus)


def _words(mode, focus):
    words = ["--bottom-up"] if mode == "bottom-up" else []
    return [*words, *(["--callers" if mode == "callers" else "--focus", focus] if focus else [])]


def _key(db, mode, context):
    """What rows below one row differ in."""
    return reference._meaning(db, context) if mode == "top-down" else db.function_key(context)


def _compare(answers, mode, found, wanted, formulas, costs, path):
    """Rows below one row; `wanted` has the reference rows of each metric. A metric without the row has no cost there."""
    by_key = [{_key(answers.db, mode, row.first): row for row in rows} for rows in wanted]
    for row, children in found:
        key = _key(answers.db, mode, answers.db.by_id[row["context"]])
        rows = [rows.get(key) for rows in by_key]
        answers.counts["rows"] += 1
        for kind in ("inclusive", "exclusive"):
            values = [0.0 if r is None else getattr(r, kind) for r in rows]
            # A sum that is only rounding in one answer is nothing in the other, and a quotient of it anything.
            if not answers.exact and any(0 < abs(v) <= 1e-9 * abs(c.total) for v, c in zip(values, costs)):
                continue
            for number, formula in enumerate(formulas, 2):
                right = formula(*values)
                scale = 0.0 if right is None else 1e-3 * max(1.0, *(abs(c.total) for c in costs))
                what = f"{kind}_{number} of '{path}/{row['name']}'"
                answers.expect(row[f"{kind}_{number}"], None if right is None else float(right), what, scale)
            answers.percent(row[f"{kind}_percent_2"], values[1], costs[1].total, f"{kind}_percent_2 of '{path}/{row['name']}'")
        below = [[] if r is None else r.children for r in rows]
        _compare(answers, mode, children, below, formulas, costs, f"{path}/{row['name']}")


def several(answers, metrics, mode="top-down", focus=None, min_percent=0):
    """Rows and order are those of the first metric; columns of the second, and of a quotient of both."""
    first, second = metrics
    costs = [answers.cost(first), answers.cost(second)]
    if any(value < 0 for cost in costs for value in cost.own) or (focus and not reference.resolved(answers.db, focus)):
        return
    texts = [answers.metric_text(m) for m in metrics]
    quoted = [t if t.startswith("$") else f"'{t}'" for t in texts]
    words = ["--limit", 0, "--min-percent", min_percent, *_words(mode, focus)]
    alone = answers.run("tree", *words, "--metric", texts[0])
    answer = answers.run("tree", *words, "--metric", texts[0], "--metric", texts[1], "--metric", f"{quoted[0]}/{quoted[1]}")
    answers.expect([m["total"] for m in answer["metrics"]][:2], [c.total for c in costs], "totals")
    plain = [{k: v for k, v in row.items() if k[-2:] not in ("_2", "_3")} for row in answer["rows"]]
    answers.expect(plain == alone["rows"], True, "rows of the first metric are those of the metric alone")
    formulas = [lambda a, b: b, lambda a, b: reference.quotient(a, b)]
    _compare(answers, mode, nested(answer["rows"]), [_rows(c, mode, focus) for c in costs], formulas, costs, "")


def _below(answers, cost, mode, words, path, rows):
    """The rows below one row, all at once and in parts, against the reference."""
    shown = sorted((r for r in rows if r.inclusive > 0), key=lambda r: (-r.inclusive, r.first.index))
    options = ["--below", ",".join(map(str, path)), "--min-percent", 0, "--depth", 1, *words, *answers.options(cost, None)]
    whole = answers.run("tree", "--limit", 0, *options)
    answers.expect((whole["row_count"], len(whole["rows"])), (len(shown), len(shown)), f"rows below {path}")
    for found, right in zip(whole["rows"], shown) if answers.exact else ():
        answers.expect((found["context"], found["name"]), (right.first.id, right.name), f"row below {path}")
    by_context = {r.first.id: r for r in shown}
    for found in whole["rows"]:
        answers.counts["rows"] += 1
        right = by_context[found["context"]]
        for field in ("inclusive", "exclusive"):
            answers.expect(found[field], getattr(right, field), f"{field} of a row below {path}", cost.total)
        answers.expect((found["depth"], found["parent_row"]), (0, None), "depth of a row")
        answers.expect(found["children"], len([c for c in right.children if c.inclusive > 0]), f"children of a row below {path}")
    slices = ((0, 1), (1, 2), (len(shown), 3))
    if corpora.is_own():
        # Of few stores, each row has its turn; with the larger corpus, all have all.
        slices = slices[answers.counts["rows in parts"] % 3:][:1]
    answers.counts["rows in parts"] += 1
    for skip, limit in slices:
        part = answers.run("tree", "--skip", skip, "--limit", limit, *options)
        answers.expect(part["row_count"], len(shown), "rows of which a part is shown")
        answers.expect(part["is_truncated"], skip + limit < len(shown), "whether more follow")
        wanted = [{**row, "row": number} for number, row in enumerate(whole["rows"][skip:skip + limit])]
        answers.expect([{**row, "hot": False} for row in part["rows"]] == [{**row, "hot": False} for row in wanted], True,
                       f"rows {skip} to {skip + limit} below {path}")


def parts(answers, cost, mode="top-down", focus=None, most=3):
    """What is below rows: along the most expensive path, and beside it. Rounding makes rows and changes their order."""
    if any(value < 0 for value in cost.own) or (focus and not reference.resolved(answers.db, focus)):
        return
    rows, path, words = _rows(cost, mode, focus), [], _words(mode, focus)
    noise = 0.0 if answers.exact else 1e-9 * cost.total
    while rows and len(path) < most:
        rows.sort(key=lambda r: (-r.inclusive, r.first.index))
        for row in {rows[0].first.id: rows[0], rows[-1].first.id: rows[-1]}.values():
            is_clear = all(c.inclusive > noise or c.inclusive == 0 for r in row.children for c in [r, *r.children])
            if row.inclusive > noise and is_clear:
                _below(answers, cost, mode, words, [*path, row.first.id], row.children)
        path.append(rows[0].first.id)
        rows = rows[0].children if rows[0].inclusive > noise else []


def ask(answers, metrics):
    """All of it for the first metrics that have costs."""
    if not metrics:
        return
    pair = (metrics * 2)[:2]
    for mode, focus in (("top-down", None), ("bottom-up", None), ("callers", "main"), ("top-down", "main")):
        answers.attempt(f"tree {mode} {focus} of several metrics", several, answers, pair, mode, focus)
        answers.attempt(f"tree {mode} {focus} of several metrics, 5 %", several, answers, pair[::-1], mode, focus, 5)
        answers.attempt(f"tree {mode} {focus} in parts", parts, answers, answers.cost(pair[0]), mode, focus)


__all__ = ["ask", "parts", "several", "Wrong"]
