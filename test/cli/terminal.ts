// A real terminal for a test: a line of shell in a tmux of its own, what stands on its screen, and keys typed into it.
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { homeWithProbes } from '../processes/probes.ts';
import { eventually, type Scratch } from './kit.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string>>;
  screen(): string;
  shows(wanted: string | RegExp): Promise<string>;
  keys(...keys: readonly string[]): void;
  end(): void;
}

export const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ');

type TerminalPlace = Pick<Scratch, 'root' | 'project' | 'temporary' | 'env'>;

/** `bin`: a folder whose programs come first. The shell's line should not end, or the screen goes with it. */
export function openTerminal(place: TerminalPlace, bin: string, line: string, columns = 100): Terminal {
  const env = {
    ...place.env,
    PATH: `${bin}:${place.env['PATH']}`,
    TERM: 'xterm-256color',
    TMUX_TMPDIR: place.temporary,
  };
  const tmux = (...more: readonly string[]): string =>
    execFileSync('tmux', ['-L', basename(place.root), '-f', '/dev/null', ...more], {
      env,
      cwd: place.project,
      encoding: 'utf8',
    });
  homeWithProbes(place.env['RALPH_HOME']!);
  tmux('new-session', '-d', '-s', 'one', '-x', String(columns), '-y', '40', line);
  const screen = (): string => tmux('capture-pane', '-p', '-J', '-S', '-200', '-t', 'one');
  return {
    env,
    screen,
    shows: wanted =>
      eventually(`the screen shows ${wanted}`, () => {
        const text = screen();
        return (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) ? text : undefined;
      }),
    keys: (...keys) => void tmux('send-keys', '-t', 'one', ...keys),
    end: () => void tmux('kill-server'),
  };
}
