// SPDX-License-Identifier: BSD-3-Clause
// Counts primes, the slow way. For doc/recording.md.
function isPrime(n) {
  for (let i = 2; i * i <= n; i++) if (n % i === 0) return false;
  return n > 1;
}

function countPrimes(limit) {
  let count = 0;
  for (let n = 0; n < limit; n++) if (isPrime(n)) count++;
  return count;
}

console.log(`${countPrimes(1500000)} primes`);
