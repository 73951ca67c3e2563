// Claims of agents: taken when they are meant, left when they are not, and each near miss explained in the next prompt.

import { dialectOf } from '../../src/core/decide/claims.ts';
import type { Input } from '../../src/core/input.ts';
import { initialState, type State } from '../../src/core/state.ts';
import { findTask } from '../../src/core/task.ts';
import { readSignals, type Signals } from '../../src/messages/claims.ts';
import { decide } from '../../src/modes/decide.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { refusalSection } from '../../src/modes/iteration-prompt.ts';
import { defaultSettings, type ModeWord } from '../../src/modes/registry.ts';
import { stripControls } from '../../src/text/text.ts';
import { type Detector, share } from './figure.ts';

type Kind = 'done' | 'promise' | 'box' | 'report' | 'escalate' | 'handoff';

export interface ClaimRow {
  readonly id: string;
  readonly set: 'contract' | 'meaning' | 'near' | 'loose';
  readonly task: string;
  readonly promise: string;
  readonly mode: ModeWord;
  readonly message: string;
  readonly expect: Kind | 'none';
  /** In the set near: what the agent meant. */
  readonly explain?: Kind;
}

/** A loop of this mode in the iteration that ends with the message. */
function working({ task, promise, mode }: ClaimRow): State {
  const settings = { ...defaultSettings(mode), performers: ['agent'], checks: ['npm test'], promise };
  const description = { title: task, description: '', criteria: [], dependsOn: [], done: false, skipped: false };
  const place = { loop: 'loop-0001', name: 'shop', goal: 'a shop', document: '/shop/PRD.json', directory: '/shop' };
  return [
    { type: 'start', ...place, projectId: 'shop', taskId: 'one', settings, by: 'ada' } as const,
    { type: 'document', tasks: [{ id: task, ...description }], hash: 'h1' } as const,
    { type: 'begin', task, performer: 'agent', holder: 'holder-1' } as const,
  ].reduce<State>(after, initialState);
}

const after = (state: State, input: Input): State => decide(state, input, 1_800_000_000_000).reduce(evolve, state);

const isRead: Readonly<Record<Kind, (signals: Signals, state: State) => boolean>> = {
  done: ({ done }) => done,
  promise: ({ promise }) => promise,
  box: ({ checkbox }, state) => checkbox && state.settings.policy.claimsBy === 'checkbox',
  report: ({ report, isReportUnread }) => report !== undefined && isReportUnread !== true,
  escalate: ({ escalate }) => escalate !== undefined,
  handoff: ({ handoff }) => handoff !== undefined,
};

/** What the loop reads in the message, by the function that it uses itself. */
function takenOf(row: ClaimRow): readonly Kind[] {
  const state = working(row);
  const signals = readSignals(stripControls(row.message), dialectOf(state, row.task));
  return (Object.keys(isRead) as Kind[]).filter(kind => isRead[kind](signals, state));
}

/** What the agent has to write, as the prompt after the near miss must show it. */
const lines: Readonly<Record<Kind, (row: ClaimRow) => readonly string[]>> = {
  done: ({ task }) => [`Task ${task} complete`],
  promise: ({ promise }) => [`<promise>${promise}</promise>`],
  box: () => ['- [x] TASK_COMPLETE'],
  report: () => ['<report>', '</report>'],
  escalate: () => ['<escalate type="stuck">', '</escalate>'],
  handoff: () => ['<handoff>', '</handoff>'],
};

/** "Not accepted last time", as the next prompt of the task tells it. */
function explanationOf(row: ClaimRow): string {
  const performed = { message: row.message };
  const state = after(working(row), { type: 'performed', iteration: 1, performed, chance: 0.5 });
  const task = findTask(state.tasks, row.task);
  return task === undefined ? '' : refusalSection(state, task);
}

/** In a loop of one task the promise and the box claim the task as the line does. */
const isClaimed = (row: ClaimRow): boolean => {
  const taken = takenOf(row);
  const isOne = row.mode === 'prompt' || row.mode === 'goal';
  return taken.includes('done') || (isOne && (taken.includes('promise') || taken.includes('box')));
};

const harmless: readonly Kind[] = ['report', 'escalate', 'handoff'];

/** What goes wrong with a row, or undefined. */
export function wrongWith(row: ClaimRow): string | undefined {
  const { set, expect, explain } = row;
  if (set === 'meaning' || set === 'loose') {
    if (expect === 'none') return isClaimed(row) ? 'taken' : undefined;
    // What is no claim (a question, a wish for a fresh context) is heard as what it is.
    if (isClaimed(row) || takenOf(row).some(kind => kind === expect)) return undefined;
    return set === 'loose' && isExplained(row, 'done') ? undefined : 'not heard';
  }
  const taken = takenOf(row);
  if (set === 'contract' && expect === 'none') return taken.length > 0 ? `taken as ${taken}` : undefined;
  if (set === 'contract') return taken.some(kind => kind === expect) ? undefined : `read as ${taken}`;
  if (explain === undefined) return 'the row does not say what was meant';
  // Nothing is done by these: one that is understood needs no explanation.
  if (taken.includes(explain)) return harmless.includes(explain) ? undefined : `taken as ${taken}`;
  return isExplained(row, explain) ? undefined : `explained as ${explanationOf(row)}`;
}

function isExplained(row: ClaimRow, explain: Kind): boolean {
  const explanation = explanationOf(row);
  return lines[explain](row).every(line => explanation.includes(line));
}

const isRight = (row: ClaimRow): boolean => wrongWith(row) === undefined;
const isWrong = (row: ClaimRow): boolean => !isRight(row);

export const claims: Detector = {
  name: 'claims',
  measure(rows) {
    const all = [...rows<ClaimRow>('claims.jsonl'), ...rows<ClaimRow>('loose.jsonl')];
    const of = (set: ClaimRow['set'], isMeant: boolean) =>
      all.filter(row => row.set === set && (row.expect !== 'none') === isMeant);
    const near = all.filter(row => row.set === 'near');
    return [
      share('by the contract: heard', of('contract', true), { atLeast: 0.995 }, isRight),
      share('by the contract: wrongly taken', of('contract', false), { atMost: 0.004 }, isWrong),
      share('by meaning: heard', of('meaning', true), { atLeast: 0.85 }, isRight),
      share('by meaning: wrongly taken', of('meaning', false), { atMost: 0.05 }, isWrong),
      share('near misses explained', near, { atLeast: 1 }, isRight),
      share('looser than the contract: heard or explained', of('loose', true), { atLeast: 0.95 }, isRight),
      share('looser than the contract: wrongly taken', of('loose', false), { atMost: 0.05 }, isWrong),
    ];
  },
};
