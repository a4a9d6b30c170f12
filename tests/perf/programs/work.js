// SPDX-License-Identifier: BSD-3-Clause
// Works in two functions, until they are compiled and for a while after that.
function innerWork(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += (i * i) % 7;
  return sum;
}

function outerWork(count) {
  let sum = 0;
  for (let i = 0; i < 100; i++) sum += innerWork(count);
  return sum;
}

let sum = 0;
for (let i = 0; i < 60; i++) sum += outerWork(20000);
process.exitCode = sum > 0 ? 0 : 1;
