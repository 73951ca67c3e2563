// No reader throws, whatever its events hold: every value of every fixture is spoiled in turn.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agents/agent.ts';
import { readBlocks } from '../../src/agents/reader.ts';
import { textOf } from '../../src/text/fields.ts';
import { clis, streamsOf } from '../contracts/cli-agent.ts';

const order = { prompt: '', args: [], folder: '/private', isRoot: false };
const nasty = [null, undefined, 0, -1, Number.NaN, '', 'x', [], [null], [[]], {}, { type: 7 }, true];

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** The event once for each of its values, at every depth, with something else in its place. */
function* spoiled(event: Fields, whole: Fields = event): Generator<Fields> {
  for (const [name, value] of Object.entries(event)) {
    for (const other of nasty) {
      event[name] = other;
      yield whole;
    }
    event[name] = value;
    if (isFields(value)) yield* spoiled(value, whole);
  }
}

function eventsOf(agent: string): readonly Fields[] {
  const folder = streamsOf(agent);
  const lines = readdirSync(folder).flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'));
  const kinds = new Map<string, Fields>();
  for (const line of lines) {
    if (!line.startsWith('{')) continue;
    const event: Fields = JSON.parse(line);
    const shape = JSON.stringify([event['type'], event['subtype'], Object.keys(event), line.length % 7]);
    kinds.set(shape, event);
  }
  return [...kinds.values()];
}

describe('the reader of every agent', () => {
  it.each(clis)('of $name bears whatever its events hold (B55)', cli => {
    const reader = cli.reader(order);
    const events = reader.readPlain ? [] : eventsOf(cli.name);
    for (const event of events) {
      for (const bad of spoiled(event)) {
        try {
          reader.read(bad);
          const { problem } = reader.result();
          const message: unknown = reader.result().message();
          if (typeof message !== 'string') throw new Error(`a message that is no text: ${String(message)}`);
          if (problem !== undefined && typeof problem.text !== 'string') throw new Error('a problem without words');
        } catch (error) {
          expect.fail(`${JSON.stringify(bad).slice(0, 300)}: ${(error as Error).message}`);
        }
      }
    }
    expect(events.length > 5 || reader.readPlain !== undefined).toBe(true);
  });
});

it('reads every block of a message, in order', () => {
  const text = (block: Readonly<Fields>): readonly AgentEvent[] => [{ type: 'text', text: textOf(block['text']) }];
  expect(readBlocks([{ text: 'a' }, { text: 'b' }], text)).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]);
  expect(readBlocks('no list', text)).toEqual([]);
});
