// What the tests of goal and prompt mode share: agents that do something else in each iteration, in a small repository.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, type Scratch } from './kit.ts';
import { git, loopOf } from './repository.ts';

/** Shell words for each iteration in turn; the last ones for all that follow. */
export const agentOf = (...turns: readonly string[]): string => {
  const cases = turns.map((turn, at) => `${at === turns.length - 1 ? '*' : at + 1}) ${turn};;`);
  return `cat > /dev/null; case $RALPH_ITERATION in ${cases.join(' ')} esac`;
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
  git(place, 'init', '-q', '-b', 'main');
  git(place, 'config', 'user.name', 'Ada');
  git(place, 'config', 'user.email', 'ada@example.org');
  for (const [name, text] of Object.entries({ 'README.md': '# shop\n', ...files })) place.put(name, text);
  git(place, 'add', '.');
  git(place, 'commit', '-q', '-m', 'first');
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
