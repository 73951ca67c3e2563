// Says each setting as a command line option, for --help and the docs.
import { environmentName, type Field, fieldOf, flagName, type Key, type Kind, keys } from './fields.ts';

export interface Option {
  readonly key: Key;
  /** As commander takes it: `-n, --max-iterations <number>`. */
  readonly flags: string;
  readonly description: string;
  readonly example: string;
  readonly environment: string;
  readonly isRepeatable: boolean;
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
  commands: ' <command>',
};

export function options(): readonly Option[] {
  return keys.map(key => {
    const field: Field = fieldOf(key);
    const isRepeatable = field.kind === 'names' || field.kind === 'commands';
    return {
      key,
      flags: `${field.short === undefined ? '' : `-${field.short}, `}${flagName(key)}${placeholders[field.kind]}`,
      description: field.description,
      example: field.kind === 'truth' ? flagName(key) : `${flagName(key)} ${quoted(field.example)}`,
      environment: environmentName(key),
      isRepeatable,
    };
  });
}

function quoted(example: string): string {
  return /^[A-Za-z0-9._:,/-]+$/.test(example) ? example : `'${example}'`;
}
