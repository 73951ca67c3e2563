// What redaction leaks and what innocent text it alters: values of known families in the places in which people meet them.
import { makeRedactor } from '../../src/secrets/redactor.ts';
import { type Detector, type Figure, share } from './figure.ts';

export interface SecretFamily {
  readonly id: string;
  readonly family: string;
  /** Literal characters and `[classes]{n}`. */
  readonly template: string;
  readonly named: string;
  readonly natural: string;
  /** False: nobody can tell the value from others without its name. */
  readonly alone?: boolean;
}

export interface InnocentText {
  readonly id: string;
  readonly text: string;
}

const valuesPerFamily = 3;
/** What of a value may stay: less gives nothing away. */
const leakedCharsMin = 8;

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const seedOf = (text: string): number => [...text].reduce((sum, one) => Math.imul(sum, 31) + one.charCodeAt(0), 17);

function lettersOf(inside: string): string {
  const spread = inside.replace(/\\(.)|(.)-(.)/g, (_all, escaped: string, from: string, to: string) => {
    if (escaped !== undefined) return escaped;
    const first = from.charCodeAt(0);
    return Array.from({ length: to.charCodeAt(0) - first + 1 }, (_, at) => String.fromCharCode(first + at)).join('');
  });
  return spread;
}

/** A part of a template: what it says, and whether a class made it. */
interface Part {
  readonly text: string;
  readonly isMade: boolean;
}

function partsOf(template: string, next: () => number): readonly Part[] {
  const pieces = template.matchAll(/\[((?:\\.|[^\]])+)\](?:\{(\d+)\})?|\\(.)|([^[\\]+)/gs);
  return [...pieces].map(([, inside, count, escaped, literal]) => {
    if (inside === undefined) return { text: escaped ?? literal ?? '', isMade: false };
    const letters = lettersOf(inside);
    const one = (): string => letters[Math.floor(next() * letters.length)] ?? '';
    return { text: Array.from({ length: Number(count ?? 1) }, one).join(''), isMade: true };
  });
}

interface Value {
  readonly value: string;
  /** What everybody knows of it: all before the first class. */
  readonly prefix: string;
  /** Where a class made the character; all others, such as the host of an address, are as public as the prefix. */
  readonly isMade: readonly boolean[];
}

/** The values of a family; the same at each call. */
export function generate(family: SecretFamily): readonly Value[] {
  const next = numbers(seedOf(family.family));
  return Array.from({ length: valuesPerFamily }, () => {
    const parts = partsOf(family.template, next);
    const made = parts.findIndex(part => part.isMade);
    const text = (some: readonly Part[]): string => some.map(part => part.text).join('');
    const isMade = parts.flatMap(part => Array.from(part.text, () => part.isMade));
    return { value: text(parts), prefix: text(parts.slice(0, Math.max(made, 0))), isMade };
  });
}

/** Whether the text still has the value whole, or a telling run of what stands behind its public prefix. */
function leaks(text: string, { value, prefix, isMade }: Value): boolean {
  if (text.includes(value)) return true;
  for (let at = prefix.length; at + leakedCharsMin <= value.length; at += 1) {
    const isTelling = isMade.slice(at, at + leakedCharsMin).includes(true);
    if (isTelling && text.includes(value.slice(at, at + leakedCharsMin))) return true;
  }
  return false;
}

const redact = makeRedactor([]);

/** A family leaks when one of its values does. */
const leakedIn =
  (place: (family: SecretFamily) => string) =>
  (family: SecretFamily): boolean =>
    generate(family).some(one => leaks(redact(place(family).replace('%s', () => one.value)), one));

export function measureSecrets(families: readonly SecretFamily[], innocent: readonly InnocentText[]): Figure[] {
  const known = families.filter(family => family.alone !== false);
  return [
    share(
      'leaked alone',
      known,
      { atMost: 0.03 },
      leakedIn(() => '%s'),
    ),
    share(
      'leaked behind its name',
      families,
      { atMost: 0.01 },
      leakedIn(family => family.named),
    ),
    share(
      'leaked in its natural place',
      families,
      { atMost: 0.04 },
      leakedIn(family => family.natural),
    ),
    share('innocent text altered', innocent, { atMost: 0.005 }, ({ text }) => redact(text) !== text),
  ];
}

export const secrets: Detector = {
  name: 'secrets',
  measure: rows => measureSecrets(rows<SecretFamily>('secrets.jsonl'), rows<InnocentText>('innocent.jsonl')),
};
