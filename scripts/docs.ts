// Writes the reference pages from the code itself, so that they cannot drift: `npm run docs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { descriptionOf, environmentName, fieldOf, flagName, type Key } from '../src/config/fields.ts';
import { settingGroups } from '../src/config/flags.ts';
import type { Field } from '../src/config/kinds.ts';
import { presetWords } from '../src/config/presets.ts';
import type { Event, EventType } from '../src/core/event.ts';
import { criteria } from '../src/core/termination.ts';
import { capitalized } from '../src/text/format.ts';
import { sentenceOf } from '../src/views/timeline.ts';
import { agentsPage } from './docs-agents.ts';
import { cliPage } from './docs-cli.ts';
import { shownEvents } from './docs-events.ts';
import { schemaPages } from './docs-schemas.ts';

const root = join(import.meta.dirname, '..');
const made = '<!-- Made by scripts/docs.ts from the code. Do not edit: run `npm run docs`. -->';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n');

function remarks(key: Key): string {
  const field: Field = fieldOf(key);
  const notes = [
    ...(field.unlimited ? ['`unlimited` is allowed while another limit is set.'] : []),
    ...(field.choices === undefined ? [] : [`One of ${field.choices.join(', ')}.`]),
    ...(field.userOnly ? ['A project’s own files cannot set it.'] : []),
    ...(field.formerly ?? []).map(name => `The older variable \`${name}\` is still read.`),
  ];
  return [descriptionOf(key), ...notes].join(' ');
}

function settingCells(key: Key): readonly string[] {
  const { short } = fieldOf(key);
  const flag = `${short === undefined ? '' : `-${short}, `}${flagName(key)}`;
  return [`\`${key}\``, `\`${flag}\``, `\`${environmentName(key)}\``, presetWords(key), remarks(key)];
}

function configPage(): string {
  return [
    made,
    '# Settings',
    [
      'Where a setting comes from, strongest first: a flag of `ralph run`, the environment, `.env` in the working folder,',
      '`ralph.config.json` in the working folder, `config.json` in the user’s configuration folder',
      '(`$XDG_CONFIG_HOME/ralph`, else `~/.config/ralph`), the preset of the mode: below, that of a list of tasks first, then the',
      'modes that differ; empty is off or none. An unknown key in a file is an error that names the nearest key. Files are',
      'JSON; comments and trailing commas are allowed.',
    ].join('\n'),
    [
      'Money is in US dollars (`5`, `$5`, `0.50`), a duration has units, largest first (`2h30m`, `90s`). 0, negative numbers',
      'and anything doubtful are refused. A flag whose value looks like a secret is refused, because flags show in `ps`.',
    ].join('\n'),
    ...Object.entries(settingGroups).flatMap(([group, keys]) => [
      `## ${capitalized(group)}`,
      table(['key in a file', 'flag', 'variable', 'preset', 'meaning'], keys.map(settingCells)),
    ]),
    '## Only in the environment',
    [
      '`RALPH_HOME` (where the database and the loop folders lie; an absolute path, else',
      '`$XDG_DATA_HOME/ralph`, else `~/.local/share/ralph`), `RALPH_NO_INPUT=1` (as `--no-input`) and',
      '`RALPH_ALLOW_NETWORK_HOME=1` (allow a database on a network file system, which can damage it). A `RALPH_*` variable that',
      'Ralph does not read is noted once on standard error.',
    ].join('\n'),
  ].join('\n\n');
}

/** The fields of a type literal, of an interface of the same file, or of both joined by `&`. */
function membersOf(body: ts.TypeNode | undefined, tree: ts.SourceFile): readonly ts.PropertySignature[] {
  if (body === undefined) return [];
  if (ts.isIntersectionTypeNode(body)) return body.types.flatMap(part => membersOf(part, tree));
  if (ts.isTypeLiteralNode(body)) return body.members.filter(ts.isPropertySignature);
  const named = tree.statements.filter(ts.isInterfaceDeclaration).find(one => one.name.text === body.getText());
  return named?.members.filter(ts.isPropertySignature) ?? [];
}

/** The fields of each event as `src/core/event.ts` declares them: name and type text. */
function eventFields(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(root, 'src/core/event.ts'), 'utf8');
  const tree = ts.createSourceFile('event.ts', text, ts.ScriptTarget.ESNext, true);
  const found = new Map<string, readonly string[]>();
  const look = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Fact') {
      const [type, body] = node.typeArguments ?? [];
      const names = membersOf(body, tree).map(
        one => `${one.name.getText()}${one.questionToken === undefined ? '' : '?'}`,
      );
      if (type !== undefined) found.set(type.getText().slice(1, -1), names);
    }
    ts.forEachChild(node, look);
  };
  look(tree);
  return found;
}

function eventsPage(): string {
  const fields = eventFields();
  const rows = (Object.keys(shownEvents) as EventType[]).map(type => {
    const { when, example } = shownEvents[type];
    const carries = (fields.get(type) ?? []).map(name => `\`${name}\``).join(', ');
    return [`\`${type}\``, when, carries, sentenceOf(example as Event)];
  });
  return [
    made,
    '# Events',
    [
      'The ledger of a loop consists of these and nothing else. Every event carries `type` and `at` (epoch ms); a deciding',
      'event carries `because`, the rule and its numbers. A field with `?` may be absent. Money is integer micro-dollars.',
      '`ralph events LOOP --json` prints one object per line, with `version`, `loop`, `seq` and `hash` added, and times in ISO 8601.',
    ].join('\n'),
    table(['event', 'when', 'carries', 'how it is told, for example'], rows),
    '## Why a loop ends',
    [
      'The first criterion that holds is the reason. A hard one reaches into a live iteration; the others wait until it is',
      'over, so that work which finishes on the last allowed iteration counts.',
    ].join('\n'),
    table(
      ['order', 'reason', 'hard'],
      criteria.map((row, order) => [String(order + 1), `\`${row.reason}\``, row.hard ? 'yes' : 'no']),
    ),
  ].join('\n\n');
}

/** Every generated page by its path. */
export function generatedPages(): Readonly<Record<string, string>> {
  const json = schemaPages(table);
  return {
    ...json.files,
    'docs/json.md': `${[made, json.page].join('\n\n')}\n`,
    'docs/agents.md': `${[made, agentsPage(table)].join('\n\n')}\n`,
    'docs/cli.md': `${[made, cliPage(table)].join('\n\n')}\n`,
    'docs/config.md': `${configPage()}\n`,
    'docs/events.md': `${eventsPage()}\n`,
  };
}

if (import.meta.main && process.argv.includes('--write')) {
  for (const [path, text] of Object.entries(generatedPages())) writeFileSync(join(root, path), text);
}
