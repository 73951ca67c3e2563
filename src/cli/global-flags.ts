// Rows of commands and their flags; the global flags stand before or after a command and mean the same for every one, some have a variable too.
import { environmentName, keys } from '../config/fields.ts';
import type { FlagGroup } from '../config/flags.ts';
import { UsageError } from '../text/errors.ts';
import type { Context, Flags, Words } from './context.ts';
import { beTold, isSet } from './terminal.ts';

export interface FlagRow {
  readonly flags: string;
  readonly description: string;
  readonly repeatable?: boolean;
  /** Given twice, nobody can tell which one is meant; of other flags the last one counts. */
  readonly isOnce?: boolean;
  /** `--no-commit` is a setting of that name rather than the denial of `--commit`. */
  readonly isSetting?: true;
  /** Under which heading help shows it, where a command has many. */
  readonly group?: FlagGroup;
}

interface CommandModule {
  execute(context: Context, words: Words, flags: Flags): Promise<number>;
}

export interface CommandRow {
  /** Its name, of one or two words, and what it takes: `run [what]`, `checkpoint list [loop]`. */
  readonly usage: string;
  readonly summary: string;
  /** Those of the settings are many: a getter makes them for the one command that is asked for. */
  readonly options?: readonly FlagRow[];
  readonly examples: readonly string[];
  /** Why `--json` is refused. */
  readonly printsNoJson?: string;
  /** Commands a loop or starts one: refused to agents (F34). */
  readonly changes?: true;
  readonly load: () => Promise<CommandModule>;
}

/** Commands of two words: what those that begin with the same word are about. */
export const commandGroups: Readonly<Record<string, string>> = {
  agents: 'the coding agents that Ralph can start: which are installed here, and whether they answer',
  audit: 'whether the recorded events of a loop are whole and unchanged',
  config: 'what the config of a project may set',
  checkpoint: 'saved states of the files and tasks of a loop: list and compare them, make one, go back to one',
  hook: 'loops in the session of an agent: let it call Ralph at the end of its turns, begin one',
  loops: 'all loops on this machine, those that are over too',
  mcp: 'the loops of this machine as tools for other programs that speak MCP',
  notes: 'what earlier loops in a repository found out, in a short file that you may change',
  plan: 'plans: documents of steps that you approve before Ralph carries them out',
  task: 'the tasks of a loop or of a document: look at them, decide about one, add one, convert lists',
};

// Flags that several commands share.

export const json: FlagRow = {
  flags: '--json',
  description: 'print JSON for programs; a run prints it when it comes to rest',
  group: 'output',
};
export const dryRun: FlagRow = {
  flags: '--dry-run',
  description: 'show what would happen and change nothing',
  group: 'start',
};
export const yes: FlagRow = { flags: '--yes', description: 'do not ask first', group: 'start' };

export const ascii: FlagRow = { flags: '--ascii', description: 'plain characters only', group: 'output' };
export const noInput: FlagRow = {
  flags: '--no-input',
  description: 'never ask anything at the terminal',
  group: 'start',
};
export const printing: readonly FlagRow[] = [
  { flags: '--verbose', description: 'show what the agent says while it works', group: 'output' },
  { flags: '--quiet', description: 'print only the ending', group: 'output' },
  json,
  ascii,
];

/** How a loop is run, whatever it works on. */
export const running: readonly FlagRow[] = [
  dryRun,
  yes,
  noInput,
  { flags: '--new', description: 'start a new loop although one of this file ended with work left', group: 'start' },
  { flags: '--force', description: 'allow / or the home folder as the place of work', group: 'start' },
  {
    flags: '--accept-settings',
    description: 'your own settings, which changed while an agent worked, are yours',
    group: 'start',
  },
  ...printing,
];

type Variables = Readonly<Record<string, string | undefined>>;

export const globalFlags: readonly FlagRow[] = [
  { flags: '--json', description: 'print one JSON object on standard output, also for an error' },
  { flags: '--quiet', description: 'no messages: only what was asked for, and errors' },
  { flags: '--no-input', description: 'never ask anything at the terminal; so does RALPH_NO_INPUT=1' },
  { flags: '--no-color', description: 'no color; so do NO_COLOR, CLICOLOR=0 and TERM=dumb' },
  { flags: '--debug', description: 'show the stack of an error' },
];

const isGlobal = (word: string): boolean => globalFlags.some(one => one.flags === word);

/** Those before the command, and the words without them. */
export function leadingFlags(words: readonly string[]): readonly [readonly string[], readonly string[]] {
  const first = words.findIndex(word => !isGlobal(word));
  const at = first === -1 ? words.length : first;
  return [words.slice(0, at), words.slice(at)];
}

export const hasFlag = ({ options = [] }: CommandRow, flag: string): boolean => options.some(one => one.flags === flag);

/** The flags as they count, for the whole process. */
export function settledFlags(row: CommandRow, name: string, typed: Flags, env: Variables): Flags {
  const flags = isSet(env['RALPH_NO_INPUT']) ? { ...typed, input: false } : typed;
  if (flags['json'] === true && row.printsNoJson !== undefined)
    throw new UsageError(`ralph ${name} has no --json: ${row.printsNoJson}.`, 'Leave --json out.', 2, 'no-json');
  if (flags['quiet'] === true && hasFlag(row, '--yes') && !hasFlag(row, '--quiet') && flags['yes'] !== true)
    throw new UsageError(`--quiet hides what ralph ${name} would ask you about.`, 'Say --yes too.');
  beTold({ color: flags['color'] !== false, input: flags['input'] !== false });
  return flags;
}

/** What Ralph reads beside its settings, and what it sets itself for agents and for its own wrapper. */
const ownVariables = ['HOME', 'NO_INPUT', 'ALLOW_NETWORK_HOME', 'ALLOW_NESTED', 'WRAPPER'].map(one => `RALPH_${one}`);

/** Variables that look like ours and do nothing; in an agent's run they are none of its concern. */
export async function unknownVariables(env: Variables): Promise<readonly string[]> {
  if (env['RALPH_LOOP'] !== undefined) return [];
  const known = [...ownVariables, ...keys.map(environmentName)];
  const unknown = Object.keys(env).filter(name => /^RALPH_[A-Z0-9_]+$/i.test(name) && !known.includes(name));
  if (unknown.length === 0) return [];
  const { nearest } = await import('../text/similarity.ts');
  return unknown.map(name => {
    const meant = nearest(name, known, 3);
    return `${name} is not a setting${meant === undefined ? ': it has no effect.' : `; did you mean ${meant}?`}`;
  });
}
