// SPDX-License-Identifier: BSD-3-Clause
// Perfetto is 13 MB of WebAssembly: to optimize it takes longer than to read a small file.
require('node:v8').setFlagsFromString('--liftoff-only');
