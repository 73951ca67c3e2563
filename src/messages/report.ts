// Reads the report block of a final message: the agent's own account, held to a schema and to bounds, its faults named.

import { stripControls, takeCharacters } from '../text/text.ts';
import { parseObject, type RawBlock } from './blocks.ts';

export type Phase = 'planning' | 'implementing' | 'testing' | 'reviewing' | 'handoff' | 'complete';

/** What an agent says about its own work, written by the agent and bounded by us. */
export interface Report {
  readonly phase?: Phase;
  readonly completed: readonly string[];
  readonly pending: readonly string[];
  readonly blocked: readonly { readonly item: string; readonly reason: string }[];
  readonly decisions: readonly string[];
  readonly assumptions?: readonly string[];
  readonly constraints?: readonly string[];
  /** What stood in its way, for whoever comes next; a task that cannot go on is `blocked`. */
  readonly obstacles?: readonly { readonly message: string; readonly resolved?: true }[];
  /** What to do next. */
  readonly next?: string;
}

/** `resolved` closes the one with these words, or this id. */
export type NotedObstacle = NonNullable<Report['obstacles']>[number];

/** What a final message says by report blocks. */
export interface ReportReading {
  readonly report?: Report;
  /** What of the report was not taken, and why: for the next prompt. */
  readonly reportRefused?: string;
  /** The last report block could not be read at all. */
  readonly isReportUnread?: true;
}

const blockCharsMax = 65_536;
const itemsMax = 50;
const itemCharsMax = 300;
const nextCharsMax = 500;
const reportCharsMax = 16_384;

const count = (amount: number): string => String(amount).replace(/\B(?=(\d{3})+$)/g, ',');

/** The block that begins at `at`, or why there is none. */
export function takeReport(text: string, at: number, nextClose: (from: number) => number): RawBlock | string {
  const tag = '<report>';
  const start = at + tag.length;
  const close = nextClose(start);
  if (close === Number.POSITIVE_INFINITY) return 'it is not closed by </report>';
  if (close - start > blockCharsMax) return `it is longer than ${count(blockCharsMax)} characters`;
  return { tag, body: text.slice(start, close), end: close };
}

/** The form of a prompt, said again. */
export const isReportEcho = ({ body }: RawBlock): boolean => body.includes('"planning | implementing');

/** In the order of the work (seed 000). */
export const phases: readonly Phase[] = ['planning', 'implementing', 'testing', 'reviewing', 'handoff', 'complete'];

/** A text, the one beside it, and what else the object held. */
type Entry = readonly [string, string, Readonly<Record<string, unknown>>];

/** What is left to do is not lost by being written in the wrong shape. */
const stillOpen: readonly string[] = ['pending', 'blocked'];

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isNone = !value || (typeof value === 'object' && Object.keys(value).length === 0);
  if (isNone) return undefined;
  const { item } = value as { item?: unknown };
  return typeof item === 'string' ? item : JSON.stringify(value);
}

/** How agents write that a list is empty. */
const isNothing = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:none|nothing|n\/a|-|\.{3}|\u2026)?\.?$/i.test(value.trim());

const isText = (value: unknown): value is string => typeof value === 'string';

/** Takes values out of one block: what does not fit the schema or the bounds is left out and remembered. */
class Fields {
  readonly problems: string[] = [];
  private readonly value: Readonly<Record<string, unknown>>;
  private charsLeft = reportCharsMax;
  private isCut = false;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.value = value;
  }

  private bounded(text: string, charsMax: number): string {
    const clean = stripControls(text).trim();
    const fitting = takeCharacters(clean, Math.min(charsMax, this.charsLeft));
    if (fitting.length < clean.length) this.isCut = true;
    this.charsLeft -= fitting.length;
    return fitting;
  }

  phase(): Phase | undefined {
    const given = this.value['phase'] ?? undefined;
    const name = typeof given === 'string' ? given.trim().toLowerCase() : '';
    const phase = phases.find(known => known === (name === 'done' ? 'complete' : name));
    if (given !== undefined && phase === undefined) this.problems.push(`"phase" must be one of ${phases.join(', ')}`);
    return phase;
  }

  text(key: string, charsMax: number): string {
    const given = this.value[key] ?? '';
    if (typeof given === 'string') return this.bounded(given, charsMax);
    this.problems.push(`"${key}" must be a text`);
    return '';
  }

  /** Entries are texts, or objects that hold their text under `name` and perhaps another under `also`. */
  private entries(key: string, name?: string, also?: string): readonly Entry[] {
    const shape = name === undefined ? 'texts' : `{${[name, ...(also === undefined ? [] : [also])].join(', ')}}`;
    const isOpen = stillOpen.includes(key);
    const value = isNothing(this.value[key]) ? [] : (this.value[key] ?? []);
    const isList = Array.isArray(value);
    const given: readonly unknown[] = isList ? value : isOpen ? [value] : [];
    if (given.length > itemsMax) this.isCut = true;
    const read = given.slice(0, itemsMax).map(entry => {
      const isObject = name !== undefined && typeof entry === 'object' && entry !== null;
      const record = isObject ? (entry as Record<string, unknown>) : {};
      const said = isObject ? record[name] : entry;
      const more = also === undefined ? '' : (record[also] ?? '');
      return { record, text: isOpen ? asText(said ?? entry) : said, more, isRight: isText(said) && isText(more) };
    });
    const wrong = read.filter(one => !one.isRight).length;
    if (!isList) this.problems.push(`"${key}" must be a list of ${shape}`);
    else if (wrong > 0)
      this.problems.push(`"${key}" must be a list of ${shape}, and ${count(wrong)} of its entries are not`);
    return read.flatMap(({ record, text, more }): readonly Entry[] => {
      const item = isText(text) ? this.bounded(text, itemCharsMax) : '';
      return isNothing(item) ? [] : [[item, isText(more) ? this.bounded(more, itemCharsMax) : '', record]];
    });
  }

  texts(key: string): readonly string[] {
    return this.entries(key).map(([text]) => text);
  }

  obstacles(): NonNullable<Report['obstacles']> {
    return this.entries('obstacles', 'message').map(([message, , { resolved }]) =>
      resolved === true ? { message, resolved } : { message },
    );
  }

  reasoned(key: string): Report['blocked'] {
    return this.entries(key, 'item', 'reason').map(([item, reason]) => ({ item, reason }));
  }

  faults(): readonly string[] {
    if (!this.isCut) return this.problems;
    const bounds = `${itemsMax} entries per list, ${itemCharsMax} characters per entry, ${count(reportCharsMax)} in all`;
    return [...this.problems, `it was cut to ${bounds}`];
  }
}

const lineKeys: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['phase', 'completed', 'pending', 'blocked', 'decisions', 'next'].map(key => [key, key])),
  remaining: 'pending',
};

/** `key: one, other` on each line, where an object was asked for; any other line, and it is none. */
function fromLines(body: string): Readonly<Record<string, unknown>> | undefined {
  const lines = body.split(/\r\n|\r|\n/).filter(line => line.trim() !== '');
  const pairs = lines.map(line => /^\s*([a-z]+): *(.*)$/i.exec(line) ?? []);
  if (lines.length === 0 || pairs.some(([, key = '']) => lineKeys[key.toLowerCase()] === undefined)) return undefined;
  return Object.fromEntries(
    pairs.map(([, key = '', said = '']) => {
      const name = lineKeys[key.toLowerCase()]!;
      return [name, name === 'phase' || name === 'next' ? said : said.split(/, */)];
    }),
  );
}

/** What has the wrong shape inside is dropped; keys that we do not know are ignored. */
function readReport(body: string): { readonly report?: Report; readonly faults: readonly string[] } {
  const value = parseObject(body, '<report>') ?? fromLines(body);
  return value === undefined ? { faults: ['there is no JSON object between its tags'] } : reportIn(value);
}

export function reportIn(value: Readonly<Record<string, unknown>>): {
  readonly report: Report;
  readonly faults: readonly string[];
} {
  const fields = new Fields(value);
  const phase = fields.phase();
  const next = fields.text('next', nextCharsMax);
  // What is open comes first: no bound may make it look as if nothing were.
  const open = { pending: fields.texts('pending'), blocked: fields.reasoned('blocked') };
  const told = { completed: fields.texts('completed'), ...open, decisions: fields.texts('decisions') };
  const some = <Item>(items: readonly Item[]): readonly Item[] | undefined => (items.length === 0 ? undefined : items);
  const report: Report = {
    phase,
    ...told,
    assumptions: some(fields.texts('assumptions')),
    constraints: some(fields.texts('constraints')),
    obstacles: some(fields.obstacles()),
    next: next || undefined,
  };
  return { report, faults: fields.faults() };
}

/** The last block that can be read, and in one sentence what of the report was not taken. */
export function lastReport(bodies: readonly string[], notTaken: string | undefined): ReportReading {
  let unread = notTaken;
  for (const body of bodies.toReversed()) {
    const { report, faults } = readReport(body);
    if (report === undefined) {
      unread ??= faults[0];
      continue;
    }
    const parts = faults.length === 0 ? [] : [`The report block was not taken whole: ${faults.join('; ')}.`];
    if (unread === undefined) return { report, reportRefused: parts[0] };
    const refused = [`The last report block was not read: ${unread}.`, ...parts].join(' ');
    return { report, reportRefused: refused, isReportUnread: true };
  }
  if (unread === undefined) return {};
  return { reportRefused: `The report block was not read: ${unread}.`, isReportUnread: true };
}
