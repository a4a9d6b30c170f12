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

/** Digits with a point before the last ones. */
function pointed(digits: bigint, decimals: number): string {
  const text = digits.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

/** printf's %.Nf: toFixed, but half-way between two it takes the even one. Only odd multiples of 2^-(N+1) are half-way. */
export function fixed(value: number, decimals: number): string {
  const size = Math.abs(value);
  const halves = size * 2 ** (decimals + 1);
  const sign = value < 0 ? '-' : '';
  if (size >= 1e21 && Number.isFinite(size)) return sign + pointed(BigInt(size) * 10n ** BigInt(decimals), decimals);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(decimals);
  const below = (BigInt(halves) * 5n ** BigInt(decimals) - 1n) / 2n;
  return sign + pointed(below + (below % 2n), decimals);
}

function scaled(value: number, scales: readonly (readonly [number, string])[], decimals: number): string {
  const size = Math.abs(value);
  const fitting = scales.find(([scale]) => size >= scale) ?? scales[scales.length - 1];
  return fitting ? `${fixed(value / fitting[0], decimals)} ${fitting[1]}` : String(value);
}

/** The six digits of a whole number and its power of ten, half-way to even. */
function sixDigits(value: number): [digits: string, power: number] {
  const whole = BigInt(value);
  const power = whole.toString().length - 1;
  const step = 10n ** BigInt(power - 5);
  const [below, twice] = [whole / step, 2n * (whole % step)];
  const digits = (below + (twice > step || (twice === step && below % 2n === 1n) ? 1n : 0n)).toString();
  return [`${digits.slice(0, 1)}.${digits.slice(1, 6)}`, power + digits.length - 6];
}

/** printf's %.6g. Below 0.0001, no double is half-way between two. */
export function general(value: number): string {
  if (value === 0) return '0';
  const [some = '', about = '0'] = value.toExponential(5).split('e');
  if (Number(about) >= -4 && Number(about) < 6) {
    const text = fixed(value, 5 - Number(about));
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }
  const isWhole = Math.abs(value) >= 2 ** 53;
  const [digits, power] = isWhole ? sixDigits(Math.abs(value)) : [some, Number(about)];
  const size = Math.abs(power);
  return `${isWhole && value < 0 ? '-' : ''}${digits.replace(/\.?0+$/, '')}e${power < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${String(size)}`;
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

const LONG = [[864e11, 'd'], [36e11, 'h'], [6e10, 'min'], [1e9, 's']] as const;
const SHORT = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']] as const;

/** As many decimals as steps of this size need, and no zeros at the end. */
function short(value: number, step: number): string {
  const text = value.toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-9))));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/**
 * A mark of an axis whose marks are `step` apart, in nanoseconds: no more digits than it needs ("50 ms", "1.5 s"), and minutes, hours and
 * days of what is longer ("1 h 30 min").
 */
export function mark(nanoseconds: number, step = nanoseconds): string {
  const size = Math.abs(nanoseconds);
  const sign = nanoseconds < 0 ? '-' : '';
  if (size === 0) return '0 s';
  if (size < 6e10) {
    const [scale, name] = SHORT.find(([least]) => size >= least) ?? [1, 'ns'];
    return `${sign}${short(size / scale, Math.abs(step) / scale)} ${name}`;
  }
  let rest = size;
  const parts: string[] = [];
  for (const [scale, name] of LONG) {
    const whole = name === 's' ? rest / scale : Math.floor(rest / scale + 1e-9);
    rest -= whole * scale;
    const text = name === 's' ? short(whole, Math.abs(step) / scale) : String(whole);
    if (text !== '0') parts.push(`${text} ${name}`);
  }
  return sign + parts.join(' ');
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
