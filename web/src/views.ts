// SPDX-License-Identifier: BSD-3-Clause
// All views, in the order of their tabs.
import type { View } from './view';
import { compare } from './views/compare';
import { findings } from './views/findings';
import { flame } from './views/flame';
import { functions } from './views/functions';
import { overview } from './views/overview';
import { profiles } from './views/profiles';
import { report } from './views/report';
import { requests } from './views/requests';
import { sql } from './views/sql';
import { time } from './views/time';
import { tree } from './views/tree';

export const VIEWS: readonly View[] = [report, overview, functions, tree, flame, time, profiles, requests, compare, findings, sql];

export function viewOf(key: string): View {
  return VIEWS.find((view) => view.key === key) ?? overview;
}
