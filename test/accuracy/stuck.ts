// The detector of standstill: called stuck is a row that would be asked about within its iterations; a word in the prompt is not enough.
import { findStandstill, type Step } from '../../src/messages/progress.ts';
import { comparable } from '../../src/messages/said.ts';
import { type Detector, share } from './figure.ts';

export interface StuckRow {
  readonly id: string;
  readonly expect: 'stuck' | 'productive';
  readonly iterations: readonly {
    readonly output: string;
    readonly error: string | null;
    readonly tree: string;
    readonly failing: number | null;
    readonly closed: readonly string[];
    readonly report: string | null;
  }[];
  readonly note: string;
}

type Iteration = StuckRow['iterations'][number];

/** What a check says of so many failing tests. */
export const checkWords = (failing: number): string => `Tests: ${failing} failed`;

const textOf = (text: string | null): string | undefined => (text === null ? undefined : comparable(text));

/** Only what a report calls completed is news. */
function completedIn(report: string | null): string | undefined {
  if (report === null) return undefined;
  if (!report.trim().startsWith('{'))
    return comparable(report.replace(/\b(?:pending|blocked|next|obstacles?)\s*[:=][^;|\n]*/gi, ''));
  const { completed = [], phase = '' } = JSON.parse(report) as { completed?: readonly string[]; phase?: string };
  return comparable([phase, ...completed].join('; '));
}

const stepOf = ({ output, error, tree, failing, closed, report }: Iteration): Step => ({
  said: comparable(output),
  error: textOf(error),
  tree,
  check: failing === null ? undefined : checkWords(failing),
  report: completedIn(report),
  closed: closed.length > 0,
});

/** Through the rules alone. */
export function isAsked({ iterations }: StuckRow): boolean {
  const steps = iterations.map(stepOf);
  return steps.some((_, at) => findStandstill(steps.slice(0, at + 1))?.asks === true);
}

const shares = (rows: readonly StuckRow[], how: string, isCalled: (row: StuckRow) => boolean) => [
  share(`precision${how}`, rows.filter(isCalled), { atLeast: 0.97 }, row => row.expect === 'stuck'),
  share(
    `recall${how}`,
    rows.filter(row => row.expect === 'stuck'),
    { atLeast: 0.85 },
    isCalled,
  ),
];

export const stuckDetector: Detector = {
  name: 'stuck',
  measure: rows => shares(rows<StuckRow>('stuck.jsonl'), '', isAsked),
};
