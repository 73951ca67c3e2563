// What the tests of goal and prompt mode share: agents that do something else in each iteration, in a small repository.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFrom } from '../git/template.ts';
import { eventually, type Scratch } from './kit.ts';
import { loopOf } from './repository.ts';

/** Shell words for each iteration in turn; the last ones for all that follow. */
export const agentOf = (...turns: readonly string[]): string => {
  const cases = turns.map((turn, at) => `${at === turns.length - 1 ? '*' : at + 1}) ${turn};;`);
  return `read -r _; case $RALPH_ITERATION in ${cases.join(' ')} esac`;
};

export const reports = (phase: string, completed: readonly string[], pending: readonly string[] = []): string =>
  `echo '<report>${JSON.stringify({ phase, completed, pending })}</report>'`;

/** The agent that hangs has begun: all of it is there to be killed. */
export const isAtWork = (place: Scratch, iteration: number): Promise<boolean> =>
  eventually(`the agent of iteration ${iteration} works`, () => {
    if (!existsSync(join(place.home, 'loops'))) return false;
    const log = join(place.home, 'loops', loopOf(place), `iterations/${iteration}/output.log`);
    return existsSync(log) && readFileSync(log, 'utf8').includes('agent at work');
  });

export function startRepository(place: Scratch, files: Readonly<Record<string, string>> = {}): void {
  startFrom({ 'README.md': '# shop\n', ...files }, place.project);
}

/** The first `ralph …` line among the next steps that begins so, as a person would type it. */
export function hinted(stderr: string, start: string): readonly string[] {
  const line = stderr.split('\n').find(one => one.trim().startsWith(start)) ?? '';
  return line
    .replace(/ +#.*$/, '')
    .trim()
    .split(' ')
    .slice(1);
}
