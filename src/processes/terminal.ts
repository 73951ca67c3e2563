// The terminal's modes, remembered and restored: an agent that is ended in the middle of its screen leaves modes behind.

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

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

/**
 * An agent with job control (a shell does that) leaves the terminal to a group of its own that is gone by then; whoever is
 * not in front and changes the terminal is stopped, unless it ignores TTOU. So a child that does takes it back for our
 * group, as far as there is a perl, and then sets the modes.
 */
const takeBack = `trap '' TTOU; perl -MPOSIX -e 'POSIX::tcsetpgrp(0, getpgrp())'; exec stty "$1"`;
const setModes = `trap '' TTOU; exec stty "$1"`;

/** A person's editor, as their shell would start it; its exit code. */
export function runEditor(editor: string, path: string, env: Readonly<Record<string, string | undefined>>): number {
  const ran = spawnSync('sh', ['-c', `${editor} "$1"`, 'edit', path], { stdio: 'inherit', env });
  return ran.status ?? 1;
}

/** Call it before the agent starts; what it returns puts everything back. Undefined when there is no terminal. */
export function rememberTerminal(): (() => void) | undefined {
  const modes = ask('stty', '-g');
  if (modes === undefined) return undefined;
  const script = isInFront() ? takeBack : setModes;
  return () => {
    ask('sh', '-c', script, 'restore', modes);
    try {
      const terminal = openSync('/dev/tty', 'w');
      writeSync(terminal, `${plainScreen}\r`);
      closeSync(terminal);
    } catch {
      // It is gone: there is nothing to tidy up.
    }
  };
}

/** Whose terminal it was before: a job in the background must not take it from the person's shell. */
function isInFront(): boolean {
  try {
    const [, , group, , , inFront] = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return group === inFront;
  } catch {
    return true;
  }
}

/** Speaks about our own stdin, whatever stdout is. */
function ask(command: string, ...args: readonly string[]): string | undefined {
  const asked = spawnSync(command, args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8', timeout: 2_000 });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}
