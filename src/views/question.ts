// Questions to a person in words: what kind each is, and the line that answers it. The same on every surface.

import type { Escalation, EscalationKind, OptionId } from '../core/event.ts';

/** What it is about, before its summary. */
export const questionKinds: Readonly<Record<EscalationKind, string>> = {
  stuck: 'stuck',
  deviation: 'deviation',
  unknown: 'a question',
  blocked: 'blocked',
  health: 'no sign of life',
  agent: 'agent cannot work',
  storage: 'file not written',
  tamper: 'doubtful proof',
  effect: 'did it happen?',
  approval: 'approval',
  budget: 'money',
  branch: 'branch or worktree',
};

/** Where only one of the options says enough (did it happen?), neither words nor a mere "again" are an answer. */
export const isChoice = ({ kind }: Escalation): boolean => kind === 'effect';

const sameOption: Readonly<Record<'skip' | 'retry' | 'abort', OptionId>> = {
  skip: 'leave-out',
  retry: 'try-again',
  abort: 'end-loop',
};

/** Whether one of its options says the same: then nobody needs to hear of it twice. */
export const isOption = ({ options }: Escalation, answer: keyof typeof sameOption): boolean =>
  options.some(one => one.id === sameOption[answer]);

/** The line that answers it as it is typed, and behind `#` what else could be said. */
export function answerLine(loop: string, escalation: Escalation): string {
  const { id, options } = escalation;
  const start = `ralph answer ${loop}/${id}`;
  const numbers = options.slice(1).map((_option, at) => `${at + 2}`);
  if (isChoice(escalation)) return `${start} --option 1   # or ${[...numbers, '--abort'].join(', ')}`;
  const [first, ...others] = [...(options.length > 0 ? ['--option 1'] : []), '--text "..."'];
  const rest = (['skip', 'retry', 'abort'] as const).filter(one => !isOption(escalation, one)).map(one => `--${one}`);
  return `${start} ${first}   # or ${[...numbers, ...others, ...rest].join(', ')}`;
}
