// Reads the recorded ledgers: each stored event with the packed state and the next effects that 0.4.0 had after it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { PackedState, RecordedNext } from './changes.ts';

interface Step {
  readonly set?: PackedState;
  readonly unset?: readonly string[];
  readonly tasks?: readonly PackedTask[];
  /** The ids of all tasks in order, where the order is not the one before. */
  readonly order?: readonly string[];
  readonly next?: RecordedNext;
}

interface PackedTask {
  readonly id: string;
}

type Line =
  | { readonly ledger: string; readonly decided?: Decided }
  | { readonly event: unknown; readonly state: Step }
  | { readonly final: PackedState };

interface RecordedEvent {
  readonly stored: Readonly<Record<string, unknown>>;
  readonly state: PackedState;
  readonly next: RecordedNext;
}

/** What is decided on this input after so many events are all events that follow. */
interface Decided {
  readonly after: number;
  readonly input: unknown;
  readonly now: number;
}

export interface RecordedLedger {
  readonly name: string;
  readonly decided: Decided | undefined;
  readonly events: readonly RecordedEvent[];
  readonly final: PackedState;
}

const folder = join(import.meta.dirname, 'ledgers');

export const ledgerFiles = readdirSync(folder).filter(name => name.endsWith('.jsonl.gz'));

function after(before: PackedState, step: Step): PackedState {
  const state: PackedState = { ...before, ...step.set };
  for (const field of step.unset ?? []) delete state[field];
  if (step.tasks === undefined && step.order === undefined) return state;
  const tasks = (before['tasks'] ?? []) as readonly PackedTask[];
  const byId = new Map([...tasks, ...(step.tasks ?? [])].map(task => [task.id, task]));
  state['tasks'] = (step.order ?? tasks.map(task => task.id)).map(id => byId.get(id));
  return state;
}

export function* readLedgers(file: string): Generator<RecordedLedger> {
  let head: { readonly ledger: string; readonly decided?: Decided } = { ledger: '' };
  let events: RecordedEvent[] = [];
  for (const text of gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .trimEnd()
    .split('\n')) {
    const line = JSON.parse(text) as Line;
    if ('ledger' in line) {
      head = line;
      events = [];
    } else if ('final' in line) {
      yield { name: head.ledger, decided: head.decided, events, final: line.final };
    } else {
      const last = events.at(-1);
      const next = line.state.next ?? last?.next ?? { effects: [] };
      const state = after(last?.state ?? { tasks: [] }, line.state);
      events.push({ stored: line.event as RecordedEvent['stored'], state, next });
    }
  }
}
