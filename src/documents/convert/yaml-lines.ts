// Writes one task as YAML, line by line: plain where that is safe, quoted as JSON where it is not.

type YamlValue = string | boolean | readonly string[];
export type YamlMember = readonly [key: string, value: YamlValue];

const plain = /^[A-Za-z](?:[A-Za-z0-9 _.()/'-]*[A-Za-z0-9.)])?$/;
const words = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What a block of text may hold so that every reader of YAML gives it back. */
const blockLine = /^(?:[\p{L}\p{N}\p{P}\p{S}](?:[\p{L}\p{M}\p{N}\p{P}\p{S} ]*[\p{L}\p{M}\p{N}\p{P}\p{S}])?)?$/u;

export const yamlScalar = (text: string): string =>
  plain.test(text) && !words.test(text)
    ? text
    : JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const isBlock = (text: string): boolean => text.includes('\n') && text.split('\n').every(line => blockLine.test(line));

function memberLines([key, value]: YamlMember): readonly string[] {
  if (typeof value === 'boolean') return [`${key}: ${value}`];
  if (typeof value === 'string') {
    if (!isBlock(value)) return [`${key}: ${yamlScalar(value)}`];
    return [`${key}: |-`, ...value.split('\n').map(line => (line === '' ? '' : `  ${line}`))];
  }
  if (key.startsWith('dep')) return [`${key}: [${value.map(yamlScalar).join(', ')}]`];
  return [`${key}:`, ...value.map(one => `  - ${yamlScalar(one)}`)];
}

/** The lines of a list item; `prefix` ends with the dash and its spaces. */
export function yamlItem(members: readonly YamlMember[], prefix: string): readonly string[] {
  const indent = ' '.repeat(prefix.length);
  return members
    .flatMap(memberLines)
    .map((line, row) => (row === 0 ? prefix + line : line === '' ? '' : indent + line));
}

/** The same in one line, between braces. */
export function yamlFlow(members: readonly YamlMember[]): string {
  const shown = ([key, value]: YamlMember): string => `${key}: ${JSON.stringify(value)}`;
  return `{${members.map(shown).join(', ')}}`;
}
