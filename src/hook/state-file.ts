// State file of a session's loop, `.claude/ralph-loop.local.md`: a view for people, an import from other tools, and a way to cancel.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const stateFilePath = (directory: string): string => join(directory, '.claude', 'ralph-loop.local.md');

export interface LoopState {
  readonly isActive: boolean;
  readonly iteration: number;
  /** 0: no limit. */
  readonly iterationsMax: number;
  readonly promise: string;
  readonly startedAt: number;
  readonly session: string;
  readonly loop: string;
}

export interface StateFile {
  /** By key, as written. */
  readonly values: Readonly<Record<string, string>>;
  readonly prompt: string;
}

const charsMax = 1024 * 1024;

/** Undefined where there is none; `broken` for what is no state file. Only the first two lines of three dashes end anything. */
export function readStateFile(directory: string): StateFile | 'broken' | undefined {
  const text = textAt(stateFilePath(directory));
  if (text === undefined || text === 'broken') return text;
  const [, front, prompt] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)([\s\S]*)$/m.exec(text) ?? [];
  if (front === undefined || prompt === undefined || !/^\uFEFF?---/.test(text)) return 'broken';
  const values = Object.fromEntries(
    front.split(/\r?\n/).flatMap(line => {
      const [, key, value] = /^([a-z_]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, unquoted(value)]];
    }),
  );
  return prompt.trim() === '' ? 'broken' : { values, prompt: prompt.replace(/^\r?\n/, '') };
}

function textAt(path: string): string | 'broken' | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.size <= charsMax ? readFileSync(path, 'utf8') : 'broken';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'broken';
  }
}

function unquoted(value: string): string {
  if (!/^".*"$/.test(value)) return value.replace(/^'(.*)'$/, '$1');
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

export function stateText(state: LoopState, prompt: string): string {
  const fields: Readonly<Record<string, string | number | boolean>> = {
    active: state.isActive,
    iteration: state.iteration,
    max_iterations: state.iterationsMax,
    completion_promise: state.promise,
    started_at: new Date(state.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    session_id: state.session,
    loop: state.loop,
  };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---', '', prompt.trimEnd(), ''].join('\n');
}

/** Replaced as a whole, and never through a link. Why not, if it was not: it is only a view. */
export function writeStateFile(directory: string, state: LoopState, prompt: string): string | undefined {
  const path = stateFilePath(directory);
  const draft = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    if (!lstatSync(dirname(path)).isDirectory()) return `${dirname(path)} is a link`;
    writeFileSync(draft, stateText(state, prompt));
    renameSync(draft, path);
    return undefined;
  } catch (error) {
    rmSync(draft, { force: true });
    return `${path} could not be written (${(error as Error).message})`;
  }
}

export function removeStateFile(directory: string): void {
  rmSync(stateFilePath(directory), { force: true });
}
