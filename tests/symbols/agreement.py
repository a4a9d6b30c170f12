#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What lode-symbols finds of all code of a binary, as an answer for compare_structure.py of the oracles: functions, loops, blocks, lines. Loops of equal
content under several inlined calls are those of one address in one function.
"""

import helper


def answer(program, binary, debug=None):
    """(the answer, the reply)"""
    status, data = helper.run(program, binary, [], debug=debug, mode=("beside" if debug else "inside") + ",all")
    assert status == 0, f"{binary}: status {status:#x}"
    reply = helper.Reply(data, [])
    functions, lines = {}, []
    for start, end, scope in reply.ranges:
        chain = reply.chain_of(scope)
        function = functions.setdefault(chain[0][4], {"start": chain[0][4], "name": chain[0][1] or "", "loops": [], "blocks": [], "known": {}})
        parent = -1
        for kind, _, file, line, address in chain:
            if kind == helper.LOOP:
                key = (parent, address)
                if key not in function["known"]:
                    function["known"][key] = len(function["loops"])
                    function["loops"].append({"header": address, "parent": parent, "file": file or "", "line": line})
                parent = function["known"][key]
        function["blocks"].append([start, end, parent])
        if chain[-1][0] == helper.LINE:
            lines.append([start, end, chain[-1][2] or "", chain[-1][3], sum(one[0] == helper.INLINED for one in chain)])
    for function in functions.values():
        del function["known"]
    return {"functions": list(functions.values()), "lines": lines}, reply
