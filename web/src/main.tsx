// SPDX-License-Identifier: BSD-3-Clause
import { render } from 'preact';

const root = document.getElementById('app');
if (root) render(<main>Lode</main>, root);
