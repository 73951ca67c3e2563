// Takes a loop back to a checkpoint: what would happen, the command to its ledger, and what became of it.
import { command, type Environment } from './app.ts';
import type { Event, EventOf } from '../core/event.ts';
import type { Command } from '../core/input.ts';
import type { RestoreDue } from '../core/state.ts';
import type { CheckpointMark, TaskThen } from '../core/work.ts';
import { eventsOf } from '../engine/replay.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Restored } from '../git/workspace.ts';
import { sparedIn } from '../views/spared.ts';
import type { GitWorkspace } from '../git/git.ts';
import { type History, openHistory } from './history.ts';
import { refusalError } from './session/place.ts';

/** Work was cut, by a crash or by Ctrl-C, and is in no checkpoint yet. */
export const isCut = ({ state, isHeld }: History): boolean =>
  !isHeld && (state.live.length > 0 || state.checkpointsDue.length > 0) && state.restoreDue === undefined;

/** Records how cut work ended and keeps it, as the next run would. */
export async function settleCut(history: History, sender: Sender, workspace: GitWorkspace): Promise<History> {
  const { home, ledger, row } = history;
  await command({ home, ledger, row, loop: row.loop, ...sender, parts: { workspace } }, []);
  return openHistory(history, false);
}

/** What a restore would do to the files; leaves no trace. Work that was cut is the loop's, not a person's. */
export async function planOf(
  history: History,
  workspace: GitWorkspace,
  to: CheckpointMark,
  overwrite: boolean,
): Promise<Restored> {
  const now = await workspace.preview();
  if (!now.ok) throw refusalError(now);
  const { state } = history;
  const base = isCut(history) ? now.commit : (state.newest?.commit ?? now.commit);
  return workspace.plan({
    to: to.commit,
    base,
    now: now.commit,
    overwrite,
    except: sparedIn(state),
    left: to.left ?? [],
  });
}

export interface RewindOrder {
  readonly to: CheckpointMark;
  readonly because: string;
  readonly overwrite: boolean;
  /** Absent: only files. */
  readonly tasks?: readonly TaskThen[];
}

interface Sender {
  readonly env: Environment;
  readonly by: string;
  readonly warn: (sentence: string) => void;
}

export type Rewound =
  | { readonly type: 'done'; readonly event: EventOf<'checkpoint.restored'>; readonly before: number }
  | { readonly type: 'failed'; readonly problem: string }
  /** Asked for, and not done yet: the process that holds the loop will. */
  | { readonly type: 'asked' };

export type Created =
  | { readonly type: 'done'; readonly event: EventOf<'checkpoint.made'> }
  | { readonly type: 'failed'; readonly problem: string }
  | { readonly type: 'asked' };

const waitMsMax = 60_000;
const lookEveryMs = 100;

/** Done here when nobody holds the loop, else by its holder: then we wait for what the ledger says. */
async function performed<Outcome>(
  history: History,
  sender: Sender,
  workspace: GitWorkspace,
  wanted: readonly Command[],
  read: (events: readonly Event[]) => Outcome | undefined,
): Promise<Outcome | undefined> {
  const { home, ledger, row, seq } = history;
  const needs = { home, ledger, row, loop: row.loop, ...sender, parts: { workspace } };
  const sent = await command(needs, wanted);
  const until = Date.now() + (sent.how === 'decided' ? 0 : waitMsMax);
  for (;;) {
    const outcome = read(await since(ledger, row.loop, seq));
    if (outcome !== undefined || Date.now() >= until) return outcome;
    await new Promise(done => setTimeout(done, lookEveryMs));
  }
}

async function since(ledger: Ledger, loop: string, seq: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of eventsOf(ledger, loop, seq)) events.push(...page.map(one => one.event));
  return events;
}

function failureIn(events: readonly Event[]): { readonly type: 'failed'; readonly problem: string } | undefined {
  for (const event of events) {
    if (event.type === 'escalation.raised' && event.escalation.kind === 'storage')
      return { type: 'failed', problem: event.escalation.context };
  }
  return undefined;
}

/** Of a restore that was asked for by now, or already `due`. */
function rewoundIn(events: readonly Event[], due?: RestoreDue): Rewound | undefined {
  const asked = due === undefined ? events.findIndex(event => event.type === 'restore.asked') : 0;
  let before = due?.now?.number ?? 0;
  for (const event of asked === -1 ? [] : events.slice(asked)) {
    if (event.type === 'checkpoint.made') before = event.number;
    if (event.type === 'checkpoint.restored') return { type: 'done', event, before };
  }
  return failureIn(events);
}

export async function rewind(
  history: History,
  sender: Sender,
  workspace: GitWorkspace,
  order: RewindOrder,
): Promise<Rewound> {
  const { to, because, overwrite, tasks } = order;
  const mark = { checkpoint: to.checkpoint, number: to.number, commit: to.commit, tree: to.tree, left: to.left ?? [] };
  const wanted: Command = { type: 'restore', to: mark, because, overwrite, tasks };
  return (await performed(history, sender, workspace, [wanted], events => rewoundIn(events))) ?? { type: 'asked' };
}

/** A restore that was asked for and then cut. */
export async function finishRewind(
  history: History,
  sender: Sender,
  workspace: GitWorkspace,
  due: RestoreDue,
): Promise<Rewound> {
  return (await performed(history, sender, workspace, [], events => rewoundIn(events, due))) ?? { type: 'asked' };
}

export async function createCheckpoint(
  history: History,
  sender: Sender,
  workspace: GitWorkspace,
  label: string,
): Promise<Created> {
  const created = await performed<Created>(history, sender, workspace, [{ type: 'checkpoint', label }], events => {
    const made = events.find(event => event.type === 'checkpoint.made' && event.label === label);
    return made?.type === 'checkpoint.made' ? { type: 'done', event: made } : failureIn(events);
  });
  return created ?? { type: 'asked' };
}
