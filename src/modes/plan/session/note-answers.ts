// Answers that a person ticked in a note of the vault: taken as `ralph answer` takes them, where no agent can have written them.
import type { Answer } from '../../../core/event.ts';
import { readText } from '../../../documents/text-file.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { readAnswers } from '../views/answers.ts';
import { vaultPaths } from '../views/paths.ts';
import { agentAtMove } from './file-move.ts';
import { isPlainFile } from './files.ts';
import { type PlanLoop, writeLoopViews } from './loops.ts';

const noteBytesMax = 1024 * 1024;

export interface NoteNeeds {
  readonly ledger: Ledger;
  readonly root: string;
  readonly say: (text: string) => void;
  /** Whether agents are kept from what they may not write. */
  readonly areConfined: () => Promise<boolean>;
  /** Sends it to its loop as a person's. */
  readonly answer: (loop: string, escalation: string, answer: Answer) => Promise<void>;
}

/** Who is said to have answered: whoever may write into the vault. */
export const noteAuthor = 'a note in the vault';

/** `refused`: what was ticked is no answer, and that is said, in the note too. */
export async function takeNoteAnswers(
  needs: NoteNeeds,
  { row, state }: PlanLoop,
): Promise<'taken' | 'refused' | 'none'> {
  const { ledger, root, say, areConfined, answer } = needs;
  const path = vaultPaths(root).blocked(state.loop.projectId);
  if (state.control.ended || state.questions.open.length === 0 || !(await isPlainFile(path))) return 'none';
  const read = await readText(path, noteBytesMax);
  if (read.type !== 'text') return 'none';
  const { answers, problem } = readAnswers(read.text, state.questions.open);
  if (answers.length === 0 && problem === undefined) return 'none';
  const isKept = await areConfined();
  const agent = isKept ? await agentAtMove(ledger, root, path, areConfined) : undefined;
  const doubt =
    agent && `the note was changed while an agent of loop ${agent.loop} was at work, who could have done it`;
  const why = isKept ? (doubt ?? problem) : 'agents are not confined, so one of them could have ticked it';
  if (why !== undefined) {
    say(`Plan ${state.loop.projectId}: what is ticked in its note is not taken: ${why}.`);
    await writeLoopViews(ledger, root, row, { areConfined: () => isKept, remark: why });
    return 'refused';
  }
  for (const one of answers) {
    await answer(row.loop, one.escalation, one.answer);
    say(`Plan ${state.loop.projectId}: ${one.escalation} was answered in its note.`);
  }
  return 'taken';
}
