// SPDX-License-Identifier: BSD-3-Clause
import { render } from 'preact';
import { startSession, takeToken } from './api';
import { Frame } from './frame';
import { startKeys } from './keys';
import { startState } from './state';
import { startTheme } from './theme';

takeToken();
startTheme();
startState();
startKeys();
void startSession();
const root = document.getElementById('app');
if (root) render(<Frame />, root);
