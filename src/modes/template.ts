// Fills templates that people may replace by their own: one pass, so that a value never becomes template code.
import type { Problem } from '../documents/document.ts';

export type TemplateValues = Readonly<Record<string, string>>;

export interface Filled {
  /** What is no known placeholder stays as it was written. */
  readonly text: string;
  /** The placeholders that got a value. */
  readonly used: ReadonlySet<string>;
  /** One per unknown placeholder. */
  readonly problems: readonly Problem[];
}

const problemsMax = 20;
const placeholder = /\\?\{\{[ \t]{0,8}([A-Za-z_][\w.-]{0,63})[ \t]{0,8}\}\}/g;

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `{{name}}` becomes the value of that name, `\{{name}}` the text `{{name}}`; any other braces are just text. */
export function fillTemplate(template: string, values: TemplateValues): Filled {
  const used = new Set<string>();
  const unknown = new Map<string, number>();
  const text = template.replace(placeholder, (written: string, name: string, offset: number) => {
    if (written.startsWith('\\')) return written.slice(1);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) {
      used.add(name);
      return value;
    }
    if (!unknown.has(name)) unknown.set(name, offset);
    return written;
  });
  const known = Object.keys(values).sort().join(', ');
  const problems = [...unknown].slice(0, problemsMax).map(([name, offset]) => ({
    message: `{{${name}}} is no placeholder that Ralph knows.`,
    line: lineAt(template, offset),
    fix: `Known are ${known}; write \\{{${name}}} if you mean the text itself.`,
  }));
  return { text, used, problems };
}
