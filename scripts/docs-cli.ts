// The page of all commands: what several of them share stands once, then each has its sentence, an example, its own flags.
import { commands, nameOf } from '../src/cli/command-table.ts';
import { type CommandRow, commandGroups, type FlagRow, globalFlags } from '../src/cli/global-flags.ts';
import { exitCodes, topics } from '../src/cli/help/topics.ts';
import { settingFlags } from '../src/config/flags.ts';
import { capitalized } from '../src/text/format.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

const commandsForShared = 3;
/** Fewer than these need no table. */
const fewFlags = 2;

const sameFlag = (one: FlagRow, other: FlagRow): boolean =>
  one.flags === other.flags && one.description === other.description;
const isGlobal = ({ flags }: FlagRow): boolean => globalFlags.some(one => one.flags === flags);
const ownFlags = (row: CommandRow): readonly FlagRow[] =>
  (row.options ?? []).filter(one => !one.isSetting && !isGlobal(one));
const takers = (flag: FlagRow): readonly CommandRow[] =>
  commands.filter(row => ownFlags(row).some(one => sameFlag(one, flag)));
const isShared = (flag: FlagRow): boolean => takers(flag).length >= commandsForShared;

function sharedFlags(): readonly FlagRow[] {
  const all = commands.flatMap(ownFlags).filter(isShared);
  return all.filter((flag, at) => all.findIndex(one => sameFlag(one, flag)) === at);
}

const flagCells = ({ flags, description }: FlagRow): readonly string[] => [`\`${flags}\``, capitalized(description)];

/** The settings that every mode knows. */
const common = settingFlags([]).map(one => one.flags);

/** The settings where a command takes all that its mode knows, else by name; then the flags that it shares with others. */
function alsoTakes(row: CommandRow): string {
  const settings = (row.options ?? []).filter(one => one.isSetting);
  const takesAll = common.every(flags => settings.some(one => one.flags === flags));
  const named = [...(takesAll ? [] : settings), ...ownFlags(row).filter(isShared)];
  const names = named.map(({ flags }) => `\`${/--[a-z-]+/.exec(flags)?.[0]}\``);
  const all = [...(takesAll ? ['the [settings](config.md) of its mode as flags'] : []), ...names];
  return all.length === 0 ? '' : ` Takes ${all.join(', ')}.`;
}

function commandSection(row: CommandRow, level: string, table: Table): string {
  const own = ownFlags(row).filter(one => !isShared(one));
  const [example = ''] = row.examples;
  const isFew = own.length <= fewFlags;
  const few = isFew ? own.map(flag => `\n* ${flagCells(flag).join(': ')}`) : [];
  return [
    `${level} ralph ${row.usage}`,
    `${capitalized(row.summary)}.${alsoTakes(row)}\nExample: \`${example}\`${few.join('')}`,
    ...(isFew ? [] : [table(['flag', 'meaning'], own.map(flagCells))]),
  ].join('\n\n');
}

/** Commands in the order of the table; those of a group stand below its own heading, where the first of them is. */
function sections(table: Table): readonly string[] {
  return commands.flatMap((row, at) => {
    const [group = '', second] = nameOf(row);
    if (second === undefined) return [commandSection(row, '##', table)];
    const isFirst = commands.findIndex(one => nameOf(one)[0] === group) === at;
    const heading = isFirst ? [`## ralph ${group}`, `${capitalized(commandGroups[group] ?? group)}.`] : [];
    return [...heading, commandSection(row, '###', table)];
  });
}

export function cliPage(table: Table): string {
  return [
    '# Commands',
    [
      '`ralph` alone prints an overview, `ralph help COMMAND` the flags and examples of one command, `ralph version` (also',
      '`-v`, `--version`) the version. Data goes to standard output, messages to standard error.',
      '`[loop]` is a name, an id, or the start of either; without one, the newest loop of this folder is meant, and where this',
      'folder has none, the newest of all by a command that only looks; `audit verify` means every loop then. A loop whose name',
      'another loop of this machine has gets an ending to it (`shop-0d3d20`).',
      `\`ralph help TOPIC\` explains ${Object.keys(topics)
        .map(name => `\`${name}\``)
        .join(', ')}.`,
      'How the most used commands look at a terminal: [screens.md](screens.md).',
    ].join('\n'),
    '## Flags that commands share',
    [
      'Commands that start a loop take every [setting](config.md) that their mode knows as a flag: `--max-iterations 10`.',
      'These flags mean the same wherever they are taken; each command below names which of them it takes.',
    ].join('\n'),
    table(
      ['flag', 'meaning'],
      [
        ...sharedFlags().map(flagCells),
        ...globalFlags.map(one => [`\`${one.flags}\``, `${capitalized(one.description)} (every command)`]),
      ],
    ),
    ...sections(table),
    '## Exit codes',
    table(
      ['code', 'meaning', 'what to do'],
      exitCodes.map(({ code, means, next }) => [code, capitalized(means), capitalized(next)]),
    ),
  ].join('\n\n');
}
