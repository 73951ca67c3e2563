// The command table as a command line: names, flags, help and examples from one place; each command is one file.

import { relative } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { storeError } from '../app/app.ts';
import type { StoreFailure } from '../ledger/ledger.ts';
import { looksSecret } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';
import { capitalized } from '../text/format.ts';
import { version } from '../version.ts';
import { type CommandRow, commands, nameOf } from './command-table.ts';
import { type Context, type Flags, makeContext } from './context.ts';
import { globalFlags, hasFlag, leadingFlags, settledFlags, unknownVariables } from './global-flags.ts';
import { withJson } from './output/said.ts';

/** Commander's words as a sentence of ours. */
const plainMessage = (error: CommanderError): string =>
  capitalized(
    error.message
      .replace(/^error: /, '')
      .replace(/\s*\(Did you mean (.*)\?\)$/s, '; did you mean $1?')
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[^.?]$/, '$&.'),
  );

/** Every process of this machine can see the words of a command line, so a key among them is refused (B19). */
function refuseSecrets(words: readonly string[]): void {
  const at = words.findIndex(looksSecret);
  const word = words[at];
  if (word === undefined) return;
  const before = words[at - 1] ?? '';
  const name = /^(--?[a-z-]+)=/.exec(word)?.[1] ?? (before.startsWith('--') && before !== '--' ? before : undefined);
  throw new UsageError(
    `${name === undefined ? 'An argument' : `The value of ${name}`} looks like a secret, and every process on this machine can see it (ps).`,
    'Use an environment variable, a file, or - for standard input where a text is asked for.',
  );
}

/** The row that the words name, as far as they name one. */
const namedRow = (words: readonly string[]): CommandRow | undefined =>
  commands.find(row => nameOf(row).every((word, at) => words[at] === word));

/** The rows below a first word that is no command itself: `ralph checkpoint list`. */
const rowsBelow = (group: string | undefined): readonly CommandRow[] =>
  commands.filter(row => nameOf(row).length > 1 && nameOf(row)[0] === group);

/** `ralph help WORDS` of something that is not there is a typo: parsing the words alone says so and suggests. */
function helpWords(words: readonly string[]): readonly string[] {
  const isGroup = words.length === 1 && rowsBelow(words[0]).length > 0;
  return isGroup || namedRow(words) !== undefined ? [...words, '--help'] : words.slice(0, 2);
}

const globalNames = globalFlags.map(one => one.flags).join(', ');

/** Its own and the global ones, which stand in the help of none. */
function flagsOf(row: CommandRow): readonly Option[] {
  const own = (row.options ?? []).map(option => {
    const flag = new Option(option.flags, option.description);
    if (option.repeatable) flag.argParser((value: string, all: readonly string[] = []) => [...all, value]);
    if (flag.required || option.isSetting) flag.negate = false; // `--no-progress 5` sets a number, it denies nothing
    return flag;
  });
  const others = globalFlags.filter(({ flags }) => !hasFlag(row, flags));
  return [...own, ...others.map(({ flags, description }) => new Option(flags, description).hideHelp())];
}

/** Without its flags where it is not asked for: a start pays for each. */
function addCommand(program: Command, row: CommandRow, typed: readonly string[], done: (code: number) => void): void {
  const name = nameOf(row);
  const [group] = name.length > 1 ? name : [];
  const parent =
    group === undefined
      ? program
      : (program.commands.find(one => one.name() === group) ?? quietly(program.command(group)).helpCommand(false));
  const made = parent.command(row.usage.slice(group === undefined ? 0 : group.length + 1)).description(row.summary);
  for (const option of typed.includes(name.at(-1) ?? '') ? flagsOf(row) : []) made.addOption(option);
  made.addHelpText(
    'after',
    `\nExamples:\n${row.examples.map(example => `  ${example}`).join('\n')}\n\nEvery command takes ${globalNames}.`,
  );
  made.action(async (...given: unknown[]) => {
    const flags = settledFlags(row, name.join(' '), given.at(-2) as Flags, process.env);
    const words = given.slice(0, -2).flat() as (string | undefined)[]; // `<id...>` is a list
    const context = makeContext(flags['quiet'] === true && !hasFlag(row, '--quiet'));
    for (const one of await unknownVariables(context.env)) context.say(`note: ${one}`);
    try {
      if (row.changes && flags['dryRun'] !== true) {
        const { refuseInsideAgent } = await import('./inside-agent.ts');
        await refuseInsideAgent(context, name.join(' '), words);
      }
      const { execute } = await row.load();
      const work = (own: Context): Promise<number> => execute(own, words, flags);
      done(await (flags['json'] === true ? withJson(context, hasFlag(row, '--json'), work) : work(context)));
    } catch (error) {
      const failure = (error as { failure?: StoreFailure } | undefined)?.failure;
      throw failure === undefined ? error : storeError(failure);
    } finally {
      await context.close();
    }
  });
}

/** We say ourselves what is wrong, and only then end. */
const quietly = (one: Command): Command =>
  one.exitOverride().configureOutput({ writeErr: () => {}, writeOut: text => void process.stdout.write(text) });

/** `unknown-command`, `unknown-option`, `missing-argument`: commander's own, as every id of ours is written. */
const codeOf = ({ code }: CommanderError): string =>
  code.replace(/^commander\./, '').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

function usageError(error: CommanderError, words: readonly string[]): UsageError {
  const [first] = words;
  if (error.code === 'commander.help') {
    const below = rowsBelow(first).map(row => nameOf(row)[1]);
    const words = `${first} needs one more word: ${below.join(' or ')}.`;
    return new UsageError(words, `See them: ralph help ${first}`, 2, 'missing-command');
  }
  const known = namedRow(words);
  const hint =
    known === undefined ? 'See the commands: ralph help' : `See its flags: ralph help ${nameOf(known).join(' ')}`;
  return new UsageError(plainMessage(error), hint, 2, codeOf(error));
}

/** Global flags before the command as if they stood behind its name. */
function ordered(typed: readonly string[]): readonly string[] {
  const [before, words] = leadingFlags(typed);
  if (words.length === 0) {
    if (before.includes('--json')) throw new UsageError('--json needs a command.', 'See the commands: ralph help');
    return words;
  }
  const isGroup = rowsBelow(words[0]).length > 0;
  const [between, rest] = isGroup ? leadingFlags(words.slice(1)) : [[], words.slice(1)];
  const named = [words[0] ?? '', ...rest];
  const row = namedRow(named);
  if (row === undefined) return named; // what is wrong with it is said all the same
  const at = nameOf(row).length;
  return [...named.slice(0, at), ...before, ...between, ...named.slice(at)];
}

export async function runProgram(typed: readonly string[]): Promise<number> {
  refuseSecrets(typed);
  const words = ordered(typed);
  const [first] = words;
  if (words.length === 0 || (words.length === 1 && ['--help', '-h', 'help'].includes(first ?? ''))) {
    process.stdout.write(await overview());
    return 0;
  }
  const asked = first === 'help' ? helpWords(words.slice(1)) : words;
  const named = namedRow(asked);
  let code = 0;
  const program = quietly(new Command('ralph'))
    .version(version(), '-V, --version', 'print the version')
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .helpCommand(false);
  // All of them only where none is named: each costs a start something, and a typo may be near any.
  for (const row of named === undefined ? commands : [named])
    addCommand(program, row, words, result => {
      code = result;
    });
  try {
    await program.parseAsync(asked, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError(error, words);
  }
}

// What `ralph` alone prints: a dozen lines, the ways to start first, and the next step for this folder.

async function nextStep(): Promise<string> {
  const { findDocument } = await import('../modes/find-document.ts');
  const directory = process.cwd();
  const found = await findDocument({ directory, home: '', flags: { dryRun: true } }).catch(() => undefined);
  if (found === undefined) return 'Next here: ralph demo   (there is no document in this folder)';
  const file = relative(directory, found.path);
  const project = /^\.artefacts\/([^/]+)\//.exec(file)?.[1];
  return `Next here: ralph ${project === undefined ? `run ${file}` : `execute ${project}`} --verify 'YOUR TESTS'`;
}

async function overview(): Promise<string> {
  return `Ralph works with coding agents until it is done and proven, inside your limits.

  ralph demo                see a whole loop in a minute, no key needed
  ralph run "GOAL" | FILE   a goal, PRD, prompt or checklist; once more: resumes
  ralph init | interview | execute NAME     a project, from its brief to its end
  ralph plan approve | run, review FILE, task list    steps; reviewers; tasks
  ralph status | inbox | answer | pause | resume | stop | tell      watch, steer
  ralph diff | undo | checkpoint list       what it changed, and the way back
  ralph report | explain | logs | events | loops list     what happened, and why
  ralph doctor | agents list | help COMMAND     what is installed; every flag

${await nextStep()}
`;
}
