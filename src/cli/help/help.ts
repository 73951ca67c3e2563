// The help of a command and of a command group as text: what it does, examples, then flags under headings, at any width.
import { capitalized } from '../../text/format.ts';
import { commands, nameOf } from '../command-table.ts';
import { type CommandRow, commandGroups, type FlagRow, globalFlags, hasFlag } from '../global-flags.ts';
import { wrapped } from '../terminal.ts';
import { topics } from './topics.ts';

/** Headings in the order in which they are shown. */
const headings = {
  start: 'Start',
  agent: 'Agent',
  limits: 'Limits',
  checks: 'Checks',
  git: 'Git',
  questions: 'Questions',
  mode: 'Mode and document',
  output: 'Output',
} as const satisfies Readonly<Record<NonNullable<FlagRow['group']>, string>>;

const helpFlag: FlagRow = { flags: '-h, --help', description: 'this help' };
const columnsMax = 100;
/** Below this the meaning of a flag stands under it instead of beside it. */
const columnsForTwo = 76;

type Pair = readonly [term: string, meaning: string];

/** A term and what it means, side by side where there is room. */
function paragraph([term, meaning]: Pair, indent: number, columns: number): string {
  const below = `\n${' '.repeat(indent)}`;
  const lines = wrapped(capitalized(meaning), columns - indent - 1, true).join(below);
  return term.length + 4 <= indent ? `  ${term.padEnd(indent - 2)}${lines}` : `  ${term}${below}${lines}`;
}

const widthOf = (columns: number): number => Math.min(columns, columnsMax);

function list(pairs: readonly Pair[], columns: number): string {
  const width = widthOf(columns);
  const longest = Math.max(...pairs.map(([term]) => term.length));
  const indent = width < columnsForTwo ? 6 : Math.min(longest + 4, 30);
  return pairs.map(pair => paragraph(pair, indent, width)).join('\n');
}

const prose = (text: string, columns: number): string =>
  wrapped(`${capitalized(text)}.`, widthOf(columns) - 1).join('\n');

const isOpen = (text: string): boolean => ["'", '"'].some(quote => text.split(quote).length % 2 === 0);

/** A line that is too long goes on at its next flag, as a shell takes it. */
function example(line: string, columns: number): string {
  const rows: string[] = [];
  for (const part of line.split(/ (?=--?[a-z])/)) {
    const longer = `${rows.at(-1)} ${part}`;
    const isQuoted = rows.length > 0 && isOpen(rows.join(' ')); // a text in quotes stays whole
    if (isQuoted || (rows.length > 0 && longer.length <= columns - 5)) rows[rows.length - 1] = longer;
    else rows.push(part);
  }
  return `  ${rows.join(' \\\n    ')}`;
}

const examplesOf = (examples: readonly string[], columns: number): string =>
  ['Examples:', ...examples.map(line => example(line, widthOf(columns)))].join('\n');

function flagSections(row: CommandRow, columns: number): readonly string[] {
  const flags = row.options ?? [];
  const everywhere = [...globalFlags.filter(one => !hasFlag(row, one.flags)), helpFlag];
  const section = (title: string, rows: readonly FlagRow[]): readonly string[] => {
    const pairs = rows.map(({ flags: term, description }) => [term, description] as const);
    return pairs.length === 0 ? [] : [`${title}:\n${list(pairs, columns)}`];
  };
  if (!flags.some(one => one.isSetting)) return section('Flags', [...flags, ...everywhere]);
  const grouped = Object.entries(headings).flatMap(([group, title]) =>
    section(
      title,
      flags.filter(one => one.group === group),
    ),
  );
  const others = flags.filter(one => one.group === undefined);
  return [...section('Flags', others), ...grouped, ...section('Every command', everywhere)];
}

export function commandHelp(row: CommandRow, columns: number): string {
  const parts = [
    `Usage: ralph ${row.usage} [flags]`,
    prose(row.summary, columns),
    examplesOf(row.examples, columns),
    ...flagSections(row, columns),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** `ralph task --help`. */
export function groupHelp(group: string, columns: number): string {
  const rows = commands.filter(row => nameOf(row).length > 1 && nameOf(row)[0] === group);
  const parts = [
    `Usage: ralph ${group} COMMAND`,
    prose(commandGroups[group] ?? group, columns),
    `Commands:\n${list(
      rows.map(row => [row.usage, row.summary]),
      columns,
    )}`,
    examplesOf(
      rows.slice(0, 4).flatMap(row => row.examples.slice(0, 1)),
      columns,
    ),
    `The flags of one of them: ralph help ${nameOf(rows[0]!).join(' ')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** `ralph help exit-codes`. */
export function topicHelp(name: string, columns: number): string | undefined {
  const topic = topics[name];
  return topic === undefined ? undefined : `${prose(topic.summary, columns)}\n\n${list(topic.rows, columns)}\n`;
}
