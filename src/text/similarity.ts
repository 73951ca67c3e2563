// Similarity of two texts by their longest common subsequence (bit-parallel, Hyyrö 2004) and by letters changed, and the nearest word.

/** Thirty bits keep every sum below 2^31, so that the whole computation stays in small integers. */
const wordBits = 30;
const wordMask = 0x3fffffff;

function codesOf(text: string, from: number, to: number): Uint16Array {
  const codes = new Uint16Array(to - from);
  for (let i = from; i < to; i += 1) codes[i - from] = text.charCodeAt(i);
  return codes;
}

function zerosIn(word: number, bits: number): number {
  let ones = 0;
  for (let rest = word & (bits === wordBits ? wordMask : (1 << bits) - 1); rest !== 0; rest &= rest - 1) ones += 1;
  return bits - ones;
}

/**
 * One block of thirty characters of `a` at a time goes over all of `b`; what a block carries into the next is kept per
 * character of `b`. So the memory is O(b), whatever the alphabet. Stops when `needed` cannot be reached any more.
 */
function commonLength(a: Uint16Array, b: Uint16Array, needed: number): number {
  const matches = new Int32Array(65_536);
  const carries = new Uint8Array(b.length);
  let common = 0;
  for (let from = 0; from < a.length; from += wordBits) {
    const bits = Math.min(wordBits, a.length - from);
    if (common + (a.length - from) < needed) return -1;
    for (let i = 0; i < bits; i += 1) {
      const code = a[from + i] as number;
      matches[code] = (matches[code] as number) | (1 << i);
    }
    let open = wordMask;
    for (let j = 0; j < b.length; j += 1) {
      const match = matches[b[j] as number] as number;
      const sum = open + (open & match) + (carries[j] as number);
      carries[j] = sum >>> wordBits;
      open = (sum & wordMask) | (open & ~match);
    }
    for (let i = 0; i < bits; i += 1) matches[a[from + i] as number] = 0;
    common += zerosIn(open, bits);
  }
  return common;
}

/**
 * The indel ratio 2·LCS / (|a| + |b|): 1 for equal texts (also two empty ones), 0 for nothing in common.
 * With `cutoff`, a ratio below it is returned as 0, and mostly found without the full computation.
 */
export function similarity(a: string, b: string, cutoff = 0): number {
  if (a === b) return 1;
  const total = a.length + b.length;
  const needed = Math.ceil((cutoff * total) / 2 - 1e-9);
  if (Math.min(a.length, b.length) < needed) return 0;
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a.charCodeAt(head) === b.charCodeAt(head)) head += 1;
  let tail = 0;
  while (tail < shorter - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail += 1;
  const first = codesOf(a, head, a.length - tail);
  const second = codesOf(b, head, b.length - tail);
  const [inner, outer] = first.length <= second.length ? [first, second] : [second, first];
  const common = commonLength(inner, outer, needed - head - tail);
  if (common < 0) return 0;
  const ratio = (2 * (head + tail + common)) / total;
  return ratio < cutoff ? 0 : ratio;
}

/** How many letters must be changed, added, left out or swapped with the next (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= from.length; i++) {
    const above = rows[i - 1]!;
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(Math.min(changed, above[j]! + 1, row[j - 1]! + 1, isSwapped ? rows[i - 2]![j - 2]! + 1 : changed));
    }
    rows.push(row);
  }
  return rows[from.length]![to.length]!;
}

/** Case, blanks and signs do not matter to what a name means. */
export const bareName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const wordCharactersMax = 64;

function plain(word: string): string {
  return word
    .slice(0, wordCharactersMax)
    .toLowerCase()
    .replace(/[-_\s]/g, '');
}

/** The closest candidate, when it is close enough to be a slip: two edits, or a third of a longer word. */
export function nearest(
  word: string,
  candidates: readonly string[],
  editsMax = Math.max(2, Math.floor(plain(word).length / 3)),
): string | undefined {
  const meant = plain(word);
  const ranked = candidates
    .map(candidate => ({ candidate, edits: editDistance(meant, plain(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= editsMax && best.edits < meant.length ? best.candidate : undefined;
}
