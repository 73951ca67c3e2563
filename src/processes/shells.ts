// Shells that stay open and run one short program after the other for us: Node's own spawn copies the page tables of all our
// memory, 3 ms at 50 MB and 90 ms at 350 MB; a small shell starts a program in one or two, however large we have grown.
import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answering, openAnswering } from './answering.ts';
import { shell } from './contain.ts';
import { type Collected, type CollectOrder, collect } from './run-detached.ts';

export interface ShellOrder extends Omit<CollectOrder, 'bytesMax'> {
  /** More than the environment, for this program alone: a shell is kept for each environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

interface Shell {
  readonly answering: Answering;
  /** Files without a name: 3 is what the program reads, 4 what it complains. Nothing of them is left when we are killed. */
  readonly input: number;
  readonly errors: number;
}

/** So many programs at a time; others wait for their turn. */
const shellsMax = 4;
const hour = 3_600_000;
const errorsBytesMax = 10_000;
const open = new Map<string, Shell[]>();

/** As `collect`, by a shell that is open already. Where there is no /proc, a program is started by Node. Never throws. */
export async function collectInShell(order: ShellOrder): Promise<Collected> {
  const { variables = {}, environment, ...rest } = order;
  const words = [order.command, order.directory, ...order.args, ...Object.values(variables)];
  const isPlain = process.platform === 'linux' && !words.some(word => word.includes('\0'));
  const found = isPlain ? shellFor(environment) : undefined;
  if (found === undefined) return collect({ ...rest, environment: { ...environment, ...variables } });
  const mark = `${randomUUID()}\n`;
  const answered = found.answering.ask({
    text: scriptOf(order, mark),
    timeMsMax: order.timeMsMax,
    before: () => replaceContent(found.input, order.input ?? ''),
    async read(spoken) {
      const said = await spoken.until(mark);
      const code = Number(said.toString('latin1', said.length - codeLength));
      const output = said.subarray(0, said.length - codeLength);
      if (code === notRun) return { code: null, output, errors: `spawn ${order.command} ENOENT` };
      return { code, output, errors: code === 0 ? '' : textOf(found.errors) };
    },
  });
  const gone = { code: null, output: Buffer.alloc(0), errors: '' };
  return answered.then(
    answer => answer ?? { ...gone, errors: found.answering.problem() },
    ({ message }: Error) => ({ ...gone, errors: message }), // the disk is full
  );
}

const codeLength = '000'.length;
/** Its program or its folder is not there. */
const notRun = 127;

/** As one word of a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Its folder is entered by a shell of its own, so that none of ours stands in a folder of the user's. */
function scriptOf({ command, args, directory, variables = {} }: ShellOrder, mark: string): string {
  const exported = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}; `);
  const program = [command, ...args].map(quoted).join(' ');
  const files = '</proc/self/fd/3 2>/proc/self/fd/4 3<&- 4>&-';
  const run = `(${exported.join('')}cd ${quoted(directory)} && exec ${program}; exit ${notRun}) ${files}`;
  return `${run}\nprintf '%03d%s\\n' $? ${mark.trimEnd()}\n`;
}

function shellFor(environment: CollectOrder['environment']): Shell | undefined {
  const key = JSON.stringify(environment);
  const usable = (open.get(key) ?? []).filter(({ answering }) => answering.isOpen());
  const [quietest] = [...usable].sort((one, other) => one.answering.waiting() - other.answering.waiting());
  if (quietest !== undefined && (quietest.answering.waiting() === 0 || usable.length >= shellsMax)) return quietest;
  const made = openShell(environment);
  if (made === undefined) return quietest;
  open.delete(key); // the last one to be opened stands last
  open.set(key, [...usable, made]);
  closeOldest();
  return made;
}

/** Of all environments together; a loop has one or two. */
const openMax = 12;

function closeOldest(): void {
  let count = [...open.values()].reduce((sum, shells) => sum + shells.length, 0);
  for (const [key, shells] of open) {
    if (count <= openMax) return;
    if (shells.some(({ answering }) => answering.waiting() > 0)) continue;
    for (const { answering } of shells) answering.close();
    open.delete(key);
    count -= shells.length;
  }
}

/** Undefined where there is no place for its files. */
function openShell(environment: CollectOrder['environment']): Shell | undefined {
  try {
    const [input, errors] = [unnamedFile(), unnamedFile()];
    const answering = openAnswering({
      command: shell,
      args: [],
      directory: '/',
      environment,
      files: [input, errors],
      idleMsMax: hour,
      onEnd() {
        for (const file of [input, errors]) closeSync(file);
      },
    });
    return { answering, input, errors };
  } catch {
    return undefined;
  }
}

/** Nothing of it is left when we are killed. */
export function unnamedFile(): number {
  const path = join(tmpdir(), `ralph-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}

/** Of a file that another program opens anew by `/proc/self/fd`. */
export function replaceContent(file: number, content: string | Uint8Array): void {
  const bytes = Buffer.from(content as string);
  if (bytes.length === 0 && fstatSync(file).size === 0) return; // most programs read nothing, and it costs 0.2 ms
  ftruncateSync(file);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
}

function textOf(file: number): string {
  const bytes = Buffer.alloc(errorsBytesMax);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
}
