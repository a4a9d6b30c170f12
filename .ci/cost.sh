#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test program, and adds a line to the file LODE_CI_COSTS: user and system seconds of its processes, and the command.
#   cost.sh COMMAND...
TIMEFORMAT='%U %S'
status=0
{ time "$@" 2>&3 3>&-; } 3>&2 2>"$LODE_CI_COSTS.$$" || status=$?
echo "$(tail -n 1 "$LODE_CI_COSTS.$$") $*" >>"$LODE_CI_COSTS"
rm -f "$LODE_CI_COSTS.$$"
exit $status
