// The first spec.md of a project: questions that make a good brief, and how to tell that nobody has answered them yet.
import { fillTemplate } from '../template.ts';

/** One placeholder, `project_name`; people replace the text in .ralph/prompts/init.md. */
export const specTemplate = `# {{project_name}}

<!-- Write in your own words, as short as you like. Delete every line like this one, and every section that says nothing. -->

## What it is

<!-- Two or three sentences that somebody who has never heard of it would understand. -->

## Who it is for

<!-- Who will use it, and what can they do afterwards that they cannot do today? -->

## What it must do

<!-- One line each. "A list of 10,000 rows opens in under a second" says more than "fast". -->

## What it must not do

<!-- What stays as it is, what is left out on purpose, what would be a disaster. -->

## How we know that it is done

<!-- Commands to run and what they print, tests that pass, pages to open. Ralph proves the work by these. -->

## Examples

<!-- What goes in and what comes out. One real example is worth a page of description. -->

## What is already there

<!-- Files to read first, rules of the house, languages, versions and services that are given. -->

## Open questions

<!-- What you do not know yet. The interview asks about these first. -->
`;

export const specValues = (name: string): { readonly project_name: string } => ({ project_name: name });

const namedMax = 5;

const lines = (text: string): readonly string[] =>
  text
    .split(/\r\n|\r|\n/)
    .map(line => line.trim())
    .filter(line => line !== '');

/** True when everything in it came from the template: deleting hints or sections is no answer yet. */
export function isUntouchedSpec(text: string, name: string, template = specTemplate): boolean {
  const ours = new Set(lines(fillTemplate(template, specValues(name)).text));
  const theirs = lines(text.replace(/^\uFEFF/, ''));
  return theirs.length > 0 && theirs.every(line => ours.has(line));
}

/** Text that a reader of the rendered page does not see, but every agent does: said aloud, never taken out (B51). */
export function specNotices(text: string, name: string, template = specTemplate): readonly string[] {
  const ours = new Set(lines(fillTemplate(template, specValues(name)).text));
  const hidden: number[] = [];
  for (let at = text.indexOf('<!--'); at >= 0; ) {
    const close = text.indexOf('-->', at + 4);
    const end = close < 0 ? text.length : close + 3;
    if (!lines(text.slice(at, end)).every(line => ours.has(line))) hidden.push(at);
    at = text.indexOf('<!--', end);
  }
  if (hidden.length === 0) return [];
  const rows = hidden.slice(0, namedMax).map(at => text.slice(0, at).split('\n').length);
  const more = hidden.length > namedMax ? ` and ${hidden.length - namedMax} more` : '';
  const where = `${hidden.length === 1 ? 'line' : 'lines'} ${rows.join(', ')}${more}`;
  return [`spec.md holds comments that a rendered page hides (${where}): read them before an agent does.`];
}
