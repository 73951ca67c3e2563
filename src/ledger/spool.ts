// The spool: each iteration's prompt, output and end as files in the loop's folder, redacted before they are written.
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Performed } from '../core/input.ts';
import { makeStreamRedactor, type Redact, redactDeep } from '../secrets/redactor.ts';

export type SpoolEnd = Omit<Performed, 'statusEdits'>;

export interface SpoolWriter {
  write(text: string, channel: 'output' | 'errors'): void;
  /** Written before the ledger hears of the end, so that a crash in between loses nothing (F04). Absent: it goes on elsewhere. */
  end(end?: SpoolEnd): void;
}

/** Contract: writes are visible to a later process after a SIGKILL of this one; everything given to it is redacted. */
export interface Spool {
  /** Without a prompt: it was begun by another process, and its prompt stays. */
  open(iteration: number, prompt?: string): SpoolWriter;
  /** How the performer ended, if it did before we died. */
  found(iteration: number): SpoolEnd | undefined;
}

const outputBytesMax = 64 * 1024 * 1024;
const cutWords = '[… output cut at 64 MB]\n';
const draftName = 'ended.json.part';

/** Where one iteration's files lie below the loop's folder. */
export function iterationFolder(loopFolder: string, iteration: number): string {
  return join(loopFolder, 'iterations', String(iteration));
}

const scratch = Buffer.allocUnsafeSlow(262_144);
const charBytesMax = 3; // of UTF-16's units in UTF-8

/** Good until the next one; what an agent floods us with needs no memory of its own. */
function encoded(text: string): Buffer {
  if (text.length * charBytesMax > scratch.length) return Buffer.from(text);
  return scratch.subarray(0, scratch.write(text));
}

function fileWriter(folder: string, redact: Redact): SpoolWriter {
  const descriptors = new Map<string, number>();
  const redactors = { output: makeStreamRedactor(redact), errors: makeStreamRedactor(redact) };
  /** Made while the agent wakes up: making a file is slow where the ledger is synced all the time. */
  const draft = openSync(join(folder, draftName), 'w', 0o600);
  let written = 0;
  function append(text: string, channel: 'output' | 'errors'): void {
    if (text === '' || written > outputBytesMax) return;
    const descriptor = descriptors.get(channel) ?? openSync(join(folder, `${channel}.log`), 'a', 0o600);
    descriptors.set(channel, descriptor);
    const room = outputBytesMax - written;
    const bytes = encoded(text);
    written += bytes.length;
    if (written <= outputBytesMax) writeSync(descriptor, bytes);
    else writeSync(descriptor, `${new StringDecoder().write(bytes.subarray(0, room))}\n${cutWords}`);
  }
  return {
    write(text, channel) {
      if (written <= outputBytesMax) append(redactors[channel].push(text), channel); // what is not kept needs no redaction
    },
    end(end) {
      append(redactors.output.end(), 'output');
      append(redactors.errors.end(), 'errors');
      if (end !== undefined) writeFileSync(draft, JSON.stringify(redactDeep(end, redact)));
      closeSync(draft);
      if (end === undefined) rmSync(join(folder, draftName), { force: true });
      else renameSync(join(folder, draftName), join(folder, 'ended.json'));
      for (const descriptor of descriptors.values()) closeSync(descriptor);
      descriptors.clear();
    },
  };
}

export function fileSpool(loopFolder: string, redact: Redact): Spool {
  return {
    open(iteration, prompt) {
      const folder = iterationFolder(loopFolder, iteration);
      const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
      if (!isNew) rmSync(join(folder, 'ended.json'), { force: true }); // the same iteration again
      if (prompt !== undefined) writeFileSync(join(folder, 'prompt.md'), redact(prompt), { mode: 0o600 });
      return fileWriter(folder, redact);
    },
    found(iteration) {
      try {
        const text = readFileSync(join(iterationFolder(loopFolder, iteration), 'ended.json'), 'utf8');
        const end = JSON.parse(text) as SpoolEnd | null;
        return typeof end?.message === 'string' ? end : undefined;
      } catch {
        return undefined; // not there, or half written: the iteration counts as interrupted
      }
    },
  };
}

/** Room that is given back when the disk is full, so that the last event can still be recorded (F38). */
const reserveBytes = 1024 * 1024;
const reservePath = (home: string): string => join(home, 'reserve');

export async function keepReserve(home: string): Promise<void> {
  if (statSync(reservePath(home), { throwIfNoEntry: false })?.size === reserveBytes) return;
  const room = await statfs(home);
  if (room.bavail * room.bsize > reserveBytes * 4) {
    await writeFile(reservePath(home), Buffer.alloc(reserveBytes), { mode: 0o600 });
  }
}

export function freeReserve(home: string): void {
  rmSync(reservePath(home), { force: true });
}
