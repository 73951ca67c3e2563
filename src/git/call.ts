// The one way in which we call git: nothing of the repository's or the user's set-up may run, ask, page or take locks for us.
import { type Collected, collect } from '../processes/run-detached.ts';
import { pathsOf, shown } from './paths.ts';
import { refuse } from './repository.ts';
import type { Refusal } from './workspace.ts';

type Setting = readonly [name: string, value: string];

/** Where and as whom git is called. */
export interface GitPlace {
  /** The working tree, or any folder in it. */
  readonly directory: string;
  /** PATH, HOME and XDG_CONFIG_HOME of the user, from which git takes its settings; nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** More settings for every call here, stronger than all files: content filters are switched off by these. */
  readonly settings?: readonly Setting[];
}

export interface GitOptions {
  readonly input?: string | Uint8Array;
  /** GIT_INDEX_FILE, GIT_DIR and the like, for this call alone. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly timeMsMax?: number;
  /** More output than this ends the call. */
  readonly bytesMax?: number;
}

const minute = 60_000;

/** Hooks, the file system monitor, pagers, prompts, signing, maintenance and helpers: all off (B88). */
const settings: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['core.sshCommand', 'false'],
  ['core.askPass', 'true'],
  ['core.quotePath', 'false'],
  ['credential.helper', ''],
  ['commit.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['protocol.allow', 'never'],
  ['diff.external', ''],
  ['log.showSignature', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['core.alternateRefsCommand', 'false'],
];

const variables: Readonly<Record<string, string>> = {
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
  LC_ALL: 'C',
};

export function git(place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<Collected> {
  return run(place, 'git', args, options);
}

/** A shell that calls git several times, all as `git` above would: for chains whose every start we would wait for. */
export function gitShell(
  place: GitPlace,
  script: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Collected> {
  return run(place, 'sh', ['-c', script, 'sh', ...args], options);
}

function run(place: GitPlace, command: string, args: readonly string[], options: GitOptions): Promise<Collected> {
  const { input, bytesMax, timeMsMax = minute } = options;
  return collect({
    command,
    args,
    directory: place.directory,
    environment: { ...place.environment, ...variables, ...settingVariables(place), ...options.variables },
    timeMsMax,
    bytesMax,
    input,
  });
}

/** Stronger than every file. Names may hold any character, `=` too, which `-c` could not say. */
function settingVariables({ settings: more = [] }: GitPlace): Readonly<Record<string, string>> {
  const all = [...settings, ...more];
  const pairs = all.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(all.length), ...Object.fromEntries(pairs) };
}

/** NUL-separated output as strings; for paths see `paths.ts`. */
export const listOf = ({ output }: Pick<Collected, 'output'>): readonly string[] =>
  output
    .toString('utf8')
    .split('\0')
    .filter(one => one !== '');

/** The last line of what git complained about, without its `fatal: `. */
export function complaint({ errors, code }: Collected): string {
  const lines = errors
    .trim()
    .split('\n')
    .filter(line => line !== '');
  return (lines.find(line => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? `exit code ${code}`).replace(
    /^(fatal|error): /,
    '',
  );
}

// Asks git for something that we need: its answer, or one sentence about why there is none.

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
