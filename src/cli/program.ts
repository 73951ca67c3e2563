// The command table as a command line: names, flags, help and examples from one place; each command is one file.

import { Command, CommanderError, Option } from 'commander';
import { storeError } from '../app/app.ts';
import type { StoreFailure } from '../ledger/ledger.ts';
import { looksSecret } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';
import { anyOf, capitalized } from '../text/format.ts';
import { version } from '../version.ts';
import { commands, nameOf } from './command-table.ts';
import { type Context, type Flags, makeContext } from './context.ts';
import {
  type CommandRow,
  type FlagRow,
  globalFlags,
  hasFlag,
  leadingFlags,
  settledFlags,
  unknownVariables,
} from './global-flags.ts';
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

/** `ralph help WORDS`, or a command with --help; nothing where the words name none: parsing them says so and suggests. */
async function helpText(words: readonly string[], isHelp: boolean): Promise<string | undefined> {
  const flag = words.findIndex(word => ['--help', '-h', '--'].includes(word));
  if (!isHelp && (flag < 0 || words[flag] === '--')) return undefined;
  const [first = ''] = words;
  const row = namedRow(words);
  const { commandHelp, groupHelp, topicHelp } = await import('./help/help.ts');
  const columns = process.stdout.columns || 80;
  if (row !== undefined) return commandHelp(row, columns);
  if (words.length > 1 && flag !== 1) return undefined;
  return rowsBelow(first).length > 0 ? groupHelp(first, columns) : topicHelp(first, columns);
}

const onlyOnce = (name: string) => (value: string, before: string | undefined) => {
  if (before === undefined) return value;
  throw new UsageError(`--${name} is given twice: ${before} and ${value}.`, 'Give it once.', 2, 'given-twice');
};

/**
 * Its own and the global ones, without their descriptions: help is ours. Where all that was typed is known, no others are made:
 * a start pays for each.
 */
function flagsOf(row: CommandRow, typed: readonly string[]): readonly Option[] {
  const rows = [...(row.options ?? []), ...globalFlags.filter(({ flags }) => !hasFlag(row, flags))];
  const given = typed.filter(word => word.startsWith('-')).map(word => word.replace(/=.*/s, ''));
  const isGiven = ({ flags }: FlagRow): boolean => flags.split(/,? /).some(word => given.includes(word));
  const meant = rows.filter(isGiven);
  const isKnown = (word: string): boolean => meant.some(({ flags }) => flags.split(/,? /).includes(word));
  return (given.every(isKnown) ? meant : rows).map(option => {
    const flag = new Option(option.flags);
    if (option.repeatable) flag.argParser((value: string, all: readonly string[] = []) => [...all, value]);
    if (option.isOnce) flag.argParser(onlyOnce(flag.name()));
    if (flag.required || option.isSetting) flag.negate = false; // `--no-progress 5` sets a number, it denies nothing
    return flag;
  });
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
  for (const option of typed.includes(name.at(-1) ?? '') ? flagsOf(row, typed) : []) made.addOption(option);
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

/** The words after the name of a command that are neither flags nor their values. */
function textWords(program: Command, name: readonly string[]): readonly string[] {
  let command: Command | undefined = program;
  for (const word of name) command = command?.commands.find(one => one.name() === word);
  return command?.args ?? [];
}

/** `unknown-command`, `unknown-option`, `missing-argument`: commander's own, as every id of ours is written. */
const codeOf = ({ code }: CommanderError): string =>
  code.replace(/^commander\./, '').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

async function usageError(error: CommanderError, program: Command, words: readonly string[]): Promise<UsageError> {
  const [first] = words;
  const known = namedRow(words);
  const name = known === undefined ? [] : nameOf(known);
  const isGroup = known === undefined && rowsBelow(first).length > 0;
  if (error.code === 'commander.help') {
    const below = rowsBelow(first).map(row => nameOf(row)[1]);
    const words = `${first} needs a command: ${anyOf(below.flatMap(word => word ?? []))}.`;
    return new UsageError(words, `See them: ralph help ${first}`, 2, 'missing-command');
  }
  if (!isGroup && ['commander.excessArguments', 'commander.unknownCommand'].includes(error.code)) {
    const { unquotedHint } = await import('./help/unquoted.ts');
    const texts = { command: name.join(' '), typed: words.slice(name.length), words: textWords(program, name) };
    const hint = unquotedHint(texts);
    const isTypo = plainMessage(error).endsWith('?'); // it suggests a command
    if (hint !== undefined && !isTypo) return new UsageError(hint, '', 2, 'unquoted-text');
  }
  const hint = `${known === undefined ? 'See the commands' : 'See its flags'}: ralph help`;
  return new UsageError(plainMessage(error), [hint, ...(isGroup ? [first] : name)].join(' '), 2, codeOf(error));
}

/** `ralph help WORD` of something that is not there. */
async function noSuchHelp(error: UsageError): Promise<UsageError> {
  const { topics } = await import('./help/topics.ts');
  return new UsageError(error.message, `${error.hint}; topics: ${Object.keys(topics).join(', ')}`, 2, error.code);
}

/** Of the command line as a whole: no command, only what is asked about Ralph. */
const isOverview = (words: readonly string[]): boolean =>
  words.length === 0 || (words.length === 1 && ['--help', '-h', 'help'].includes(words[0] ?? ''));

async function overview(): Promise<number> {
  const context = makeContext();
  try {
    return await (await import('./help/overview.ts')).execute(context);
  } finally {
    await context.close();
  }
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
  if (isOverview(words)) return overview();
  const isHelp = first === 'help';
  const asked = isHelp ? words.slice(1) : first === '-v' ? ['--version'] : words;
  const help = await helpText(asked, isHelp);
  if (help !== undefined) {
    process.stdout.write(help);
    return 0;
  }
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
    const refusal = await usageError(error, program, asked);
    throw isHelp ? await noSuchHelp(refusal) : refusal;
  }
}
