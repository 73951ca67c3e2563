// Open questions of all loops, those of this folder first, and the one that a person means by E1 or LOOP/E1.

import { dirname } from 'node:path';
import type { Escalation } from '../../core/event.ts';
import { hasUserDocument } from '../../core/state.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { anyOf } from '../../text/format.ts';
import type { Context } from '../context.ts';
import { alreadyAnswered, answerTo } from './answered.ts';

export interface OpenQuestion {
  readonly row: LoopRow;
  readonly escalation: Escalation;
  /** Where its loop was started: not the worktree that it may work in. */
  readonly folder: string;
  /** Its loop belongs to the folder that this command was typed in. */
  readonly isHere: boolean;
  /** Its loop is over: an answer is kept, and changes nothing. */
  readonly isLate: boolean;
}

/** Of one loop that is named, else of all that have not ended. */
export async function openQuestions(context: Context, loop?: string, write = false): Promise<readonly OpenQuestion[]> {
  if (!write && !context.hasLedger()) return [];
  const loops = await context.loops({ write });
  const here = new Set((await loops.ofFolder(context.directory)).map(row => row.loop));
  const looks =
    loop === undefined
      ? loops.looks({ open: true })
      : [await loops.look(await loops.find(loop, { directory: context.directory, toChange: write }))];
  const found: OpenQuestion[] = [];
  for await (const { row, state } of looks) {
    const folder = hasUserDocument(state) ? dirname(row.document) : row.directory;
    const [isHere, isLate] = [here.has(row.loop), state.control.ended !== undefined];
    found.push(...state.questions.open.map(escalation => ({ row, escalation, folder, isHere, isLate })));
  }
  return [...found.filter(one => one.isHere), ...found.filter(one => !one.isHere)];
}

const namesOf = (questions: readonly OpenQuestion[]): string =>
  anyOf(questions.slice(0, 3).map(({ row, escalation }) => `${row.name}/${escalation.id}`));

/** Of the loop that is named, else of the newest one of this folder that has asked it. */
async function settledQuestion(context: Context, loop: string | undefined, id: string, write: boolean) {
  if (!/^E\d+$/.test(id)) return undefined;
  const loops = await context.loops({ write });
  const rows =
    loop === undefined
      ? await loops.ofFolder(context.directory)
      : [await loops.find(loop, { directory: context.directory, toChange: write })];
  for (const row of rows) {
    const settled = await answerTo(context, row, id);
    if (settled !== undefined) return settled;
  }
  return undefined;
}

/** E1 alone is one of this folder; elsewhere its loop must be named. */
export async function findQuestion(context: Context, word: string, write = false): Promise<OpenQuestion> {
  const at = word.lastIndexOf('/');
  const loop = at < 0 ? undefined : word.slice(0, at);
  const id = word.slice(at + 1).toUpperCase();
  const all = (await openQuestions(context, loop, write)).filter(one => one.escalation.id === id);
  const meant = loop === undefined ? all.filter(one => one.isHere) : all;
  const [only, second] = meant;
  if (only === undefined) {
    // What this folder has asked itself comes first: nobody shall answer a stranger's question by a repeated line.
    const settled = await settledQuestion(context, loop, id, write);
    if (settled !== undefined) throw alreadyAnswered(settled);
    if (all.length > 0)
      throw new UsageError(
        `No loop of this folder has an open ${id}, but another folder has one.`,
        `Name its loop: ralph answer ${namesOf(all)}`,
      );
    throw new UsageError(`No open question is called ${JSON.stringify(word)}.`, 'See the open ones: ralph inbox');
  }
  if (second !== undefined)
    throw new UsageError(
      `${meant.length} loops of this folder have an open ${id}.`,
      `Name its loop: ralph answer ${namesOf(meant)}`,
    );
  return only;
}
