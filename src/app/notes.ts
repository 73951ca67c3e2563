// File of a repository's notes in the home, where confined agents cannot write: found, read, added to, switched off and on.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { State } from '../core/state.ts';
import { eventsOf } from '../engine/replay.ts';
import { sharedFolder } from '../git/hooks.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { LoopNotes, notesHeader, notesOfLoop, shortenedNotes } from '../views/notes.ts';
import type { Environment } from './app.ts';

export interface NotesFile {
  readonly path: string;
  readonly isOn: boolean;
  /** Undefined: there are none yet. */
  readonly text: string | undefined;
}

interface NotesPlace {
  readonly home: string;
  readonly env: Environment;
  readonly directory: string;
}

const mode = 0o600;

/** All working trees of a repository share one file. */
function pathOf(home: string, directory: string): string {
  const folder = sharedFolder(directory);
  const project = basename(folder) === '.git' ? dirname(folder) : folder;
  const name = basename(project).replace(/[^\w.-]/g, '-') || 'root';
  return join(home, 'notes', `${name}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}.md`);
}

const offPath = (path: string): string => `${path}.off`;

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export async function readNotes(home: string, directory: string): Promise<NotesFile> {
  const path = pathOf(home, directory);
  const text = textAt(path);
  const off = text === undefined ? textAt(offPath(path)) : undefined;
  return off === undefined ? { path, isOn: true, text } : { path: offPath(path), isOn: false, text: off };
}

async function begin(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, notesHeader, { flag: 'wx', mode }).catch(() => {});
}

/** There to be changed, whether they are on or off. */
async function notesToChange(home: string, directory: string): Promise<NotesFile> {
  const found = await readNotes(home, directory);
  if (found.text !== undefined) return found;
  await begin(found.path);
  return readNotes(home, directory);
}

/** Opened in a person's editor; a problem is why that was not possible. */
export async function editNotes({ home, env, directory }: NotesPlace): Promise<{ path: string; problem?: string }> {
  const { path } = await notesToChange(home, directory);
  const editor = env['VISUAL'] || env['EDITOR'];
  if (!editor) return { path, problem: 'Neither VISUAL nor EDITOR names an editor.' };
  if (!process.stdin.isTTY) return { path, problem: 'An editor needs a terminal.' };
  const { runEditor } = await import('../processes/terminal.ts');
  const code = runEditor(editor, path, env);
  return code === 0 ? { path } : { path, problem: `The editor ended with ${code}: ${editor}` };
}

export async function switchNotes(home: string, directory: string, isOn: boolean): Promise<NotesFile> {
  const found = await notesToChange(home, directory);
  const path = pathOf(home, directory);
  const wanted = isOn ? path : offPath(path);
  // Somebody else may switch them in the same moment.
  if (found.isOn !== isOn) await rename(found.path, wanted).catch(error => existsSync(wanted) || Promise.reject(error));
  return readNotes(home, directory);
}

/** What the loop found out, when it is over: appended, so that loops that end together do not lose each other's. */
export async function addNotes({ home, env, directory }: NotesPlace, ledger: Ledger, state: State): Promise<void> {
  const { isOn, path, text = '' } = await readNotes(home, directory);
  if (!isOn) return;
  const notes = new LoopNotes();
  for await (const page of eventsOf(ledger, state.loop.id)) for (const { event } of page) notes.add(event);
  const loop = { name: state.loop.name, endedAt: state.control.ended?.at ?? state.loop.startedAt };
  const more = makeRedactor(secretValues(env))(notesOfLoop(text, loop, notes.lines()));
  if (more === '') return;
  await begin(path);
  await appendFile(path, more);
  const whole = textAt(path) ?? '';
  const shorter = shortenedNotes(whole);
  if (shorter !== whole) await writeFileAtomic(path, shorter, { mode });
}
