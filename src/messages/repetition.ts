// Notices that a loop goes round in circles: the same error, two outputs in turn, or one output again and again.
import { similarity } from '../text/similarity.ts';

const windowIterations = 5; // seed 001, part 2.5
const ratioMin = 0.9; // seed 001, part 2.5
/** Below this, one changed word is a tenth of the text: only equality counts. */
const comparableCharsMin = 20;
const normalisedCharsMax = 1_000;
const fingerprintCharsMax = 200;
/** More than this from either end cannot reach the result. */
const readCharsMax = 16_384;

const ansi = /\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_])/g;
const piece = /[^\s"'`()[\]{}<>,;=|]+/g;
const uuidOrHex = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?:0x)?[0-9a-f]{7,}\b/g;
const monthsAndDays =
  /(?:\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)\b[.,]{0,2} ?)+(?=#)/g;
/** Numbers in a row with their units: a date, a time, a duration, a list. */
const numbers =
  /#(?:[ .,:+-]{0,3}(?:#|(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|am|pm|t|z|utc|gmt)\b))*/g;

const joinNumbers = (text: string): string => text.replace(monthsAndDays, '#').replace(numbers, '#').trim();

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = charsMax >> 1;
  const head = text.slice(0, half).trimEnd();
  const tail = text.slice(text.length - half + 1).trimStart();
  return `${head} ${tail}`.toWellFormed();
}

/** The text without what differs from run to run: colours, times, numbers, ids, paths, case and spacing. */
export function normalise(text: string): string {
  const plain = cut(text, readCharsMax)
    .replace(ansi, '')
    .replace(piece, word => (word.includes('/') || word.includes('\\') ? '~' : word))
    .toLowerCase()
    .replace(uuidOrHex, id => (/[0-9]/.test(id) ? '#' : id))
    .replace(/\p{Nd}+(?:[.,:_-]\p{Nd}+)*/gu, '#')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  // Once more after the cut: it can bring a number and a unit together.
  return joinNumbers(cut(joinNumbers(plain), normalisedCharsMax));
}

/** Its last paragraph begins like an error of a program: such words end no work, whatever the exit code is. */
export function endsInError(text: string): boolean {
  const last =
    text
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? '';
  return /^(?:\S+: )?(?:(?:api|fatal|internal|type|reference|syntax|runtime) ?)?(?:error|exception|fatal|panic|traceback)\b/i.test(
    last.trim(),
  );
}

/** What makes two errors the same error. */
export function fingerprint(errorText: string): string {
  return joinNumbers(normalise(errorText).slice(0, fingerprintCharsMax).toWellFormed());
}

/** How alike two normalised texts are, or 0 when that is less than `least`; an empty text is like nothing. */
export function likeness(a: string, b: string, least = ratioMin): number {
  if (a === '' || b === '') return 0;
  if (Math.min(a.length, b.length) < comparableCharsMin) return a === b ? 1 : 0;
  return similarity(a, b, least);
}

/** Newest last in `recentOutputs` and `errors`; neither holds the iteration that is being judged. */
export interface Repetition {
  readonly kind: 'similar' | 'oscillation' | 'same-error';
  readonly detail: string;
}

export interface RepetitionQuestion {
  /** The normalised output of the iteration that just ended. */
  readonly output: string;
  readonly recentOutputs: readonly string[];
  readonly error?: string | undefined;
  /** The errors of the iterations directly before, in a row. */
  readonly errors: readonly string[];
  /** So many equal errors in a row are a repetition; null turns this rule off. */
  readonly sameErrorMax: number | null;
}

function findSameError({ error, errors, sameErrorMax }: RepetitionQuestion): Repetition | undefined {
  if (error === undefined || sameErrorMax === null) return undefined;
  const print = fingerprint(error);
  if (print === '') return undefined;
  let count = 1;
  while (count <= errors.length && fingerprint(errors[errors.length - count] ?? '') === print) count += 1;
  if (count < sameErrorMax) return undefined;
  return { kind: 'same-error', detail: `the same error ${count} times in a row: ${print}` };
}

function findOscillation({ output, recentOutputs }: RepetitionQuestion): Repetition | undefined {
  const [a1 = '', b1 = '', a2 = ''] = recentOutputs.slice(-3);
  const returns = likeness(output, b1);
  const alternates = likeness(a2, a1);
  if (returns === 0 || alternates === 0 || likeness(output, a2) > 0) return undefined;
  return { kind: 'oscillation', detail: 'the last four iterations go back and forth between the same two answers' };
}

function findSimilar({ output, recentOutputs }: RepetitionQuestion): Repetition | undefined {
  const recent = recentOutputs.slice(-windowIterations).reverse();
  for (const [index, earlier] of recent.entries()) {
    const ratio = likeness(output, earlier);
    if (ratio === 0) continue;
    const ago = index === 0 ? 'in the iteration before' : `${index + 1} iterations before`;
    return { kind: 'similar', detail: `it said ${ratio === 1 ? '' : 'almost '}the same as ${ago}` };
  }
  return undefined;
}

/** The first rule that holds, in this order: same error, oscillation, similar. */
export function findRepetition(question: RepetitionQuestion): Repetition | undefined {
  return findSameError(question) ?? findOscillation(question) ?? findSimilar(question);
}
