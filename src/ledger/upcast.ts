// Upcaster: gives events of earlier releases today's shape where they are read, so that all other code knows one shape.
// Hash chains cover what is stored, so verify and salvage never use it. Only here may a sentence decide something.
import type { Event } from '../core/event.ts';

type Body = { readonly [key: string]: unknown };
type Rule = (stored: Body) => Body;

const renamed =
  (type: Event['type']): Rule =>
  stored => ({ ...stored, type });

const settingNames: Readonly<Record<string, string>> = { forked: 'worktreePerTask', screen: 'tamperScreen' };

const started: Rule = stored => {
  const settings = stored['settings'] as Body;
  if (!Object.keys(settings).some(name => name in settingNames)) return stored;
  const entries = Object.entries(settings).map(([name, value]) => [settingNames[name] ?? name, value]);
  return { ...stored, settings: Object.fromEntries(entries) };
};

/** By the type that is stored; a rule hands back the same object when nothing is to be changed. */
const rules: ReadonlyMap<unknown, Rule> = new Map<Event['type'] | string, Rule>([
  ['task.kept', renamed('task.edit-rejected')],
  ['iteration.heard', renamed('iteration.heartbeat')],
  ['guidance.reached', renamed('guidance.delivered')],
  ['work.screened', renamed('proof.screened')],
  ['loop.started', started],
]);

/** Pure, and without a copy for what has today's shape: a ledger may hold a million events. */
export function upcast(stored: unknown): Event {
  const rule = rules.get((stored as Body)['type']);
  return (rule === undefined ? stored : rule(stored as Body)) as Event;
}
