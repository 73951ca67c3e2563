// The command table as a command line: names, flags, help and examples from one place; each command is one file.
import { Command, CommanderError, Option } from 'commander';
import { storeError } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { StoreFailure } from '../../ports/store.ts';
import { version } from '../../version.ts';
import { type CommandRow, commands } from './commands.ts';
import { makeContext } from './context.ts';
import { overview } from './overview.ts';

function plainMessage(error: CommanderError): string {
  const text = error.message
    .replace(/^error: /, '')
    .replace(/\n/g, ' ')
    .trim();
  return text === ''
    ? 'This command line is not understood.'
    : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\?\)\.$/, '?)').replace(/\.\.$/, '.');
}

function addCommand(parent: Command, row: CommandRow, done: (code: number) => void): void {
  const made = parent.command(row.usage).description(row.summary);
  for (const option of row.options ?? []) {
    const flag = new Option(option.flags, option.description);
    if (option.repeatable) flag.argParser((value: string, all: readonly string[] = []) => [...all, value]);
    if (flag.required) flag.negate = false; // `--no-progress 5` sets a number, it denies nothing
    made.addOption(flag);
  }
  made.option('--debug', 'show the stack of an internal error');
  made.addHelpText('after', `\nExamples:\n${row.examples.map(example => `  ${example}`).join('\n')}`);
  made.action(async (...given: unknown[]) => {
    const flags = given.at(-2) as Record<string, unknown>;
    const words = given.slice(0, -2) as (string | undefined)[];
    const context = makeContext();
    try {
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

export async function runProgram(words: readonly string[]): Promise<number> {
  const program = new Command('ralph');
  let code = 0;
  program
    .version(version(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: text => void process.stdout.write(text) })
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .helpCommand(false);
  for (const row of commands) {
    const group =
      row.group === undefined
        ? program
        : (program.commands.find(one => one.name() === row.group) ??
          program.command(row.group).description(`${row.group} commands`));
    group.exitOverride().configureOutput({ writeErr: () => {}, writeOut: text => void process.stdout.write(text) });
    addCommand(group, row, result => {
      code = result;
    });
  }
  const first = words[0];
  if (words.length === 0 || (words.length === 1 && (first === '--help' || first === '-h' || first === 'help'))) {
    process.stdout.write(await overview());
    return 0;
  }
  try {
    const asked = first === 'help' ? [...words.slice(1), '--help'] : words;
    await program.parseAsync(asked, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    const known = commands.find(row => row.usage.split(' ')[0] === first);
    throw new UsageError(
      plainMessage(error),
      known === undefined ? 'See the commands: ralph help' : `See its flags: ralph help ${first}`,
    );
  }
}
