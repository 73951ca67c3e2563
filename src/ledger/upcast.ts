// Upcaster: gives events of earlier releases today's shape where they are read, so that all other code knows one shape.
// Hash chains cover what is stored, so verify and salvage never use it. Only here may a sentence decide something.
import {
  agentOptions,
  type CheckpointKind,
  type EscalationKind,
  type Event,
  type LimitId,
  type OptionId,
} from '../core/event.ts';
import { houseSettings } from '../core/settings.ts';
import { defaultSettings, isModeWord, modeFor } from '../modes/registry.ts';
import { isFields } from '../text/fields.ts';

type Body = { readonly [key: string]: unknown };
type Rule = (stored: Body) => Body;

const renamed =
  (type: Event['type']): Rule =>
  stored => ({ ...stored, type });

type Names = Readonly<Record<string, string>>;

/** The same object when it holds none of the old names. */
function withNames(body: Body, names: Names): Body {
  if (!Object.keys(body).some(name => Object.hasOwn(names, name))) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [Object.hasOwn(names, name) ? names[name] : name, value]),
  );
}

const settingNames: Names = { forked: 'worktreePerTask', screen: 'tamperScreen' };

/**
 * Before 0.5 no policy was recorded, and earlier not every setting: what is missing is the mode's own. Lists were PRDs,
 * interviews projects: the document tells them apart.
 */
const started: Rule = stored => {
  const { stepwise: _, review, policy, ...settings } = stored['settings'] as Body;
  if (isFields(policy) && policy['achievedBy'] !== undefined) return stored;
  const word = String(settings['mode']);
  const own = isModeWord(word)
    ? defaultSettings(modeFor(word, String(stored['document'])))
    : { ...houseSettings, mode: word };
  const { mode } = own;
  // What unfinished tasks left stayed in the files then: such a loop goes on as it began.
  const then = { ...own.policy, setsAside: false, ...(policy as Body) };
  const named = { ...own, ...withNames(settings, settingNames), mode, policy: then };
  if (!isFields(review)) return { ...stored, settings: named };
  const { roundsMax: rounds, ...ofReview } = review;
  return { ...stored, settings: { ...named, rounds, own: ofReview } };
};

const taskNames: Names = { reads: 'readOnly', closing: 'completion', under: 'section', called: 'documentId' };

const withTasks: Rule = stored => {
  const tasks = stored['tasks'] as readonly Body[];
  const today = tasks.map(task => withNames(task, taskNames));
  return today.every((task, at) => task === tasks[at]) ? stored : { ...stored, tasks: today };
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

/** The flags that the sentence of 0.4 named; without one, the usual limit of the reason. */
const limitFlags: Readonly<Record<string, readonly (readonly [flag: string, limit: LimitId])[]>> = {
  budget_exhausted: [
    ['--max-tokens', 'tokens'],
    ['', 'cost'],
  ],
  max_iterations: [
    ['(--rounds)', 'rounds'],
    ['', 'iterations'],
  ],
  max_duration: [
    ['--deadline', 'deadline'],
    ['--max-average-duration', 'average-duration'],
    ['', 'duration'],
  ],
};

const ended: Rule = stored => {
  const flags = stored['limit'] === undefined ? limitFlags[stored['reason'] as string] : undefined;
  const limit = flags?.find(([flag]) => (stored['because'] as string).includes(flag))?.[1];
  return limit === undefined ? stored : { ...stored, limit };
};

const iterationEnded: Rule = stored =>
  stored['unclaimed'] === undefined &&
  stored['outcome'] === 'succeeded' &&
  (stored['because'] as string).endsWith(' without claiming the task')
    ? { ...stored, unclaimed: true }
    : stored;

/** How the labels of 0.3 and 0.4 begin. */
const labels: readonly (readonly [begin: string, kind: CheckpointKind])[] = [
  ['before iteration 1', 'start'],
  ['after iteration ', 'iteration'],
  ['after the merge of ', 'merge'],
  ['after the checks of iteration ', 'checks'],
  ['what you changed meanwhile', 'user-edits'],
  ['checkpoints were switched on', 'switched-on'],
  ['before a restore', 'before-restore'],
  ['after a restore', 'after-restore'],
];

/** Any other label is a person's or a program's own. */
const withKind: Rule = stored => {
  if (stored['kind'] !== undefined) return stored;
  const label = stored['label'] as string;
  return { ...stored, kind: labels.find(([begin]) => label.startsWith(begin))?.[1] ?? 'by-hand' };
};

const asked: Rule = stored =>
  stored['kind'] === undefined ? { ...stored, kind: stored['by'] === 'ralph' ? 'checks' : 'by-hand' } : stored;

/** By the type that is stored; a rule hands back the same object when nothing is to be changed. */
const rules: ReadonlyMap<unknown, Rule> = new Map<Event['type'] | string, Rule>([
  ['task.kept', renamed('task.edit-rejected')],
  ['iteration.heard', renamed('iteration.heartbeat')],
  ['guidance.reached', renamed('guidance.delivered')],
  ['work.screened', renamed('proof.screened')],
  ['loop.started', started],
  ['tasks.loaded', withTasks],
  ['tasks.added', withTasks],
  ['escalation.raised', raised],
  ['iteration.ended', iterationEnded],
  ['checkpoint.asked', asked],
  ['checkpoint.made', withKind],
  ['loop.ended', ended],
]);

/** Pure, and without a copy for what has today's shape: a ledger may hold a million events. */
export function upcast(stored: unknown): Event {
  const rule = rules.get((stored as Body)['type']);
  return (rule === undefined ? stored : rule(stored as Body)) as Event;
}
