// Decisions on what git answered: commits, checkpoints and restores.

import { plural } from '../../text/format.ts';
import { type Escalation, type EventOf, type Head, madeLabel, type NewEvent, noIteration } from '../event.ts';
import type { Decide, Displaced, Question } from '../input.ts';
import { movesOn, withTree } from '../memory.ts';
import { isDisplaced, type State } from '../state.ts';
import { findTask } from '../task.ts';
import { closeQuestions, raise } from './questions.ts';

export const committed: Decide<'committed'> = (state, { type: _type, ...facts }) => {
  if (!state.checkpoints.commitsDue.some(one => one.task === facts.task)) return [];
  const { commit, paths, left, failed } = facts;
  const isDocument = (path: string): boolean => state.loop.document.endsWith(`/${path}`);
  const yours = left.filter(path => !isDocument(path));
  const kept =
    yours.length === 0
      ? ''
      : `; left out, because yours (dirty at the start, or edited by you meanwhile): ${yours.slice(0, 3).join(', ')}${yours.length > 3 ? ` and ${yours.length - 3} more` : ''}`;
  // A document that Ralph itself keeps is changed by every task: that it stays out is said once, or never.
  const isNew = state.settings.policy.documentShows !== 'progress' && state.checkpoints.documentLeft !== true;
  const own = isNew ? left.find(isDocument) : undefined;
  const never =
    own === undefined ? '' : `; ${own} is in no commit of this loop: it was not committed when the loop began`;
  const said = `${kept}${never}`;
  const isLeftOut = findTask(state.tasks, facts.task)?.status === 'skipped';
  const what = isLeftOut ? 'its mark as left out is committed' : `${plural(paths, 'file')} committed`;
  const because = failed ?? (commit === '' ? `nothing was left to commit${said}` : `${what}${said}`);
  const documentLeft = own === undefined ? undefined : true;
  return [{ type: 'work.committed', ...facts, left: left.slice(0, 100), documentLeft, because }];
};

export const checkpointed: Decide<'checkpointed'> = (state, made) => {
  const { mark, ref, sha256, skipped, files, head, documentHash } = made;
  const due = state.checkpoints.due[0];
  if (due === undefined || mark.number !== state.checkpoints.made + 1) return [];
  const { iteration, kind, request, task } = due;
  const label = madeLabel(state, due, { files, documentHash });
  const fork = task !== undefined && state.settings.worktreePerTask ? true : undefined;
  // A claim that is still to be checked is judged by what the check says.
  const isClaimed = state.claims.open.some(one => one.iteration === iteration);
  const isWork = kind === 'iteration' && state.iterations.last?.iteration === iteration && !isClaimed;
  const progress = isWork ? movesOn(withTree(state, { iteration, kind, tree: mark.tree }), task) : undefined;
  const facts = { iteration, task, ref, kind, label, request, sha256, skipped, fork, files, head, progress };
  const about = { ...facts, because: label };
  return [{ type: 'checkpoint.made', ...mark, ...about }];
};

export const checkpointFailed: Decide<'checkpoint-failed'> = (state, { problem }) => {
  const question: Question = {
    kind: 'storage',
    summary: 'A checkpoint could not be made',
    context: problem,
    options: [
      { id: 'go-on', text: 'It is mended: go on' },
      { id: 'without-checkpoints', text: 'Go on without checkpoints: no undo and no look at the work from here' },
    ],
    question: 'Mend it, then run the same command again.',
  };
  return raise(state, question, 'a checkpoint could not be made');
};

const branchWords = ({ ref, commit }: Head): string =>
  ref === '' ? `no branch (at ${shortId(commit)})` : ref.replace(/^refs\/heads\//, '');

const shortId = (commit: string): string => (commit === '' ? 'no commit' : commit.slice(0, 12));

/** Somebody switched, detached or reset: the loop waits where it is, and asks. */
function movedQuestion({ from, to }: Extract<Displaced, { type: 'moved' }>): Question {
  const [was, is] = [branchWords(from), branchWords(to)];
  const isReset = from.ref === to.ref;
  const back = from.ref === '' ? `git switch --detach ${shortId(from.commit)}` : `git switch ${was}`;
  return {
    kind: 'branch',
    summary: isReset
      ? `${is} no longer holds ${shortId(from.commit)}, on which this loop built`
      : `HEAD is on ${is}, and this loop works on ${was}`,
    context: `Somebody moved it while the loop was at work: it is at ${shortId(to.commit)} now. Nothing was saved or committed since.`,
    findings: [to.ref, to.commit],
    options: [
      { id: 'go-on', text: isReset ? `It holds ${shortId(from.commit)} again: go on` : `It is on ${was} again: go on` },
      { id: 'go-on-here', text: isReset ? 'Go on from what it holds now' : `Go on here, on ${is}` },
      { id: 'end-loop', text: 'End the loop here' },
    ],
    question: isReset
      ? `Put it back (git reflog ${is} shows where it was) and go on, or go on from here?`
      : `Go back (${back}) and go on, or go on here?`,
  };
}

/** The worktree lies in Ralph's own folder: it was made again before anybody is asked. */
function remadeQuestion({ checkpoints: { latest } }: State, problem: string | undefined): Question {
  const from = latest === undefined ? 'its branch' : `its branch and checkpoint ${latest.number}`;
  return {
    kind: 'branch',
    summary: 'The worktree of this loop was deleted while it was at work',
    context: problem ?? `It is made again from ${from}. What was done in it since is lost.`,
    options: [
      { id: 'go-on', text: problem === undefined ? 'Go on in it' : 'It is mended: go on' },
      { id: 'end-loop', text: 'End the loop here' },
    ],
    question: 'Go on?',
  };
}

export const displaced: Decide<'displaced'> = (state, { found }) => {
  if (isDisplaced(state)) return [];
  return found.type === 'moved'
    ? raise(state, movedQuestion(found), 'HEAD is not where this loop left it')
    : raise(state, remadeQuestion(state, found.problem), 'the worktree was gone');
};

/**
 * Statuses go back with the files, unless only files were asked for; limits and counters never do. What an action did in the
 * world is not in the files: it stays done, or left out, or to be asked about.
 */
function tasksBack(state: State, then: EventOf<'restore.asked'>['tasks'], number: number): readonly NewEvent[] {
  const because = `as at checkpoint ${number}`;
  const back = (then ?? []).flatMap(({ id, status, attempts }): readonly NewEvent[] => {
    const task = findTask(state.tasks, id);
    if (task === undefined || task.status === status || task.spec.order !== undefined) return [];
    if (status === 'pending') return [{ type: 'task.reopened', task: id, because, attempts }];
    if (status === 'skipped') return [{ type: 'task.skipped', task: id, by: 'ralph', because }];
    const { verified = true, level } = task;
    return [{ type: 'task.closed', task: id, iteration: noIteration, verified, level, attempts, because }];
  });
  // "No task is ready" is no longer true when tasks were opened again.
  const isStall = ({ kind }: Escalation): boolean => kind === 'blocked';
  return back.length === 0 ? [] : [...closeQuestions(state, isStall, 'ralph', 'tasks were put back'), ...back];
}

export const restored: Decide<'restored'> = (state, { type: _type, ...facts }) => {
  const due = state.checkpoints.restoreDue;
  if (due === undefined) return [];
  const { checkpoint, number, commit } = due.to;
  const because = facts.refused ?? due.because;
  const event: NewEvent = { type: 'checkpoint.restored', checkpoint, number, ref: commit, ...facts, because };
  if (facts.refused !== undefined) return [event];
  const events = [event, ...tasksBack(state, due.tasks, number)];
  if (due.by !== 'ralph') return events;
  const text = `The files were put back to checkpoint ${number} (${due.because}). What was tried since is gone: begin again, and differently.`;
  return [...events, { type: 'guidance.given', text, by: 'ralph', because: 'a rollback' }];
};
