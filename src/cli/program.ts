// The command table as a command line: names, flags, help and examples from one place; each command is one file.

import { Command, CommanderError, Option } from 'commander';
import { storeError } from '../app/app.ts';
import type { StoreFailure } from '../ledger/ledger.ts';
import { looksSecret } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';
import { capitalized } from '../text/format.ts';
import { version } from '../version.ts';
import { type CommandRow, commands, everywhere, nameOf } from './command-table.ts';
import { makeContext } from './context.ts';

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

/** Without its flags where it is not asked for: a start pays for each. */
function addCommand(program: Command, row: CommandRow, typed: readonly string[], done: (code: number) => void): void {
  const name = nameOf(row);
  const [group] = name.length > 1 ? name : [];
  const parent =
    group === undefined
      ? program
      : (program.commands.find(one => one.name() === group) ?? quietly(program.command(group)).helpCommand(false));
  const made = parent.command(row.usage.slice(group === undefined ? 0 : group.length + 1)).description(row.summary);
  for (const option of typed.includes(name.at(-1) ?? '') ? (row.options ?? []) : []) {
    const flag = new Option(option.flags, option.description);
    if (option.repeatable) flag.argParser((value: string, all: readonly string[] = []) => [...all, value]);
    if (flag.required || option.isSetting) flag.negate = false; // `--no-progress 5` sets a number, it denies nothing
    made.addOption(flag);
  }
  for (const { flags, description } of everywhere) made.option(flags, description);
  made.action(async (...given: unknown[]) => {
    const flags = given.at(-2) as Record<string, unknown>;
    const words = given.slice(0, -2).flat() as (string | undefined)[]; // `<id...>` is a list
    const context = makeContext();
    try {
      if (row.changes && flags['dryRun'] !== true) {
        const { refuseInsideAgent } = await import('./inside-agent.ts');
        await refuseInsideAgent(context, name.join(' '), words);
      }
      const { execute } = await row.load();
      done(await execute(context, words, flags));
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

async function usageError(error: CommanderError, program: Command, words: readonly string[]): Promise<UsageError> {
  const [first] = words;
  const known = namedRow(words);
  const name = known === undefined ? [] : nameOf(known);
  const isGroup = known === undefined && rowsBelow(first).length > 0;
  if (error.code === 'commander.help') {
    const below = rowsBelow(first).map(row => nameOf(row)[1]);
    return new UsageError(`${first} needs one more word: ${below.join(' or ')}.`, `See them: ralph help ${first}`);
  }
  if (!isGroup && ['commander.excessArguments', 'commander.unknownCommand'].includes(error.code)) {
    const { unquotedHint } = await import('./help/unquoted.ts');
    const texts = { command: name.join(' '), typed: words.slice(name.length), words: textWords(program, name) };
    const hint = unquotedHint(texts);
    const isTypo = plainMessage(error).endsWith('?'); // it suggests a command
    if (hint !== undefined && !isTypo) return new UsageError(hint);
  }
  const hint = `${known === undefined ? 'See the commands' : 'See its flags'}: ralph help`;
  return new UsageError(plainMessage(error), [hint, ...(isGroup ? [first] : name)].join(' '));
}

/** `ralph help WORD` of something that is not there. */
async function noSuchHelp(error: UsageError): Promise<UsageError> {
  const { topics } = await import('./help/topics.ts');
  return new UsageError(error.message, `${error.hint}; topics: ${Object.keys(topics).join(', ')}`);
}

/** Of the command line as a whole: no command, only what is asked about Ralph. */
const isOverview = (words: readonly string[]): boolean =>
  words.length === 0 || (words.length === 1 && ['--help', '-h', 'help'].includes(words[0] ?? ''));

export async function runProgram(words: readonly string[]): Promise<number> {
  refuseSecrets(words);
  const [first] = words;
  if (isOverview(words)) {
    const context = makeContext();
    try {
      return await (await import('./overview.ts')).execute(context);
    } finally {
      await context.close();
    }
  }
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
