// Plan files of a vault: read whole, hashed as they would be approved, moved without ever covering another file.
import { constants, copyFile, link, lstat, mkdir, readdir, readFile, realpath, stat, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { ParsedDocument, Problem } from '../../../documents/document.ts';
import { errorCode, type FileIdentity, readText } from '../../../documents/text-file.ts';
import { sha256Of } from '../../../engine/checkpoints.ts';
import { isWithin } from '../../../text/step-path.ts';
import { suspicion, visible } from '../../../text/text.ts';
import { lintPlan, type PlanLint, plan as planFormat } from '../document/plan.ts';
import type { VaultPaths } from '../views/paths.ts';

const planBytesMax = 16 * 1024 * 1024;
const suffixMax = 10_000;
/** How deep plans are looked for among the approved ones. */
export const subfoldersMax = 8;

export interface PlanFile {
  readonly path: string;
  readonly text: string;
  readonly identity: FileIdentity;
  readonly mode: number;
  readonly id: string;
  readonly document: ParsedDocument;
  readonly isApprovalRequired: boolean;
  /** SHA-256 of what a person approves: the plan without the marks that we make ourselves. */
  readonly hash: string;
}

export type PlanRead =
  | { readonly type: 'read'; readonly plan: PlanFile }
  /** `id`: as far as it can be told. `isMeant`: it looks like a plan rather than some other note. */
  | {
      readonly type: 'broken';
      readonly id: string;
      readonly isMeant: boolean;
      readonly problems: readonly Problem[];
      readonly objective?: string | undefined;
    }
  | { readonly type: 'missing'; readonly problems: readonly Problem[] };

const nameOf = (path: string): string => basename(path, extname(path));

/** What a broken plan calls itself, else its file's name. */
function claimedId(text: string, path: string): string {
  return /^plan_id:[ \t]*["']?([A-Za-z0-9][\w.-]{0,99})["']?[ \t]*\r?$/m.exec(text)?.[1] ?? nameOf(path);
}

const claimedGoal = (text: string): string | undefined => /^objective:[ \t]*["']?(.+?)["']?[ \t]*\r?$/m.exec(text)?.[1];

export async function readPlan(path: string): Promise<PlanRead> {
  const read = await readText(path, planBytesMax);
  if (read.type === 'missing') return { type: 'missing', problems: [read.problem] };
  if (read.type !== 'text') return { type: 'broken', id: nameOf(path), isMeant: false, problems: [read.problem] };
  const { text, identity, mode } = read;
  const parsed = planFormat.parse(text);
  const isMeant = planFormat.recognises(basename(path), text);
  if (!parsed.ok)
    return {
      type: 'broken',
      id: claimedId(text, path),
      isMeant,
      problems: parsed.problems,
      objective: claimedGoal(text),
    };
  const { document } = parsed;
  const { id = nameOf(path), approval } = document;
  const hash = sha256Of(approval?.substance ?? text);
  const isApprovalRequired = approval?.required ?? true;
  return { type: 'read', plan: { path, text, identity, mode, id, document, isApprovalRequired, hash } };
}

/** Every problem of a plan file, and what is worth a look; no problem: it can run. */
export async function lintPlanFile(path: string): Promise<PlanLint> {
  const read = await readText(path, planBytesMax);
  return read.type === 'text' ? lintPlan(read.text) : { problems: [read.problem], notices: [] };
}

/** Of a plan whose boxes have a record: what they say is no news. */
export function withRecord(plan: PlanFile): PlanFile {
  const parsed = planFormat.parse(plan.text, { acceptTicked: true });
  return parsed.ok ? { ...plan, document: parsed.document } : plan;
}

/** For a terminal: nothing in it is obeyed or hidden. */
export const shownText = (text: string): string => text.split(/\r?\n/).map(visible).join('\n');

/** What a reader of the rendered plan would not see: comments and invisible characters, line by line (B50, B51). */
export function hiddenIn(text: string): readonly string[] {
  const found: string[] = [];
  let isInside = false;
  text.split(/\r?\n/).forEach((line, at) => {
    if (isInside || line.includes('<!--'))
      found.push(`Line ${at + 1} holds a comment that a rendered page hides: ${visible(line.trim())}`);
    const opened = line.lastIndexOf('<!--');
    const closed = line.lastIndexOf('-->');
    isInside = opened > closed || (isInside && closed === -1);
    const doubt = suspicion(line);
    if (doubt !== undefined) found.push(`Line ${at + 1} ${doubt} It says: ${visible(line.trim())}`);
  });
  return found;
}

const isPlanName = (name: string): boolean => /^[^.].*\.md$/i.test(name);

/** A link may lead out of the vault, and could not be moved. */
export const isPlainFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true;

/** The plan files of one folder, by name. */
async function plansIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(entry => entry.isFile() && isPlanName(entry.name))
    .map(entry => join(folder, entry.name))
    .sort();
}

/** Those of its subfolders too, but of none that is hidden or a link. */
export async function plansUnder(folder: string, depth = 0): Promise<readonly string[]> {
  const entries = depth > subfoldersMax ? [] : await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = entries.filter(entry => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  const deeper = await Promise.all(below.sort().map(name => plansUnder(join(folder, name), depth + 1)));
  return [...(await plansIn(folder)), ...deeper.flat()];
}

/** Wherever a plan may lie. */
export async function plansOf(paths: VaultPaths): Promise<readonly string[]> {
  const folders = [paths.plans, paths.pending, join(paths.pending, 'Plans')].map(plansIn);
  return (await Promise.all([...folders, plansUnder(paths.yes), plansIn(paths.done)])).flat();
}

export interface Moved {
  /** `in-the-way`: another file has that name; `outside`: the folder leads out of the vault, or is none. Nothing was moved. */
  readonly type: 'moved' | 'in-the-way' | 'outside';
  readonly path: string;
}

/** Made when it is missing; false: it is a link that leads out of the vault, or no folder. */
export async function isFolderOf(root: string, folder: string): Promise<boolean> {
  try {
    const above = await realpath(dirname(folder)).catch(() => undefined);
    if (folder !== root && above !== undefined && !isWithin(await realpath(root), above)) return false;
    await mkdir(folder, { recursive: true });
    return isWithin(await realpath(root), await realpath(folder));
  } catch (error) {
    if (['EEXIST', 'ENOTDIR', 'ENOENT', 'ELOOP'].includes(errorCode(error))) return false;
    throw error;
  }
}

/** What a crash between two steps of a move leaves. */
async function isCopy(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map(path => readFile(path).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.equals(b);
}

/** A second name, then without the first: no crash in between loses the file, and the next try ends what was begun. */
async function moveTo(path: string, target: string): Promise<Moved> {
  try {
    await link(path, target).catch(async error => {
      if (['EEXIST', 'ENOENT'].includes(errorCode(error))) throw error;
      await copyFile(path, target, constants.COPYFILE_EXCL); // no hard links here (FAT, some network disks)
    });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (!(await isCopy(path, target))) return { type: 'in-the-way', path: target };
  }
  await unlink(path);
  return { type: 'moved', path: target };
}

/** Into a folder of the vault under its own name. */
export async function movePlan(path: string, root: string, folder: string): Promise<Moved> {
  if (!(await isFolderOf(root, folder))) return { type: 'outside', path: folder };
  const target = join(folder, basename(path));
  return target === path ? { type: 'moved', path } : moveTo(path, target);
}

/** The same, under the next free name: NAME.md, NAME-2.md, ... */
export async function movePlanToFreeName(path: string, root: string, folder: string): Promise<Moved> {
  let moved = await movePlan(path, root, folder);
  for (let count = 2; moved.type === 'in-the-way' && count <= suffixMax; count += 1)
    moved = await moveTo(path, join(folder, `${nameOf(path)}-${count}${extname(path)}`));
  return moved;
}

const longAgoMs = 2_000;

/** Whether nobody is in the middle of writing it: not touched for a while, or the same twice. */
export async function isSettled(path: string, pauseMs: number): Promise<boolean> {
  const before = await stat(path).catch(() => undefined);
  if (before === undefined || Date.now() - before.mtimeMs > longAgoMs) return true;
  await new Promise(done => setTimeout(done, pauseMs));
  const after = await stat(path).catch(() => undefined);
  return after?.ino === before.ino && after.size === before.size && after.mtimeMs === before.mtimeMs;
}
