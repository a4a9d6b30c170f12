# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode compare --tree` has to answer on two databases, worked out slowly from what an independent reader made of them.

view        Contexts that begin a function, and loops, are nodes; all else is part of the node above it. Contexts of one key below one node are
            one node. A function is known by its normalised name (compare_reference.py); a loop by file and line, relative to its function where
            that is known and begins in the same file before it. The same loop directly inside itself is one with it.
pairs       From the root down. Below a pair, nodes of both sides are put in slots by key; a slot with nodes of both sides is a pair. What is left:
            functions with the same simple name, if it is the only one of its side with that name; then loops of one file in the order
            of lines, the longest sequence of loops whose callees overlap by half at least.
            As long as both sides have slots left, some are looked through, and their children put in slots: those with a child that another
            slot waits for (such a slot is not looked through itself; the first by key wins), else, and after 16 rounds, all that are left.
            A node of one side only stays below its own parent.
costs       Own: of all contexts of a node. Inclusive: own, and inclusive of the nodes below. Gross: absolute change of own cost, and gross of the
            nodes below. Matched: the share of own costs, by absolute value, in pairs of both sides.
"""

import math
from collections import defaultdict

import compare_reference as reference

ROUNDS = 16


# ---- one side ----

class Node:
    """A node of the view."""

    def __init__(self, key, parent, context):
        self.key, self.parent, self.contexts = key, parent, [context]
        self.own, self.children, self.is_pooled = [], {}, False
        self.pair = None

    def callees(self):
        found = set()
        for child in self.children.values():
            found |= {child.key} if child.key[0] == 0 else child.callees()
        return found


class View:
    def __init__(self, cost):
        self.db = cost.db
        self.names = self._function_names()
        nodes = {}
        for context in self.db.contexts:
            parent = nodes[context.parent.index] if context.parent else None
            key = self._key(context) if parent else None
            if parent and key is not None and not (key[0] == 1 and key == parent.key):
                if key not in parent.children:
                    parent.children[key] = Node(key, parent, context)
                else:
                    parent.children[key].contexts.append(context)
                nodes[context.index] = parent.children[key]
            else:
                nodes[context.index] = parent or Node(None, None, context)
            nodes[context.index].own.append(cost.own[context.index])
        self.root = nodes[0]

    def _function_names(self):
        """By context that begins a function. Regions are counted by their order in all of the program."""
        parts, numbers = {}, defaultdict(set)
        for context in self.db.contexts:
            if not context.begins_function():
                continue
            parts[context.index] = self._normal_name(context)
            name, number = parts[context.index]
            if number is not None:
                numbers[name].add(number)
        return {index: name if number is None else name.replace(" {region}", f" [region #{1 + sorted(numbers[name]).index(number)}]")
                for index, (name, number) in parts.items()}

    def _normal_name(self, context):
        db = self.db
        record = None if context.function is None else db.functions[context.function]
        if record is None:
            if context.lexical not in ("entry", "global") and context.module is not None:
                return f"<unknown procedures of {reference.normal_module(db.module_path(context.module))}>", None
            return db.label(context), None
        if not record["name"] and (record["module"] is not None or record["file"] is None):
            return f"<unknown procedures of {reference.normal_module(db.module_path(record['module']))}>", None
        return reference.normal_name(db.function_label(context.function), db.module_path(record["module"]))

    def _key(self, context):
        """(0, name, "", 0) of functions, (1, function, file, line) of loops, None of all else."""
        if context.begins_function():
            return (0, self.names[context.index].encode(), b"", 0)
        if context.lexical != "loop":
            return None
        db, above = self.db, self.db.function_of(context)
        line, name = context.line, ""
        if above.function is not None:
            _, _, _, file, first = db.function_identity(above.function)
            if file is not None and file == context.file and 0 < first <= line:
                line, name = line - first, self.names[above.index]
        file = reference.normal_file(db.file_path(context.file)) if context.file is not None else reference.normal_module(db.module_path(context.module))
        return (1, name.encode(), file.encode(), line)


def _simple(key):
    name, region, rank = key[1].decode().partition(" [region #")
    return reference.simple_name(name) + region + rank


# ---- pairs ----

class Pair:
    def __init__(self, key, nodes):
        self.key, self.nodes, self.children = key, nodes, []
        for side in nodes:
            for node in side:
                node.pair = self
        self.own = [math.fsum(value for node in side for value in node.own) for side in nodes]

    def finish(self):
        for child in self.children:
            child.finish()
        self.inclusive = [math.fsum([self.own[i], *(child.inclusive[i] for child in self.children)]) for i in (0, 1)]
        self.gross = math.fsum([abs(self.own[1] - self.own[0]), *(child.gross for child in self.children)])

    def all(self):
        yield self
        for child in self.children:
            yield from child.all()

    def labels(self, side, db):
        return {db.label(context) for node in self.nodes[side] for context in node.contexts}


class Slot:
    def __init__(self, key):
        self.key, self.nodes, self.paired_in, self.into = key, ([], []), None, None
        self.is_through = self.is_target = False

    def is_left(self):
        return self.into is None and bool(self.nodes[0]) != bool(self.nodes[1])

    def side(self):
        return 0 if self.nodes[0] else 1

    def live(self):
        return self if self.into is None else self.into.live()


class Pool:
    """What lies below one pair."""

    def __init__(self, pair):
        self.slots, self.newest, self.round, self.made = [], {}, 1, []
        self.pooled = []  # (side, node, slot), in the order in which they came
        for side in (0, 1):
            for node in pair.nodes[side]:
                self.put_children(side, node)
        self.align()
        self.waiting = list(self.pooled)
        while self.both_left() or any(slot.live().is_through for _, _, slot in self.waiting):
            if not any(slot.live().is_left() or slot.live().is_through for _, _, slot in self.waiting):
                break
            self.round += 1
            if self.both_left():
                self.choose()
            self.look_through()
            self.align()
        self.make_pairs(pair)

    def both_left(self):
        return {slot.side() for slot in self.slots if slot.is_left()} == {0, 1}

    def put_children(self, side, node):
        if node.is_pooled:
            return []
        node.is_pooled = True
        placed = []
        for child in node.children.values():
            slot = self.newest[child.key].live() if child.key in self.newest else None
            if slot is None or not (slot.is_left() or slot.paired_in == self.round):
                slot = Slot(child.key)
                self.slots.append(slot)
                self.newest[child.key] = slot
            was_left = slot.is_left()
            slot.nodes[side].append(child)
            if was_left and not slot.is_left():
                slot.paired_in = self.round
            placed.append((side, child, slot))
        self.pooled += placed
        return placed

    # -- other keys --

    def join(self, base, new):
        base.nodes[1].extend(new.nodes[1])
        new.nodes[1].clear()
        new.into, base.paired_in = base, self.round

    def align(self):
        if not self.both_left():
            return
        by_name = defaultdict(list)
        for slot in self.slots:
            if slot.into is None and slot.key[0] == 0:
                by_name[_simple(slot.key)].append(slot)
        for slots in by_name.values():
            sides = [[slot for slot in slots if slot.nodes[side]] for side in (0, 1)]
            if len(sides[0]) == 1 and len(sides[1]) == 1 and sides[0] != sides[1] and not any(s[0].is_through for s in sides):
                self.join(sides[0][0], sides[1][0])
        if self.both_left():
            self.align_loops()

    def align_loops(self):
        files = defaultdict(lambda: ([], []))
        for slot in self.slots:
            if slot.is_left() and slot.key[0] == 1 and not slot.is_through:
                nodes = slot.nodes[slot.side()]
                callees = set().union(*(node.callees() for node in nodes))
                files[slot.key[2]][slot.side()].append((nodes[0].contexts[0].line, slot.key, callees, slot))
        for base, new in files.values():
            base.sort(key=lambda loop: loop[:2])
            new.sort(key=lambda loop: loop[:2])
            for i, k in _longest(base, new):
                self.join(base[i][3], new[k][3])

    # -- looking through --

    def choose(self):
        hits = []
        for side, node, slot in self.waiting:
            if self.round > ROUNDS or not slot.live().is_left():
                continue
            for key in node.children:
                target = self.newest.get(key)
                if target and target.is_left() and not target.nodes[side] and not target.is_through:
                    hits.append((target.key, slot.key, target, slot))
        for _, _, target, slot in sorted(hits, key=lambda hit: hit[:2]):
            if not slot.is_target and not target.is_through:
                slot.is_through = target.is_target = True
        for slot in self.slots:
            slot.is_target = False
        if not hits:
            for _, _, slot in self.waiting:
                if slot.live().is_left():
                    slot.live().is_through = True

    def look_through(self):
        stay, come = [], []
        for side, node, slot in self.waiting:
            if slot.live().is_through:
                come += self.put_children(side, node)
            elif slot.live().is_left():
                stay.append((side, node, slot))
        self.waiting = stay + come

    def make_pairs(self, parent):
        for slot in self.slots:
            if slot.into is None and not slot.is_left():
                self.add(parent, Pair(slot.key, slot.nodes))
        alone = {}
        for side, node, slot in self.pooled:
            if not slot.live().is_left():
                continue
            above = node.parent.pair
            if (id(above), slot.key) in alone:
                pair = alone[id(above), slot.key]
                pair.nodes[side].append(node)
                pair.own[side] = math.fsum([pair.own[side], *node.own])
                node.pair = pair
            else:
                pair = alone[id(above), slot.key] = Pair(slot.key, ([node], []) if side == 0 else ([], [node]))
                self.add(above, pair)

    def add(self, above, pair):
        above.children.append(pair)
        self.made.append(pair)


def _longest(base, new):
    """The longest common sequence of loops whose callees overlap by half; of equal ones, that which leaves out first what is first."""
    def alike(i, k):
        a, b = base[i][2], new[k][2]
        return 2 * len(a & b) >= len(a | b)

    lengths = {}
    for i in range(len(base), -1, -1):
        for k in range(len(new), -1, -1):
            if i == len(base) or k == len(new):
                lengths[i, k] = 0
                continue
            lengths[i, k] = max(lengths[i + 1, k], lengths[i, k + 1], lengths[i + 1, k + 1] + 1 if alike(i, k) else 0)
    i = k = 0
    while i < len(base) and k < len(new):
        if alike(i, k) and lengths[i, k] == lengths[i + 1, k + 1] + 1:
            yield i, k
            i, k = i + 1, k + 1
        elif lengths[i + 1, k] != lengths[i, k + 1]:
            i, k = (i + 1, k) if lengths[i + 1, k] > lengths[i, k + 1] else (i, k + 1)
        else:
            i, k = (i + 1, k) if base[i][:2] < new[k][:2] else (i, k + 1)


def compare(base_cost, new_cost):
    """The pair of the roots, with all below it, and the matched shares."""
    views = [View(cost) for cost in (base_cost, new_cost)]
    root = Pair(None, ([views[0].root], [views[1].root]))
    work = [root]
    while work:
        work += Pool(work.pop()).made
    root.finish()
    shares = []
    for side in (0, 1):
        whole = math.fsum(abs(pair.own[side]) for pair in root.all())
        both = math.fsum(abs(pair.own[side]) for pair in root.all() if pair.nodes[0] and pair.nodes[1])
        shares.append(both / whole if whole else 1.0)
    return root, shares
