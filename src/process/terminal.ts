// Gives the terminal back as it was: an agent that is ended in the middle of its screen leaves modes behind.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';

/** Ends the other screen, mouse and paste reports, hidden cursor, colours and keyboard modes; harmless where none is on. */
const plainScreen = [
  '\x1b[?1049l',
  '\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l',
  '\x1b[?2004l',
  '\x1b[?1004l',
  '\x1b[<u',
  '\x1b[?25h',
  '\x1b[0m',
].join('');

/** Call it before the agent starts; what it returns puts everything back. Undefined when there is no terminal. */
export function rememberTerminal(): (() => void) | undefined {
  const modes = stty('-g');
  if (modes === undefined) return undefined;
  return () => {
    stty(modes);
    try {
      const terminal = openSync('/dev/tty', 'w');
      writeSync(terminal, `${plainScreen}\r`);
      closeSync(terminal);
    } catch {
      // It is gone: there is nothing to tidy up.
    }
  };
}

/** Speaks about our own stdin, whatever stdout is. */
function stty(word: string): string | undefined {
  const asked = spawnSync('stty', [word], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8', timeout: 2_000 });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}
