// The model behind the mock: it reads the task in its prompt, writes the file that the story asks for, then claims it.
import type { Asked } from './dialects/dialect.ts';
import type { Model, Step } from './mock.ts';

export const storyPlace = (id: string): string => `work/${id}.txt`;

/** The task that the newest prompt gives, and whether it is the last open one. */
function taskOf(asked: Asked): { readonly id: string; readonly isLast: boolean } | undefined {
  const id = /^\*\*(US-\d+)\*\*:/m.exec(asked.prompt)?.[1];
  const [, done, total] = /(\d+) of (\d+) tasks are done/.exec(asked.prompt) ?? [];
  return id === undefined ? undefined : { id, isLast: Number(done) + 1 === Number(total) };
}

/** Files are written under this folder: some agents want whole paths. */
export function storyModel(folder: () => string): Model {
  return asked => {
    const task = taskOf(asked);
    if (task === undefined) return { text: 'There is no task in this prompt.' };
    if (asked.turn === 0)
      return { write: `${folder()}/${storyPlace(task.id)}`, content: `The file of ${task.id}\nis finished\n` };
    const claim = `The file is there.\n\nTask ${task.id} complete`;
    return { text: task.isLast ? `${claim}\n\n<promise>DONE</promise>` : claim };
  };
}

/** This step for every request as long as it holds, then the other model. */
export function whileTrue(holds: () => boolean, step: () => Step, then: Model): Model {
  return (asked, count) => (holds() ? step() : then(asked, count));
}
