// An open question for programs: its options are texts in order, as people see them, with their ids beside them.
import type { Escalation, OptionId } from '../core/event.ts';

export interface AskedQuestion extends Omit<Escalation, 'options'> {
  readonly options: readonly string[];
  /** What an answer may name in place of the number. */
  readonly optionIds: readonly OptionId[];
}

export const askedQuestion = (escalation: Escalation): AskedQuestion => ({
  ...escalation,
  options: escalation.options.map(one => one.text),
  optionIds: escalation.options.map(one => one.id),
});
