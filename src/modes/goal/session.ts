// A goal in words as a document: a file in our own folder, found again by the same words in the same folder.

import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../../text/errors.ts';

interface GoalPlace {
  readonly directory: string;
  readonly home: string;
  /** Nothing may be written. */
  readonly isDry: boolean;
}

/**
 * The goal lies where no agent reaches it, under a name that the same words in the same folder find again. What lies there
 * is never believed: a write may have been cut short, an agent without a sandbox may have been there.
 */
export async function goalDocument({ directory, home, isDry }: GoalPlace, goal: string) {
  const hash = createHash('sha256').update(`${directory}\0${goal}`).digest('hex').slice(0, 32);
  const path = join(home, 'goals', `${hash}.md`);
  if (isDry) return { modeName: 'goal' as const, path, notices: [], text: goal };
  const bytes = Buffer.from(`${goal}\n`);
  const there = await readFile(path).catch(() => undefined);
  if (there?.equals(bytes) !== true) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { replaceFile } = await import('../../documents/replace-file.ts');
    await replaceFile(path, bytes, { mode: 0o600 });
  }
  return { modeName: 'goal' as const, path, notices: [] };
}

const goalCharsMax = 20_000;

export function checkedGoal(text: string): string {
  const goal = text.trim();
  if (goal === '') throw new UsageError('The goal is empty.', 'Say it in words: ralph run "make the tests pass"');
  if (goal.includes('\0')) throw new UsageError('The goal holds a NUL character.');
  if (goal.length > goalCharsMax)
    throw new UsageError(
      `The goal is longer than ${goalCharsMax} characters.`,
      'Put it into a PROMPT.md and run that.',
    );
  return goal;
}
