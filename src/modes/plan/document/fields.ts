// The fields of a plan's step by name, and how the value of each is read from its lines.

import type { Json } from '../../../core/task.ts';
import { type TextLine, textLines } from '../../../documents/edits.ts';
import { ProblemList } from '../../../documents/problems.ts';
import { readYaml } from '../../../documents/yaml.ts';
import { isFields } from '../../../text/fields.ts';
import { bareName, editDistance } from '../../../text/similarity.ts';
import { shown } from '../../../text/text.ts';

const names = ['Dependencies', 'MCP Server', 'Tool', 'Params', 'File', 'Content', 'Message', 'Criteria'] as const;
export type PlanFieldName = (typeof names)[number];
/** Other words for the same thing: too likely to be passed over in silence, too loose to be obeyed. */
const otherWords: Readonly<Record<string, PlanFieldName>> = {
  dependson: 'Dependencies',
  dependency: 'Dependencies',
  requires: 'Dependencies',
  server: 'MCP Server',
  mcp: 'MCP Server',
  arguments: 'Params',
  args: 'Params',
  parameters: 'Params',
  path: 'File',
  filename: 'File',
  filepath: 'File',
  body: 'Content',
  text: 'Message',
};
const slipsMax = 2;

/** Case, spaces, hyphens and underscores do not matter. */
export function fieldNameOf(written: string): PlanFieldName | undefined {
  return names.find(name => bareName(name) === bareName(written));
}

/** The field that an unknown one was probably meant to be. */
export function nearFieldName(written: string): PlanFieldName | undefined {
  const name = bareName(written);
  return otherWords[name] ?? names.find(each => name.length >= 4 && editDistance(name, bareName(each)) <= slipsMax);
}

/** One line; a pair of quotes or backticks round the whole of it is left out. */
export function oneLine(raw: string): string {
  const words = raw.trim();
  return /^(["'`])([^"'`]*)\1$/.exec(words)?.[2] ?? words;
}

/** A problem by its place within the raw value. */
export type AddFault = (at: number, message: string, fix: string) => void;

/**
 * A text over one or several lines: `|` and `>` as in YAML, a whole in quotes as in YAML, one fenced block as what stands
 * in it, and everything else as it is written, without the indentation that its lines share.
 */
export function longText(raw: string, add: AddFault): string {
  const words = raw.trim();
  const block = /^([|>][-+]?)[ \t]*(?:\r?\n|$)/.exec(words);
  if (block !== null) return blockText(block[1]!, raw, add);
  if (/^"(?:[^"\\]|\\.)*"$/s.test(words) || /^'(?:[^']|'')*'$/s.test(words)) {
    const quoted = yamlValue(words, add, raw.indexOf(words));
    return typeof quoted === 'string' ? quoted : '';
  }
  return raw.includes('\n') ? writtenLines(raw) : words;
}

/** Indented anew, so that tabs, which YAML refuses there, are as good as spaces. */
function blockText(style: string, raw: string, add: AddFault): string {
  const lines = dedented([...textLines(raw, 0)].slice(1));
  if (lines.length === 0) add(0, 'This block of text is empty.', 'Write its lines below it, indented.');
  const source = `value: ${style}\n${lines.map(line => (line.trim() === '' ? '\n' : `  ${line}\n`)).join('')}`;
  const value = yamlValue(source, (_at, message, fix) => add(0, message, fix), 0);
  return isFields(value) && typeof value['value'] === 'string' ? value['value'] : '';
}

function writtenLines(raw: string): string {
  const [first, ...rest] = [...textLines(raw, 0)];
  const lines = dedented(rest);
  const opened = /^(`{3,}|~{3,})/.exec(lines[0] ?? '')?.[1];
  const isFenced =
    first!.text.trim() === '' && opened !== undefined && lines.length > 1 && lines.at(-1)!.trim() === opened;
  if (isFenced && !lines.slice(1, -1).some(line => line.trim() === opened)) {
    return lines.length === 2 ? '' : `${lines.slice(1, -1).join('\n')}\n`;
  }
  return first!.text.trim() === '' ? `${lines.join('\n')}\n` : [first!.text.trim(), ...lines].join('\n');
}

function dedented(lines: readonly TextLine[]): readonly string[] {
  const indents = lines.filter(({ text }) => text.trim() !== '').map(({ text }) => text.search(/\S/));
  const shared = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  return lines.map(line => line.text.slice(shared));
}

/** `none`, or ids with commas between; `Step 2` is as good as `step_2`. */
export function idList(raw: string, add: AddFault): readonly string[] {
  const list = oneLine(raw).replace(/^\[(.*)\]$/s, '$1');
  if (list.trim() === '') return [];
  const parts = list.split(',').map(part => oneLine(part));
  if (parts.length === 1 && /^none$/i.test(parts[0]!)) return [];
  const ids = parts.map(part => {
    const number = /^step[_ -]?0*(\d{1,6})$/i.exec(part)?.[1];
    if (number !== undefined) return `step_${number}`;
    if (part === '') add(0, 'Dependencies has a comma too many.', 'Remove it.');
    else if (/^none$/i.test(part))
      add(0, 'Dependencies says none and more than that.', 'Write none alone, or only the steps.');
    else add(0, `Dependencies names ${shown(part)}.`, 'Write none, or step_1, step_2.');
    return '';
  });
  return [...new Set(ids.filter(id => id !== ''))];
}

/** A criterion on the line itself, or one on each line of a list below it. */
export function criteria(raw: string): readonly string[] {
  const found: string[] = [];
  for (const line of textLines(raw, 0)) {
    const words = line.text.trim();
    const entry = /^[-*+][ \t]+(.*)$/s.exec(words)?.[1] ?? words;
    const isMore = entry === words && line.start > 0 && found.length > 0;
    if (entry === '') continue;
    if (isMore) found[found.length - 1] += ` ${entry}`;
    else found.push(entry);
  }
  return found;
}

const paramsCharsMax = 64 * 1024;
const paramsDepthMax = 20;
type Members = { readonly [key: string]: Json };

/** B47: JSON values only, bounded in size and depth, also after aliases are written out. */
export function params(raw: string, add: AddFault): Members {
  const refused = (message: string, fix: string): Members => {
    add(0, `Params ${message}.`, fix);
    return {};
  };
  if (raw.length > paramsCharsMax)
    return refused('is larger than 64 kB', 'Put the text into a file, and name the file.');
  if (writtenDepth(raw) > paramsDepthMax) return refused(tooDeep.message, tooDeep.fix);
  const value = raw.trim() === '' ? {} : yamlValue(raw, add, 0);
  if (value === undefined) return {};
  if (!isFields(value)) return refused('must be names with values', 'Write { name: value, other: "text" }.');
  const rule = brokenRule(value, 1);
  if (rule !== undefined) return refused(rule.message, rule.fix);
  const text = JSON.stringify(value);
  if (text.length > paramsCharsMax)
    return refused('is larger than 64 kB once its aliases are written out', 'Write less.');
  return JSON.parse(text) as Members; // plain objects: what the YAML reader gives has no prototype
}

const tooDeep = { message: `is nested deeper than ${paramsDepthMax} levels`, fix: 'Flatten it.' };

/** How deep braces, brackets and dashes in a row lead outside of quotes: the YAML reader takes long over thousands. */
function writtenDepth(raw: string): number {
  let depth = 0;
  let deepest = 0;
  let dashes = 0;
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at]!;
    if (character === ' ' || character === '\t') continue;
    dashes = /^[-?]\s/.test(raw.slice(at, at + 2)) ? dashes + 1 : 0;
    if ('[{'.includes(character)) depth++;
    else if (']}'.includes(character)) depth--;
    deepest = Math.max(deepest, depth, dashes);
    at = quoteEnd(raw, at);
  }
  return deepest;
}

/** The end of the quoted text that opens here; the same place when none does. */
function quoteEnd(raw: string, from: number): number {
  const quote = raw[from];
  // In flow style a quote opens a text only where a value may begin; elsewhere it is an apostrophe.
  if ((quote !== '"' && quote !== "'") || !/[[{,:\s]/.test(raw[from - 1] ?? ' ')) return from;
  let at = from + 1;
  while (at < raw.length && raw[at] !== quote) at += raw[at] === '\\' && quote === '"' ? 2 : 1;
  return at;
}

function brokenRule(value: Json, depth: number): typeof tooDeep | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { message: 'holds a number with more digits than are kept', fix: 'Put the number in quotes.' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > paramsDepthMax) return tooDeep;
  for (const part of Object.values(value)) {
    const rule = brokenRule(part as Json, depth + 1);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** Undefined when it is no YAML that may be used; `shift` leads from a place in the source to one in the raw value. */
function yamlValue(source: string, add: AddFault, shift: number): Json | undefined {
  const problems = new ProblemList();
  const read = readYaml(source, problems);
  for (const { place, message, fix } of problems.entries) add(Math.max(0, (place as number) + shift), message, fix);
  return problems.count > 0 ? undefined : read?.value;
}
