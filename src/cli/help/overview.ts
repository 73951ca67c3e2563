// `ralph` alone: the ways to start in a dozen lines, then how things stand here: what the last loop did, what waits, what next.

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Look } from '../../app/loops/loops.ts';
import { canGoOn } from '../../core/scheduling.ts';
import { progress } from '../../core/task.ts';
import { formatDuration, plural } from '../../text/format.ts';
import { endingOf, isTakenBack, newLoop, reopenLine } from '../../views/ending.ts';
import { livenessOf } from '../../views/loop.ts';
import type { Context } from '../context.ts';
import { type OpenQuestion, openQuestions } from '../questions/open.ts';
import { folded, oneLine } from '../terminal.ts';

export const commands = `Ralph works with coding agents until it is done and proven, inside your limits.

  ralph demo            a whole loop in a minute, no key
  ralph run FILE        PRD, checklist, prompt, or "GOAL"; again: resumes
  ralph status          inbox, answer, tell, pause, resume, stop
  ralph diff            what it changed; undo, checkpoint list
  ralph report          explain, logs, events, loops list
  ralph task list       add, skip, retry, import, export
  ralph review FILE     reviewers and fixes until all agree
  ralph init NAME       a project: then interview, execute
  ralph plan show FILE  steps with tools; approve, run
  ralph doctor          agents, config, notes; help COMMAND
`;

/** The newest project of `ralph init` that nobody has been asked about yet. */
async function briefOf(directory: string): Promise<string | undefined> {
  const folder = join(directory, '.artefacts');
  const names = await readdir(folder).catch(() => []);
  return names.findLast(
    name => existsSync(join(folder, name, 'spec.md')) && !existsSync(join(folder, name, 'tasks.json')),
  );
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Where no loop was run yet. */
async function firstStep(directory: string): Promise<string> {
  const { findDocument } = await import('../../modes/find-document.ts');
  const found = await findDocument({ directory, home: '', flags: { dryRun: true } }).catch(() => undefined);
  const brief = found === undefined ? await briefOf(directory) : undefined;
  if (brief !== undefined) return `Next here: ralph interview ${brief}   (its brief is .artefacts/${brief}/spec.md)`;
  if (found === undefined) return 'Next here: ralph demo   (there is no document in this folder)';
  const file = relative(directory, found.path);
  const problem = file.endsWith('.json') ? jsonProblem(await readFile(found.path, 'utf8').catch(() => '')) : undefined;
  if (problem !== undefined) return `Next here: mend ${file}, which is no JSON (${oneLine(problem)})`;
  const project = /^\.artefacts\/([^/]+)\//.exec(file)?.[1];
  return `Next here: ralph ${project === undefined ? `run ${file}` : `execute ${project}`} --agent NAME --verify 'YOUR TESTS'   (agents here: ralph agents list)`;
}

/** What ended longer ago is no news. */
const newsMs = 86_400_000;

/** What came of a loop that nobody works on, as long as it is news: the morning after, and nobody has to look for it. */
function newsOf({ row: { name }, state }: Look, now: number): readonly string[] {
  const { ended } = state.control;
  const ms = now - (ended?.at ?? state.spend.countedUntil);
  if (ms >= newsMs) return [];
  const when = ended === undefined ? `has stood still for ${formatDuration(ms)}` : `ended ${formatDuration(ms)} ago`;
  return [
    `Loop ${name} ${when}, after ${formatDuration(state.spend.activeMs)} of work:`,
    `  ${oneLine(endingOf(state).sentence)}`,
    `  What it changed: ralph diff ${name}   What happened: ralph report ${name}`,
  ];
}

/** The line to type next about it; none where nothing can be done before a question is answered, which says so itself. */
function nextOf({ row: { name }, state }: Look): readonly string[] {
  const { ended } = state.control;
  if (ended === undefined)
    return state.questions.open.length > 0 && !canGoOn(state) ? [] : [`Next here: ralph resume ${name}`];
  if (isTakenBack(state)) return [`Next here: ${reopenLine(state) ?? newLoop}`];
  if (ended.reason === 'goal_achieved' && endingOf(state).exitCode === 0) {
    const { skipped } = progress(state.tasks);
    return [`${skipped === 0 ? 'All done' : `Done, ${skipped} left out`}: ralph report ${name}`];
  }
  return [`Next here: ${reopenLine(state) ?? `ralph report ${name}`}`];
}

/** At most five lines about the newest loop of this folder and what waits for an answer. */
export function standingLines(look: Look, questions: readonly OpenQuestion[], now: number): readonly string[] {
  const isRunning = livenessOf(look.state.control.ended !== undefined, look.held).is === 'held';
  if (isRunning)
    return [
      look.state.control.paused === undefined
        ? `Loop ${look.row.name} is running. Watch it: ralph status, ralph logs -f`
        : `Loop ${look.row.name} is paused. Go on: ralph resume ${look.row.name}`,
      ...questionLines(questions),
    ];
  return [...newsOf(look, now), ...questionLines(questions), ...nextOf(look)];
}

/** `6 questions wait, 2 of them in this folder: ralph inbox` */
function questionLines(questions: readonly OpenQuestion[]): readonly string[] {
  const [all, here] = [questions.length, questions.filter(one => one.isHere).length];
  if (all === 0) return [];
  const where = here === all ? '' : here === 0 ? ' in other folders' : `, ${here} of them in this folder`;
  return [`${plural(all, 'question')} ${all === 1 ? 'waits' : 'wait'}${where}: ralph inbox`];
}

async function standing(context: Context): Promise<readonly string[]> {
  if (!context.hasLedger()) return [await firstStep(context.directory)];
  const loops = await context.loops();
  const [row] = await loops.ofFolder(context.directory);
  const questions = await openQuestions(context);
  return row === undefined
    ? [...questionLines(questions), await firstStep(context.directory)]
    : standingLines(await loops.look(row), questions, Date.now());
}

/** What cannot be read is said; the commands are shown all the same. */
export async function execute(context: Context): Promise<number> {
  context.out(folded(commands, process.stdout));
  const lines = await standing(context).catch((error: Error) => [`note: ${error.message}`]);
  for (const line of lines) context.print(line);
  return 0;
}
