// SPDX-License-Identifier: BSD-3-Clause
// Numbers and names as text, as the program prints them (src/cli/text/number.c).

export type Unit = 'count' | 'seconds' | 'nanoseconds' | 'bytes';

/** The unit that the name of a metric states, such as "CPUTIME (sec)": unit_of_metric of the program. */
export function unitOf(metric: string): Unit {
  if (metric.includes('(sec)') || metric.includes('(s)')) return 'seconds';
  // The clocks of Linux perf count nanoseconds.
  if (metric.includes('(nanoseconds)') || metric === 'perf::cpu-clock' || metric === 'perf::task-clock') return 'nanoseconds';
  if (metric.includes('(B)') || metric.includes('(bytes)')) return 'bytes';
  return 'count';
}

/** printf's %.Nf: toFixed, but half-way between two it takes the even one. Only multiples of 2^-(N+1) are half-way. */
export function fixed(value: number, decimals: number): string {
  const size = Math.abs(value);
  const halves = size * 2 ** (decimals + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0 || size >= 2 ** 40) return value.toFixed(decimals);
  const below = Math.floor(size * 10 ** decimals);
  return `${value < 0 ? '-' : ''}${((below % 2 === 0 ? below : below + 1) / 10 ** decimals).toFixed(decimals)}`;
}

function scaled(value: number, scales: readonly (readonly [number, string])[], decimals: number): string {
  const size = Math.abs(value);
  const fitting = scales.find(([scale]) => size >= scale) ?? scales[scales.length - 1];
  return fitting ? `${fixed(value / fitting[0], decimals)} ${fitting[1]}` : String(value);
}

/** printf's %.6g. */
function general(value: number): string {
  if (value === 0) return '0';
  const exponent = Number(value.toExponential(5).split('e')[1]);
  if (exponent < -4 || exponent >= 6) {
    const [digits = '', power = '0'] = value.toExponential(5).split('e');
    const short = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
    const size = Math.abs(Number(power));
    return `${short}e${Number(power) < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${String(size)}`;
  }
  const fixed = value.toFixed(5 - exponent);
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}

/** Whole numbers with grouped digits. */
export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

function events(value: number): string {
  const size = Math.abs(value);
  if (size >= 2 ** 53 || (size < 1e4 && size !== Math.floor(size))) return general(value);
  return (value < 0 ? '-' : '') + count(size);
}

const SECONDS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns']] as const;
const NANOSECONDS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']] as const;
const BYTES = [[2 ** 50, 'PiB'], [2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']] as const;

export function amount(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return '';
  if (!Number.isFinite(value)) return String(value);
  switch (unit) {
    case 'seconds':
      return Math.abs(value) < 0.5e-12 ? '0 s' : scaled(value, SECONDS, 3);
    case 'nanoseconds':
      return value === 0 ? '0 s' : scaled(value, NANOSECONDS, 3);
    case 'bytes':
      return Math.abs(value) < 1024 ? `${general(value)} B` : scaled(value, BYTES, 1);
    case 'count':
      return events(value);
  }
}

/** A share in percent with one decimal; the sign of percent is in the heading. */
export function percent(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '-' : fixed(value, 1);
}

/** How much larger the new value is: "+3.1%", "x12", "new", "gone" (format_ratio of the program). */
export function ratio(value: number | null, base: number): string {
  if (value === null) return base === 0 ? 'new' : '-';
  if (value > 1e6 || value <= 0) return value <= 0 ? 'gone' : 'new';
  if (value >= 10) return `x${fixed(value, value < 100 ? 1 : 0)}`;
  const text = fixed((value - 1) * 100, 1);
  return `${text.startsWith('-') ? '' : '+'}${text}%`;
}

// Controls, line separators, marks and overrides of direction, invisible characters: shown as escapes.
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LONGEST = 4096;

/** A name from a file as it may be shown: unsafe characters escaped, very long names cut in the middle. */
export function clean(name: string | null | undefined): string {
  if (name === null || name === undefined) return '';
  const half = LONGEST / 2;
  const short = name.length > LONGEST ? `${name.slice(0, half)} … ${name.slice(-half)}` : name;
  return short.replace(UNSAFE, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The last component of a path. */
export function baseName(path: string | null | undefined): string {
  if (!path) return '';
  const parts = path.split('/').filter((part) => part !== '');
  return clean(parts[parts.length - 1] ?? path);
}

/** A word for a POSIX shell. */
export function shellWord(word: string): string {
  if (word !== '' && /^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(word)) {
    const escaped = word.replace(/[\\']/g, '\\$&').replace(/[\u0000-\u001f\u007f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
    return `$'${escaped}'`;
  }
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The end of a long dotted name, which says more than its beginning: "…CoyoteAdapter.service". */
export function tail(name: string): string {
  const text = clean(name);
  if (text.length <= 30 || !/^[\w$]+(\.[\w$<>]+){2,}$/.test(text)) return text;
  return `…${text.split('.').slice(-2).join('.')}`;
}
