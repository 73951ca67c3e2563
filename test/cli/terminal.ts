// A real terminal for a test: a line of shell in a tmux of its own, what stands on its screen, and keys typed into it.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
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
  const written = join(place.temporary, 'written-to-screen'); // grows with the screen: tmux is asked when there is news
  const tmux = (...more: readonly string[]): string =>
    execFileSync('tmux', ['-L', basename(place.root), '-f', '/dev/null', ...more], {
      env,
      cwd: place.project,
      encoding: 'utf8',
    });
  homeWithProbes(place.env['RALPH_HOME']!);
  const size = ['-x', String(columns), '-y', '40'];
  const copies = ['pipe-pane', '-t', 'one', `exec cat >>'${written}'`];
  tmux('new-session', '-d', '-s', 'one', ...size, line, ';', ...copies);
  const screen = (): string => tmux('capture-pane', '-p', '-J', '-S', '-200', '-t', 'one');
  return {
    env,
    screen,
    shows(wanted) {
      let seen = -1;
      return eventually(`the screen shows ${wanted}`, () => {
        const size = statSync(written, { throwIfNoEntry: false })?.size ?? 0;
        if (size === seen) return undefined;
        seen = size;
        const text = screen();
        return (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) ? text : undefined;
      });
    },
    keys: (...keys) => void tmux('send-keys', '-t', 'one', ...keys),
    end: () => void tmux('kill-server'),
  };
}
