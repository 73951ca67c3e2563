// The wording of two texts compared: how alike they are, whatever numbers and paths stand in them.
import { similarity } from '../text/similarity.ts';

const ratioMin = 0.9; // seed 001, part 2.5
/** Below this, one changed word is a tenth of the text: only equality counts. */
const comparableCharsMin = 20;
const normalisedCharsMax = 1_000;
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

/** How alike two normalised texts are, or 0 when that is less than `least`; an empty text is like nothing. */
export function likeness(a: string, b: string, least = ratioMin): number {
  if (a === '' || b === '') return 0;
  if (Math.min(a.length, b.length) < comparableCharsMin) return a === b ? 1 : 0;
  return similarity(a, b, least);
}
