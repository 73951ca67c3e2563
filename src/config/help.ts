// Says each setting as a command line option, for --help and the docs.
import { environmentName, fieldOf, flagName, type Key, keys } from './fields.ts';
import { type Field, isList, type Kind } from './values.ts';

export interface Option {
  readonly key: Key;
  /** As commander takes it: `-n, --max-iterations <number>`. */
  readonly flags: string;
  readonly description: string;
  readonly example: string;
  readonly environment: string;
  readonly isRepeatable: boolean;
  /** Where it means something; everywhere unless said. */
  readonly modes?: readonly string[];
}

const placeholders: Readonly<Record<Kind, string>> = {
  whole: ' <number>',
  money: ' <amount>',
  duration: ' <duration>',
  deadline: ' <time>',
  line: ' <text>',
  path: ' <file>',
  slug: ' <name>',
  choice: ' <choice>',
  truth: '',
  names: ' <names>',
  roles: ' <roles>',
  commands: ' <command>',
  size: ' <size>',
  agent: ' <agent>',
  agents: ' <agents>',
  model: ' <model>',
  pairs: ' <name=agent>',
  words: ' <words>',
  paths: ' <path>',
  runs: ' <n/m>',
  judge: ' <agent>',
};

export function options(): readonly Option[] {
  return keys.map(key => {
    const field: Field = fieldOf(key);
    const isRepeatable = isList(field);
    return {
      key,
      flags: `${field.short === undefined ? '' : `-${field.short}, `}${flagName(key)}${placeholders[field.kind]}`,
      description: field.description,
      example: field.kind === 'truth' ? flagName(key) : `${flagName(key)} ${quoted(field.example)}`,
      environment: environmentName(key),
      isRepeatable,
      modes: field.modes,
    };
  });
}

function quoted(example: string): string {
  return /^[A-Za-z0-9._:,/-]+$/.test(example) ? example : `'${example}'`;
}
