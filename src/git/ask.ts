// Asks git for something that we need: its answer, or one sentence about why there is none.
import type { Refusal } from './workspace.ts';
import { complaint, type GitOptions, type GitPlace, git } from './call.ts';
import { pathsOf, shown } from './paths.ts';
import { refuse } from './repository.ts';

export interface Answer {
  readonly ok: true;
  readonly text: string;
  readonly output: Buffer;
}

export async function ask(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Answer | Refusal> {
  const answer = await git(place, args, options);
  if (answer.code !== 0) {
    const said = shown(Buffer.from(complaint(answer)).toString('latin1'));
    return refuse(`git ${args.find(one => !one.startsWith('-')) ?? ''} failed: ${said.replace(/\.$/, '')}.`);
  }
  return { ok: true, text: answer.output.toString('utf8').trimEnd(), output: answer.output };
}

/** The full name of what a revision means; empty when there is no such thing. */
export async function revision(place: GitPlace, name: string): Promise<string> {
  const found = await git(place, ['rev-parse', '--quiet', '--verify', '--end-of-options', name]);
  return found.code === 0 ? found.output.toString('utf8').trim() : '';
}

export interface RawChange {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
  readonly modeBefore: string;
  readonly objectBefore: string;
}

export const absent = '000000';
export const gitlink = '160000';

/** Of `diff-tree` and `diff-index`, with `--raw -z --no-renames`. */
export function rawChanges(answer: Pick<Answer, 'output'>): RawChange[] {
  const parts = pathsOf(answer);
  const found: RawChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [modeBefore = '', mode = '', objectBefore = '', object = ''] = parts[at]!.slice(1).split(' ');
    found.push({ path: parts[at + 1]!, mode, object, modeBefore, objectBefore });
  }
  return found;
}

export async function changesBetween(
  place: GitPlace,
  from: string,
  to: string,
): Promise<{ readonly ok: true; readonly changes: readonly RawChange[] } | Refusal> {
  const answer = await ask(place, ['diff-tree', '-r', '-z', '--raw', '--full-index', '--no-renames', from, to]);
  return answer.ok ? { ok: true, changes: rawChanges(answer) } : answer;
}

/** The tree without files, in the repository's own kind of hash. */
export const emptyTree = (place: GitPlace): Promise<Answer | Refusal> =>
  ask(place, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });

/** One entry for `update-index -z --index-info`; an absent one is removed. */
export const indexLine = ({ mode, object, path }: Pick<RawChange, 'mode' | 'object' | 'path'>): string =>
  `${mode === absent ? '0' : mode} ${object}\t${path}\0`;
