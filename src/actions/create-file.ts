// The action create_file: makes the file that a step of a plan asks for, inside the vault or the repository, over no other.

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Activity, Assignment, Performer } from '../agents/performer.ts';
import type { Failure, FailureKind } from '../core/failure.ts';
import { isGit, pathInVault, pathProblem, reservedPart, segmentsOf } from '../text/step-path.ts';
import { type Made, makeFile } from './new-file.ts';

/** Doing it twice is as good as once: the same file with the same content is a success. */
export function createFile(roots: Roots): Performer {
  return fileAction('create_file', assignment => prepare(roots, assignment));
}

async function prepare(roots: Roots, { order }: Assignment): Promise<Prepared> {
  if (order?.type !== 'create_file') return failed('invalid', 'this is no order to make a file');
  const place = await placeOf(order.path, roots);
  if ('problem' in place) return failed('invalid', `the path ${shown(order.path)} ${place.problem}`);
  return { write: async () => told(place, await makeFile(place.parent, place.path, order.content)) };
}

const others = {
  content: 'is there already, with other content',
  folder: 'is there already, and is a folder',
  link: 'is there already, and is a link',
  special: 'is there already, and is no plain file',
} as const;

function told({ path, root }: Exclude<Place, { problem: string }>, made: Made): Written {
  const name = shown(pathBelow(root, path) ?? path);
  if (made.type === 'made') return { message: `Made ${name} in ${shown(root)}.` };
  if (made.type === 'same') return { message: `${name} is there already, with this content.` };
  if (made.type === 'moved') return failed('refused', `the folder of ${name} was moved or linked meanwhile`);
  return failed('refused', `${name} ${others[made.what]}`);
}

/** The rest of a path that was refused may be anything. */
function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200)).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, '\u00b7');
}

/** What an action that writes one file says in the end. */
export interface Written {
  readonly message: string;
  readonly failure?: Failure;
}

/** Checked before the record is made, written after it. */
export type Prepared = { readonly failure: Failure } | { readonly write: () => Promise<Written> };

export function fileAction(name: string, prepare: (assignment: Assignment) => Promise<Prepared>): Performer {
  return {
    name,
    can: { steer: false, resume: false, interactive: false, usage: false },
    async *perform(assignment, stop): AsyncGenerator<Activity, void, void> {
      const { message, failure } = await act(prepare, assignment, stop).catch(ofError);
      if (message !== '') yield { type: 'text', text: `${message}\n`, channel: 'output' };
      yield { type: 'ended', message, failure };
    },
  };
}

export const failed = (kind: FailureKind, detail: string): { message: ''; failure: Failure } => ({
  message: '',
  failure: { kind, detail },
});

async function act(
  prepare: (assignment: Assignment) => Promise<Prepared>,
  assignment: Assignment,
  stop: AbortSignal,
): Promise<Written> {
  if (stop.aborted) return failed('stopped', 'stopped before it began');
  const prepared = await prepare(assignment);
  if ('failure' in prepared) return { message: '', failure: prepared.failure };
  // Without a record nothing may happen: it could not be known after a crash.
  const mayGoOn = await unlessStopped(assignment.intend?.(true), stop);
  if (mayGoOn !== true || stop.aborted) return failed('stopped', 'it was called off before anything was written');
  return await prepared.write();
}

function unlessStopped<Value>(work: Promise<Value> | undefined, stop: AbortSignal): Promise<Value | undefined> {
  if (work === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined);
    stop.addEventListener('abort', giveUp, { once: true });
    if (stop.aborted) giveUp();
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', giveUp));
  });
}

function ofError(error: unknown): Written {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return failed('permission', `the file may not be written (${code})`);
  return failed('refused', `the file could not be written (${code ?? message})`);
}

type Place =
  /** `parent` is real as far as it exists: no link is left in it. */
  { readonly path: string; readonly parent: string; readonly root: string } | { readonly problem: string };

interface Roots {
  /** Plans name it `vault/…`, or one of its folders, wherever it lies. */
  readonly vault?: string;
  readonly repository?: string;
}

/** Where a plan may write: inside its folders only, whatever links, dots and letters a path is made of. */
export async function placeOf(given: string, roots: Roots): Promise<Place> {
  const path = wantedPath(given, roots);
  if (typeof path !== 'string') return path;
  const parent = await realParent(dirname(path));
  if (parent === undefined) return { problem: 'leads through a link that leads nowhere' };
  for (const root of [roots.vault, roots.repository]) {
    const real = root === undefined ? undefined : await realParent(root);
    const inside = real === undefined ? undefined : pathBelow(real, parent);
    if (real === undefined || inside === undefined) continue;
    const problem = problemInside([...segmentsOf(inside), basename(path)], root === roots.vault);
    return problem ?? { path: join(parent, path.slice(dirname(path).length)), parent, root: real };
  }
  return { problem: 'leads out of the folders that the plan may write in' };
}

function wantedPath(given: string, { vault, repository }: Roots): string | { readonly problem: string } {
  const problem = pathProblem(given);
  const base = repository ?? vault;
  if (problem !== undefined || base === undefined) return { problem: problem ?? 'has no folder that it may lie in' };
  const below = vault === undefined ? undefined : pathInVault(given);
  return below === undefined ? resolve(base, given) : join(vault ?? base, below);
}

function problemInside(segments: readonly string[], isVault: boolean): { readonly problem: string } | undefined {
  if (segments.slice(0, -1).some(isGit)) return { problem: 'leads into the .git folder' };
  const named = segments.filter(each => each !== '');
  const problem = reservedPart(named, isVault);
  return problem === undefined ? undefined : { problem };
}

/** The deepest folder that is there is made real, the rest is put behind it; undefined for a link without a target. */
async function realParent(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere || dirname(path) === path) return undefined;
    const above = await realParent(dirname(path));
    return above === undefined ? undefined : join(above, path.slice(dirname(path).length));
  }
}

/** '' for the folder itself, undefined when it is not below. */
function pathBelow(root: string, path: string): string | undefined {
  const inside = relative(root, path);
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? undefined : inside;
}
