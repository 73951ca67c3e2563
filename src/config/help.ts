// Command line options of the settings, for --help and the docs.
import { environmentName, fieldOf, flagName, type Key, keys } from './fields.ts';
import { type Field, kinds } from './values.ts';

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

export function options(): readonly Option[] {
  return keys.map(key => {
    const field: Field = fieldOf(key);
    const { placeholder, isList } = kinds[field.kind];
    return {
      key,
      flags: `${field.short === undefined ? '' : `-${field.short}, `}${flagName(key)}${placeholder}`,
      description: field.description,
      example: field.kind === 'truth' ? flagName(key) : `${flagName(key)} ${quoted(field.example)}`,
      environment: environmentName(key),
      isRepeatable: isList === true,
      modes: field.modes,
    };
  });
}

function quoted(example: string): string {
  return /^[A-Za-z0-9._:,/-]+$/.test(example) ? example : `'${example}'`;
}
