// Reads a recorded stream as the driver would, without a process: what was said, done and used, and how it ended.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentEvent, Reader } from '../../src/agents/agent.ts';
import { failureOf } from '../../src/agents/failures.ts';
import { type ParseProblems, readJsonLines } from '../../src/agents/stream.ts';
import { openMeter } from '../../src/agents/usage.ts';
import type { Usage } from '../../src/core/event.ts';
import type { Failure, FailureKind } from '../../src/core/failure.ts';
import { plainPrices, playedAtMs, streamsOf } from './cli-agent.ts';

export interface ReadStream {
  readonly message: string;
  readonly text: string;
  readonly tools: readonly string[];
  readonly heard: readonly AgentEvent[];
  readonly usage: Usage | undefined;
  readonly failure: Failure | undefined;
  readonly oddities: Readonly<ParseProblems>;
}

/** The exit code is one that must not count; only for plain text it must, and is a good one. */
export function readStream(reader: Reader, agent: string, stream: string): ReadStream {
  const heard: AgentEvent[] = [];
  const lines = readJsonLines(reader, 1_000_000, each => heard.push(each));
  lines.push(readFileSync(join(streamsOf(agent), `${stream}.jsonl`), 'utf8'));
  lines.end();
  const meter = openMeter(plainPrices, undefined);
  let usage: Usage | undefined;
  for (const each of heard) if (each.type === 'usage') usage = meter.usage(each) ?? usage;
  const result = reader.result();
  const isPlain = reader.readPlain !== undefined;
  const code = isPlain ? 0 : 1;
  const exit = { type: 'exited', code, signal: null, timedOut: false, stoppedByUs: false, reaped: 0 } as const;
  const times = { silenceMs: 1, firstByteMs: 1, timeMsMax: 1, nowMs: playedAtMs };
  return {
    message: result.message(),
    text: heard.map(each => (each.type === 'text' ? each.text : '')).join(''),
    tools: heard.flatMap(each =>
      each.type === 'tool' && each.phase === 'began' ? [`${each.name}: ${each.detail}`] : [],
    ),
    heard,
    usage,
    failure: failureOf({ exit, result, isPlain, stopped: false, errors: '', ...times }),
    oddities: lines.problems,
  };
}

/** Its name, its final message, and the class of its failure if it is one. */
export type StreamRow = readonly [stream: string, message: string, kind: FailureKind | undefined];

/** What each recorded-style stream of an agent comes to. */
export function streamsCome(read: (stream: string) => ReadStream, rows: readonly StreamRow[]): void {
  it.each(rows)('%s has the message %j and the failure %s', (stream, message, kind) => {
    const { message: said, failure } = read(stream);
    expect(said).toBe(message);
    expect(failure?.kind).toBe(kind);
  });
}
