// Decisions on work that was set aside or given back.

import { plural, someOf } from '../../text/format.ts';
import type { NewEvent } from '../event.ts';
import type { Decide, InputOf } from '../input.ts';
import { findTask } from '../task.ts';

const namedMax = 5;

const keptWords = (kept: readonly string[]): string =>
  kept.length === 0 ? '' : `; still there, because somebody else changed them too: ${someOf(kept, namedMax)}`;

function whySetAside({ count, kept, failed, checkpoint }: InputOf<'set-aside'>): string {
  if (failed !== undefined) return `its unfinished work could not be put back: ${failed}`;
  if (count + kept.length === 0) return 'it had no unfinished work in the files';
  return `its unfinished work was set aside: ${plural(count, 'file')} put back, kept in checkpoint ${checkpoint}${keptWords(kept)}`;
}

/** Whoever works next must know whose work still lies there. */
function toldOfKept({ task, kept, failed }: InputOf<'set-aside'>): readonly NewEvent[] {
  if (kept.length === 0) return [];
  const why = failed === undefined ? 'because somebody else changed them too' : 'because it could not be put back';
  const text = `Unfinished work of ${task} is still in these files, ${why}: ${someOf(kept, namedMax)}. If a check fails because of them, that is not your task's fault: say so in your report.`;
  return [{ type: 'guidance.given', text, by: 'ralph', because: `${task} was set aside` }];
}

export const setAside: Decide<'set-aside'> = (state, input) => {
  const { type: _type, ...facts } = input;
  if (findTask(state.tasks, facts.task)?.spans === undefined) return [];
  return [{ type: 'work.set-aside', ...facts, because: whySetAside(input) }, ...toldOfKept(input)];
};

export const givenBack: Decide<'given-back'> = (state, { type: _type, ...facts }) => {
  const { task, count, kept, failed } = facts;
  if (findTask(state.tasks, task)?.aside?.returns !== true) return [];
  const because =
    failed === undefined
      ? `its work that was set aside came back: ${plural(count, 'file')}${keptWords(kept)}`
      : `its work that was set aside could not be brought back: ${failed}`;
  return [{ type: 'work.given-back', ...facts, because }];
};
