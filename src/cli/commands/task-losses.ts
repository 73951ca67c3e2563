// What a conversion could not carry over, as lines for people; and the files that one names.

import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Loss, visible } from '../../app/tasks.ts';
import { UsageError } from '../../text/errors.ts';
import { someOf } from '../../text/format.ts';
import type { Context } from '../context.ts';

const idsMax = 5;

/** The first line says whether there is anything to worry about. */
export function lossLines(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return ['  Everything was carried over.'];
  return [
    '  Not carried over:',
    ...losses.map(({ what, tasks, because }) => {
      const whose = tasks.length === 0 ? '' : ` of ${someOf(tasks, idsMax)}`;
      return `    ${visible(what)}${visible(whose)}: ${because}`;
    }),
  ];
}

export function pathOf({ directory }: Context, word: string): string {
  if (word === '') throw new UsageError('The file has no name.', 'ralph task import fix_plan.md --to PRD.json');
  if (word.includes('\0')) throw new UsageError('The file name holds a NUL character.');
  return resolve(directory, word);
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

/** Also when it is told to replace what is there. */
export function refuseItself(from: string, to: string): void {
  const real = realPath(to);
  if (real === undefined || real !== realPath(from)) return;
  throw new UsageError(
    `${visible(basename(to))} is the file itself: what cannot be carried over would be lost.`,
    'Name another one: --to FILE',
  );
}
