// SPDX-License-Identifier: BSD-3-Clause
import { render } from 'preact';
import { startSession, takeToken } from './api';
import { FlameFile } from './flame_file';
import { Frame } from './frame';
import { startKeys } from './keys';
import { boxesInside } from './report';
import { startState } from './state';
import { startTheme } from './theme';

takeToken();
startTheme();
startState();
startKeys();
if (boxesInside === null) void startSession();
const root = document.getElementById('app');
if (root) render(boxesInside === null ? <Frame /> : <FlameFile />, root);
