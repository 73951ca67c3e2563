// Who does the work: as the flags say, else as the loop that goes on remembers, else the first agent that is installed.
import { keptRun } from '../../app/kept.ts';
import { foundAgent, type Staff } from '../../app/performers.ts';
import { type RunConfig, withAgent } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { Settings } from '../../core/limits.ts';
import type { ParsedDocument } from '../../ports/source.ts';
import type { Place } from './prepare.ts';

export async function withAgents(
  given: RunConfig,
  place: Place,
  remembered: () => Promise<Settings | undefined>,
): Promise<{ readonly run: RunConfig; readonly isFound: boolean }> {
  const before = await remembered();
  const run = before === undefined ? given : keptRun(given, before);
  if (run.settings.performers.length > 0) return { run, isFound: false };
  const found = await foundAgent({ config: run.config, ...place });
  return { run: await withAgent(run, found), isFound: true };
}

/** A flag that names a task which is not there would have no effect: that is an error; a file may speak of another document. */
export function strangeTasks(run: RunConfig, document: ParsedDocument, file: string): readonly string[] {
  const known = new Set(document.tasks.map(task => task.id));
  const strange = Object.keys(run.settings.performersByTask).filter(id => !known.has(id));
  if (strange.length === 0) return [];
  const sentence = `--task-agent: ${file} has no task ${strange.map(id => JSON.stringify(id)).join(', ')}`;
  if (run.isSet('taskAgent')) throw new UsageError(`${sentence}.`, 'Name tasks by their ids, as in US-001=codex.');
  return [`${sentence}; that setting has no effect here.`];
}

/** The terminal can be given only where there is one, and only to an agent that knows what to do with it. */
export function refuseWithoutTerminal({ performers }: Staff, hasTerminal: boolean): void {
  const cannot = Object.values(performers).find(one => !one.can.interactive);
  if (cannot !== undefined)
    throw new UsageError(`The agent ${cannot.name} cannot be given the terminal.`, 'Leave out --interactive.');
  if (!hasTerminal)
    throw new UsageError('An interactive agent needs a terminal.', 'Run it at one, or leave out --interactive.');
}
