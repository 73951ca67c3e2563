// A program of our own that stays open and answers one question after the other: it ends with its input, so also when we are killed.
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { CollectOrder } from './run-detached.ts';

/** `timeMsMax`: of one answer. */
type AnsweringOrder = Pick<CollectOrder, 'command' | 'args' | 'directory' | 'environment' | 'timeMsMax'>;

/** What it says, taken piece by piece. */
export interface Spoken {
  /** Without its line break; one character per byte. */
  line(): Promise<string>;
  bytes(count: number): Promise<Buffer>;
  /** Without holding them. */
  skip(count: number): Promise<void>;
}

export interface Answering {
  /** Questions take turns. Undefined: it is gone or took too long, and will not answer again. */
  ask<Answer>(question: string, read: (spoken: Spoken) => Promise<Answer>): Promise<Answer | undefined>;
  isOpen(): boolean;
  /** Why it is gone, in its own words or ours. */
  problem(): string;
}

const idleMsMax = 30_000;
const errorsCharsMax = 10_000;

/** It ended in the middle of an answer. */
class Ended extends Error {}

/** Keeps nobody from ending: we wait for it only while it owes an answer. In its own session: Ctrl-C is meant for us. */
export function openAnswering({ command, args, directory, environment, timeMsMax }: AnsweringOrder): Answering {
  const child = spawn(command, args, {
    cwd: directory,
    env: environment,
    detached: true,
    stdio: 'pipe',
    windowsHide: true,
  });
  let [errors, isOver, idle] = ['', false, undefined as NodeJS.Timeout | undefined];
  const over = (why: string): void => {
    isOver = true;
    if (errors === '') errors = why;
  };
  child.on('error', ({ message }) => over(message));
  child.on('close', () => over('it ended'));
  child.stdin.on('error', () => {}); // it ended without reading
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < errorsCharsMax) errors += text;
  });
  const spoken = piecesOf(child.stdout);
  const sockets = [child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[];
  const answer = async <Answer>(question: string, read: (spoken: Spoken) => Promise<Answer>) => {
    if (isOver) return undefined;
    clearTimeout(idle);
    for (const socket of sockets) socket.ref();
    const timer = setTimeout(() => {
      over(`not done after ${timeMsMax / 1_000} s`);
      child.kill('SIGKILL');
    }, timeMsMax);
    try {
      child.stdin.write(question);
      return await read(spoken);
    } catch (error) {
      over('it ended');
      if (error instanceof Ended) return undefined;
      child.kill('SIGKILL'); // the rest of its answer would be taken for the next one
      throw error;
    } finally {
      clearTimeout(timer);
      for (const socket of sockets) socket.unref();
      idle = setTimeout(() => {
        over('nobody asked it any more');
        child.stdin.end();
      }, idleMsMax).unref();
    }
  };
  child.unref();
  let turn: Promise<unknown> = Promise.resolve();
  return {
    ask(question, read) {
      const answered = turn.then(() => answer(question, read));
      turn = answered.catch(() => undefined);
      return answered;
    },
    isOpen: () => !isOver,
    problem: () => errors,
  };
}

function piecesOf(stream: AsyncIterable<Buffer>): Spoken {
  const chunks = stream[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const next = await chunks.next().catch(() => undefined);
    if (next === undefined || next.done) throw new Ended();
    held = next.value;
  };
  const take = async (count: number, each: (part: Buffer) => void): Promise<void> => {
    for (let missing = count; ; await more()) {
      const part = held.subarray(0, missing);
      held = held.subarray(part.length);
      missing -= part.length;
      each(part);
      if (missing === 0) return;
    }
  };
  return {
    async line() {
      for (let text = ''; ; await more()) {
        const end = held.indexOf(10);
        text += held.toString('latin1', 0, end === -1 ? held.length : end);
        held = held.subarray(end === -1 ? held.length : end + 1);
        if (end !== -1) return text;
      }
    },
    async bytes(count) {
      const parts: Buffer[] = [];
      await take(count, part => parts.push(part));
      return Buffer.concat(parts);
    },
    skip: count => take(count, () => {}),
  };
}
