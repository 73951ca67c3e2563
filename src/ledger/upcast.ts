// Upcaster: gives events of earlier releases today's shape where they are read, so that all other code knows one shape.
// Hash chains cover what is stored, so verify and salvage never use it. Only here may a sentence decide something.
import { agentOptions, type EscalationKind, type Event, type OptionId } from '../core/event.ts';

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

const own: { readonly [Kind in EscalationKind]?: readonly OptionId[] } = {
  blocked: ['try-again', 'leave-out'],
  health: ['more-time', 'end-iteration'],
  agent: ['go-on'],
  storage: ['go-on'],
  tamper: ['reject', 'accept'],
  effect: ['happened', 'not-happened', 'leave-out'],
  approval: ['approve'],
};

/** Exactly what 0.4 decided by: the place of an option, and with three questions the words of the second one. */
function optionIds(kind: EscalationKind, isAboutTask: boolean, second = ''): readonly OptionId[] {
  if (kind === 'stuck' && !isAboutTask) return ['go-on', 'leave-out'];
  if (kind === 'stuck' && second === 'Leave this task out') return ['try-again', 'leave-out'];
  if (kind === 'storage' && second.startsWith('Go on without checkpoints')) return ['go-on', 'without-checkpoints'];
  if (kind === 'tamper' && second === 'Ask again') return ['redo', 'ask-again'];
  return own[kind] ?? [];
}

const raised: Rule = stored => {
  const escalation = stored['escalation'] as Body;
  const texts = escalation['options'] as readonly unknown[];
  if (typeof texts[0] !== 'string') return stored;
  const ids = optionIds(escalation['kind'] as EscalationKind, 'task' in escalation, texts[1] as string);
  const options = agentOptions(texts as readonly string[]).map(({ id, text }, at) => ({ id: ids[at] ?? id, text }));
  return { ...stored, escalation: { ...escalation, options } };
};

/** By the type that is stored; a rule hands back the same object when nothing is to be changed. */
const rules: ReadonlyMap<unknown, Rule> = new Map<Event['type'] | string, Rule>([
  ['task.kept', renamed('task.edit-rejected')],
  ['iteration.heard', renamed('iteration.heartbeat')],
  ['guidance.reached', renamed('guidance.delivered')],
  ['work.screened', renamed('proof.screened')],
  ['loop.started', started],
  ['escalation.raised', raised],
]);

/** Pure, and without a copy for what has today's shape: a ledger may hold a million events. */
export function upcast(stored: unknown): Event {
  const rule = rules.get((stored as Body)['type']);
  return (rule === undefined ? stored : rule(stored as Body)) as Event;
}
