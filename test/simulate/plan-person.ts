// The people around a simulated plan: they look before they answer, and otherwise do what people do at any moment.
import type { Answer, Escalation } from '../../src/core/event.ts';
import type { Command } from '../../src/core/input.ts';
import type { SimulatedPlan } from './plan-document.ts';
import type { Truth } from './plan-laws.ts';
import type { Random } from './random.ts';

export interface People {
  readonly chances: Random;
  readonly plan: SimulatedPlan;
  readonly truth: Truth;
  /** Nobody stops, aborts or edits any more. */
  isCalm: boolean;
}

const option = (number: number): Answer => ({ kind: 'option', option: number });

/** What a person sees who looks where the effect would show. */
function aboutEffect({ chances, truth, isCalm }: People, task: string): Answer {
  if (chances.is(0.15)) return chances.pick([option(3), { kind: 'skip' }]);
  if (!isCalm && chances.is(0.05)) return { kind: 'abort' };
  const happened = truth.happened(task);
  if (!isCalm && chances.is(0.1)) return { kind: 'text', text: happened ? 'It happened.' : 'No trace of it.' };
  return happened ? option(1) : chances.pick([option(2), option(2)]);
}

function answerTo(people: People, { kind, task = '' }: Escalation): Answer {
  const { chances, isCalm } = people;
  if (kind === 'effect') return aboutEffect(people, task);
  if (!isCalm && chances.is(0.03)) return { kind: 'abort' };
  if (kind === 'blocked') return chances.pick([option(1), option(2), { kind: 'skip' }, { kind: 'retry' }]);
  if (kind === 'health') return chances.pick([option(1), option(2)]);
  return option(1);
}

/** Approves what lies there now, or what the question shows; once in a while something else altogether. */
function approval(people: People, escalation: Escalation | undefined): Command {
  const { chances, plan, isCalm } = people;
  const hash = !isCalm && chances.is(0.05) ? 'of another text' : plan.hash;
  if (escalation !== undefined && chances.is(0.4))
    return { type: 'answer', escalation: escalation.id, answer: option(1) };
  return { type: 'approve', subject: 'plan', hash, because: 'read' };
}

/** What people say to the questions that are open. */
export function answers(people: People): readonly Command[] {
  const { truth, chances, plan } = people;
  const {
    questions: { open: escalations },
    settings,
    document: { approval: given },
    control: { paused },
  } = truth.durable;
  const commands = escalations.map((escalation): Command => {
    if (escalation.kind === 'approval') return approval(people, escalation);
    return { type: 'answer', escalation: escalation.id, answer: answerTo(people, escalation) };
  });
  if (settings.approval && given?.hash !== plan.hash && chances.is(0.3)) commands.push(approval(people, undefined));
  if (paused !== undefined) commands.push({ type: 'resume' });
  return commands;
}

/** An answer to a question of the past, which must mean nothing. */
const late = ({ chances }: People): Command => ({
  type: 'answer',
  escalation: `E${chances.whole(1, 3)}`,
  answer: { kind: 'skip' },
});

/** "Retry" does not say that it did not happen. */
const unheeded = ({ truth }: People): Command | undefined => {
  const effect = truth.durable.questions.open.find(one => one.kind === 'effect');
  return effect === undefined ? undefined : { type: 'answer', escalation: effect.id, answer: { kind: 'retry' } };
};

/** At any moment; undefined: nobody does anything. */
export function meddling(people: People): Command | undefined {
  const { chances, plan, truth, isCalm } = people;
  if (isCalm) return undefined;
  const what = chances.whole(1, 300);
  if (what === 1) return { type: 'stop' };
  if (what <= 4) return { type: 'pause', now: chances.is(0.5) };
  if (what <= 8) return { type: 'resume' };
  if (what <= 10) return late(people);
  if (what <= 12) return approval(people, undefined);
  if (what <= 14) plan.edit(chances);
  if (what === 15) plan.flip(chances);
  if (what === 16) return { type: 'task', act: chances.is(0.8) ? 'retry' : 'skip', task: chances.pick(plan.steps).id };
  if (what === 17) return unheeded(people);
  if (what <= 25 && truth.durable.questions.open.length > 0) return chances.pick(answers(people));
  return undefined;
}
