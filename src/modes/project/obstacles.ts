// Obstacles as agents write them into obstacles.json, and what executions before this one left: read as words of agents, never as orders.
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Performed } from '../../core/input.ts';
import type { Obstacle, State } from '../../core/state.ts';
import { readText } from '../../documents/text-file.ts';
import { putView } from '../../engine/publish.ts';
import type { NotedObstacle } from '../../messages/report.ts';
import { type Fields, fieldsOf, isFields } from '../../text/fields.ts';
import { oneLine, stripControls } from '../../text/text.ts';
import { obstaclesText } from './views.ts';

const bytesMax = 1024 * 1024;
const takenMax = 50;
const charsMax = 500;

/** Only there are the files beside a document Ralph's own: elsewhere they may be anybody's. */
export const isProjectFolder = (folder: string): boolean => basename(dirname(folder)) === '.artefacts';

async function rowsIn(path: string, key?: string): Promise<readonly Fields[] | undefined> {
  const read = await readText(path, bytesMax);
  if (read.type === 'missing') return [];
  if (read.type !== 'text') return undefined;
  try {
    const value: unknown = JSON.parse(read.text);
    const rows = key === undefined ? value : Array.isArray(value) ? value : fieldsOf(value)[key];
    return Array.isArray(rows) && rows.every(isFields) ? rows : undefined;
  } catch {
    return undefined;
  }
}

const cleaned = (text: unknown): string => (typeof text === 'string' ? oneLine(stripControls(text), charsMax) : '');
const numberOf = (id: unknown): number => Number(/^O(\d{1,6})$/.exec(String(id))?.[1] ?? Number.NaN);

/** What the file says and the ledger does not. */
function toldBy(row: Fields, known: readonly Obstacle[]): readonly NotedObstacle[] {
  const message = cleaned(row['message']);
  const isResolved = row['resolved'] === true;
  // By its words: what an agent wrote stands there under an id of its own until the file is written anew.
  const same = known.find(one => oneLine(one.message, charsMax) === message);
  if (same !== undefined) return isResolved && !same.resolved ? [{ message: same.id, resolved: true }] : [];
  // One that the state has forgotten is no news.
  const isOld = numberOf(row['id']) < numberOf(known[0]?.id);
  return message === '' || isOld ? [] : [isResolved ? { message, resolved: true } : { message }];
}

const howTo = 'Name obstacles in the report block: "obstacles": [{"message": "..."}]';

/** What an iteration wrote into obstacles.json; what cannot be taken is said to the next one, and put back. */
export async function notedObstacles({ loop, memory }: State): Promise<Performed['noted']> {
  const folder = dirname(loop.document);
  if (!isProjectFolder(folder)) return undefined;
  const path = join(folder, 'obstacles.json');
  const rows = await rowsIn(path, 'obstacles');
  if (rows === undefined) {
    await putView([folder], { path, text: obstaclesText(memory.obstacles) });
    return { obstacles: [], problem: `obstacles.json could not be read as you left it, and was put back. ${howTo}.` };
  }
  const nameless = rows.filter(row => cleaned(row['message']) === '').length;
  const obstacles = rows.flatMap(row => toldBy(row, memory.obstacles)).slice(0, takenMax);
  if (nameless === 0) return obstacles.length === 0 ? undefined : { obstacles };
  return { obstacles, problem: `Rows of obstacles.json without a "message" were not taken (${nameless}). ${howTo}.` };
}

const loopsMax = 3;
const entriesMax = 5;

/** What is open of the executions before this one, and how they went: the newest first. Empty where there is none. */
export async function earlierExecutions(document: string): Promise<string> {
  const folder = dirname(document);
  if (!isProjectFolder(folder)) return '';
  const names = (await readdir(join(folder, 'earlier')).catch(() => [])).sort().reverse().slice(0, loopsMax);
  const lines: string[] = [];
  for (const name of names) {
    const place = join(folder, 'earlier', name);
    for (const row of (await rowsIn(join(place, 'obstacles.json'), 'obstacles')) ?? [])
      if (row['resolved'] !== true && cleaned(row['message']) !== '')
        lines.push(`obstacle (${cleaned(row['task_id'])}): ${cleaned(row['message'])}`);
    for (const row of ((await rowsIn(join(place, 'state.json'))) ?? []).slice(-entriesMax))
      lines.push(`${cleaned(row['task_id'])} ${cleaned(row['status'])}: ${cleaned(row['summary'])}`);
  }
  return [...new Set(lines)].join('\n');
}
