// A program of our own that stays open and answers one question after the other: it ends with its input, so also when we are killed.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { CollectOrder } from './run-detached.ts';

export interface AnsweringOrder extends Pick<CollectOrder, 'command' | 'args' | 'directory' | 'environment'> {
  /** Open files that it gets as 3, 4 … */
  readonly files?: readonly number[];
  /** Ended when nobody asked it for so long. */
  readonly idleMsMax?: number;
  /** It is over, and nothing is asked any more. */
  readonly onEnd?: () => void;
}

/** What it says, taken piece by piece. */
export interface Spoken {
  /** Without its line break; one character per byte. */
  line(): Promise<string>;
  bytes(count: number): Promise<Buffer>;
  /** Without holding them. */
  skip(count: number): Promise<void>;
  /** All before the mark with which it ends its answer. */
  until(mark: string): Promise<Buffer>;
}

export interface Question<Answer> {
  readonly text: string | Buffer;
  readonly read: (spoken: Spoken) => Promise<Answer>;
  /** When it has its turn: what the program needs beside the text. */
  readonly before?: () => void;
  readonly timeMsMax?: number;
}

export interface Answering {
  /** Questions take turns. Undefined: it is gone or took too long, and will not answer again. */
  ask<Answer>(question: Question<Answer>): Promise<Answer | undefined>;
  isOpen(): boolean;
  /** Questions that wait for their answer. */
  waiting(): number;
  /** Why it is gone, in its own words or ours. */
  problem(): string;
  /** Nobody will ask it any more. */
  close(): void;
}

const halfMinute = 30_000;
const answerMsMax = 60_000;
const errorsCharsMax = 10_000;

/** It ended in the middle of an answer. */
class Ended extends Error {}

/** Keeps nobody from ending: we wait for it only while it owes an answer. In its own session: Ctrl-C is meant for us. */
export function openAnswering(order: AnsweringOrder): Answering {
  const open = start(order);
  let [waiting, idle] = [0, undefined as NodeJS.Timeout | undefined];
  const answer = async <Answer>({ text, read, before, timeMsMax = answerMsMax }: Question<Answer>) => {
    if (open.isOver()) return undefined;
    clearTimeout(idle);
    for (const socket of open.sockets) socket.ref();
    const timer = setTimeout(() => open.kill(`not done after ${timeMsMax / 1_000} s`), timeMsMax);
    try {
      before?.();
      open.stdin.write(text);
      return await read(open.spoken);
    } catch (error) {
      if (error instanceof Ended) return await open.closed; // its last words may still be on their way
      open.kill('it could not be heard to the end'); // the rest of its answer would be taken for the next one
      throw error;
    } finally {
      clearTimeout(timer);
      for (const socket of open.sockets) socket.unref();
      idle = setTimeout(open.close, order.idleMsMax ?? halfMinute).unref();
    }
  };
  let turn: Promise<unknown> = Promise.resolve();
  return {
    ask(question) {
      waiting += 1;
      const answered = turn
        .then(() => answer(question))
        .finally(() => {
          waiting -= 1;
        });
      turn = answered.catch(() => undefined);
      return answered;
    },
    isOpen: () => !open.isOver(),
    waiting: () => waiting,
    problem: open.problem,
    close: open.close,
  };
}

/** The program itself: how it is ended, and what it said why it ended. */
function start({ command, args, directory, environment, files = [], onEnd }: AnsweringOrder) {
  const child = spawn(command, args, {
    cwd: directory,
    env: environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...files],
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  let [errors, isOver] = ['', false];
  const over = (why: string): void => {
    isOver = true;
    if (errors === '') errors = why;
  };
  child.on('error', ({ message }) => over(message));
  child.stdin.on('error', () => {}); // it ended without reading
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < errorsCharsMax) errors += text;
  });
  const closed = new Promise<undefined>(resolve => {
    child.on('close', () => {
      over('it ended');
      onEnd?.();
      resolve(undefined);
    });
  });
  child.unref();
  return {
    stdin: child.stdin,
    spoken: piecesOf(child.stdout),
    sockets: [child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[],
    closed,
    isOver: () => isOver,
    problem: () => errors,
    close(): void {
      over('nobody asked it any more');
      child.stdin.end();
    },
    kill(why: string): void {
      over(why);
      try {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL'); // and what it runs
      } catch {
        // It ended just now.
      }
    },
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
    async until(mark) {
      const end = Buffer.from(mark, 'latin1');
      const parts: Buffer[] = [];
      for (let tail: Buffer = Buffer.alloc(0); ; await more()) {
        parts.push(held);
        tail = Buffer.concat([tail, held.subarray(-end.length)]).subarray(-end.length);
        held = Buffer.alloc(0);
        if (tail.equals(end)) return Buffer.concat(parts).subarray(0, -end.length);
      }
    },
  };
}
