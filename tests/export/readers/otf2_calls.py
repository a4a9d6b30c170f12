#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
usage: /usr/bin/python3 otf2_calls.py ARCHIVE.otf2

What OTF2's own reader (package python3-otf2) finds in an archive, as JSON: of each location its calls [begin, time, depth, name] and
the attributes [name, value] of its events, in order.
"""

import json
import sys

import otf2
from otf2.events import Enter, Leave

locations = {}
with otf2.reader.open(sys.argv[1]) as trace:
    for location in trace.definitions.locations:
        locations[location] = {"name": location.name, "group": location.group.name, "type": str(location.type).rsplit(".", 1)[-1], "calls": [], "attributes": [],
                               "stack": [], "metrics": 0, "declared": location.number_of_events, "events": 0}
    for location, event in trace.events:
        row = locations[location]
        row["events"] += 1
        row["attributes"] += [[attribute.name, value] for attribute, value in (event.attributes or {}).items()]
        if isinstance(event, Enter):
            row["stack"].append((event.time, event.region.name))
        elif isinstance(event, Leave):
            begin, name = row["stack"].pop()
            if name != event.region.name:
                sys.exit(f"leaves {event.region.name}, in {name}")
            row["calls"].append([begin, event.time - begin, len(row["stack"]), name])
        else:
            row["metrics"] += 1
    regions = [[r.name, r.canonical_name, r.source_file, r.begin_line_number, str(r.paradigm).rsplit(".", 1)[-1]] for r in trace.definitions.regions]
    nodes = [n.name for n in trace.definitions.system_tree_nodes]
if any(row.pop("stack") for row in locations.values()):
    sys.exit("a call never ends")
print(json.dumps({"locations": list(locations.values()), "regions": regions, "nodes": nodes}))
