// Fields of values whose shape nobody guarantees: whatever is not what it should be is nothing.

export type Fields = Readonly<Record<string, unknown>>;

const none: Fields = {};
const detailCharsMax = 500;

/** Ordered: what tells most about a tool call comes first. */
const tellingNames = ['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description'];

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty one for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : none;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A whole number that can be counted with; 0 for everything that cannot. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.floor(value) : 0;
}

/** What a tool is asked to do, in a few words. */
export function detailOf(input: unknown): string {
  const fields = fieldsOf(input);
  const telling = tellingNames.map(name => fields[name]).find(value => typeof value === 'string' && value !== '');
  return textOf(telling).slice(0, detailCharsMax);
}

/** Without what is undefined: an optional field is there or it is not. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}
