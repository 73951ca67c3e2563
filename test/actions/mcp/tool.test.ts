import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/actions/mcp/server.ts';
import { mcpTool } from '../../../src/actions/mcp/tool.ts';
import type { Performer } from '../../../src/agents/performer.ts';
import type { Json } from '../../../src/core/task.ts';
import { isAlive } from '../../../src/processes/identity.ts';
import { type Behaviour, performerContract } from '../../contracts/performer.ts';
import { type HttpTestServer, startHttpServer } from '../../fixtures/mcp/http.ts';
import { call, effects, httpServer, stdioServer } from './stage.ts';

let scratch: string;
let http: HttpTestServer;
let made: ReturnType<typeof effects>;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'ralph-mcp-'));
  made = effects(scratch);
  http = await startHttpServer(made.file);
});

afterAll(async () => {
  await http.close();
  rmSync(scratch, { recursive: true, force: true });
});

const tools: Readonly<Record<Behaviour, string>> = {
  greets: 'greet',
  hangs: 'slow_read',
  fails: 'fail',
  'measures-prompt': 'greet',
};

function behaving(server: () => McpServer, behaviour: Behaviour): Performer {
  const performer = mcpTool({ server: server(), environment: process.env, graceMs: 200 });
  const order = { type: 'mcp', server: 'test', tool: tools[behaviour], params: {} } as const;
  return {
    ...performer,
    perform: (assignment, stop) => performer.perform({ ...assignment, order, intend: async () => true }, stop),
  };
}

const readsPrompt = 'an action does what its order says and gets no prompt';
describe('over stdio', () => {
  performerContract({
    name: 'mcp:test',
    make: behaviour => behaving(() => stdioServer('tiny.mjs'), behaviour),
    directory: () => scratch,
    spawns: true,
    readsPrompt,
  });
});
describe('over HTTP', () => {
  performerContract({
    name: 'mcp:test',
    make: behaviour => behaving(() => httpServer(http.url), behaviour),
    directory: () => scratch,
    spawns: 'the server runs elsewhere',
    readsPrompt,
  });
});

/** The effects of one call over HTTP: the file is shared, so they are counted from where it stood. */
async function effectsOf<Value>(work: () => Promise<Value>): Promise<{ value: Value; count: number }> {
  const before = made.all().length;
  const value = await work();
  return { value, count: made.all().length - before };
}

describe('what leaves us', () => {
  it('is recorded first, then called once with our key, and the answer comes without control characters', async () => {
    const { value, count } = await effectsOf(() =>
      call(httpServer(http.url), 'append_line', { params: { line: 'a' } }),
    );
    expect(value.end).toMatchObject({ message: 'appended' });
    expect(value.end.failure).toBeUndefined();
    expect(value.intents).toEqual([false]);
    expect(count).toBe(1);
    expect(made.all().at(-1)).toEqual({ tool: 'append_line', key: 'key-1', arguments: { line: 'a' } });
    expect(value.activities).toContainEqual({ type: 'tool', name: 'test/append_line', detail: '' });
  });

  it('is nothing when the record is refused or cannot be made', async () => {
    for (const intend of [async () => false, undefined]) {
      const order = { params: { line: 'a' }, assignment: intend ? { intend } : {} };
      const without = {
        ...order,
        assignment: { ...order.assignment, ...(intend ? {} : { intend: undefined as never }) },
      };
      const { value, count } = await effectsOf(() => call(httpServer(http.url), 'append_line', without));
      expect(value.kind).toBe('stopped');
      expect(count).toBe(0);
    }
  });

  it('is nothing when it was stopped while the record was made', async () => {
    const stopping = new AbortController();
    const performer = mcpTool({ server: httpServer(http.url), environment: {} });
    const order = { type: 'mcp', server: 'test', tool: 'append_line', params: { line: 'a' } } as const;
    const intend = async (): Promise<boolean> => {
      stopping.abort();
      return true;
    };
    const { count, value } = await effectsOf(async () => {
      const found = [];
      const assignment = { loop: 'l', iteration: 1, task: 't', attempt: 1, prompt: '', directory: scratch };
      const whole = { ...assignment, timeMsMax: 60_000, environment: {}, order, intend };
      for await (const activity of performer.perform(whole, stopping.signal)) found.push(activity);
      return found;
    });
    expect(value).toEqual([
      expect.objectContaining({ type: 'ended', failure: expect.objectContaining({ kind: 'stopped' }) }),
    ]);
    expect(count).toBe(0);
  });

  it('is nothing when the tool is unknown, the parameters break its schema, or the order is for another', async () => {
    const { count } = await effectsOf(async () => {
      const unknown = await call(httpServer(http.url), 'append_lines');
      expect(unknown.end.failure).toMatchObject({ kind: 'invalid', detail: expect.stringContaining('append_line') });
      const wrongs: Record<string, Json>[] = [{}, { line: 3 }, { line: 'a', more: true }, { line: 'x'.repeat(101) }];
      for (const params of wrongs) {
        const wrong = await call(httpServer(http.url), 'append_line', { params });
        expect(wrong.kind).toBe('invalid');
        expect(wrong.intents).toEqual([]);
      }
      const other = await call(httpServer(http.url, { name: 'other' }), 'append_line', { params: { line: 'a' } });
      expect(other.kind).toBe('invalid');
    });
    expect(count).toBe(0);
  });

  it('takes our key along where the tool has a place for it, and is then repeatable (F62)', async () => {
    const twice = () => call(httpServer(http.url), 'with_key', { params: { text: 'a' }, assignment: { key: 'key-7' } });
    const { value, count } = await effectsOf(async () => [await twice(), await twice()]);
    expect(value.map(each => [each.end.message, each.intents])).toEqual([
      ['key-7', [true]],
      ['key-7', [true]],
    ]);
    expect(count).toBe(1);
    const own = await call(httpServer(http.url), 'with_key', { params: { idempotency_key: 'mine' } });
    expect(own.end.message).toBe('mine');
    expect(own.intents).toEqual([false]);
  });
});

describe('an effect without an answer (F62, F63)', () => {
  const rows: readonly (readonly [tool: string, kind: string, count: number, repeatable: boolean])[] = [
    ['fail', 'refused', 0, false],
    ['die_before', 'lost-reply', 0, false],
    ['die_after', 'lost-reply', 1, false],
    ['die_speaking', 'lost-reply', 1, false],
    ['idempotent_put', 'connection', 1, true],
    ['own_answer', 'lost-reply', 1, false],
    ['bad_schema', 'lost-reply', 1, false],
    ['garbage', 'lost-reply', 1, false],
    ['internal_error', 'lost-reply', 1, false],
    ['enormous', 'lost-reply', 1, false],
  ];
  it.each(rows)('%s over HTTP ends as %s', async (tool, kind, count, repeatable) => {
    const seen = await effectsOf(() => call(httpServer(http.url), tool));
    expect([seen.value.kind, seen.count, seen.value.intents]).toEqual([kind, count, [repeatable]]);
    expect(seen.value.end.failure?.detail).not.toBe('');
  });

  it('may be tried again when a person declared the tool idempotent', async () => {
    for (const [tool, kind] of [['die_after', 'connection'] as const, ['bad_schema', 'refused'] as const]) {
      const seen = await call(httpServer(http.url, { idempotent: [tool] }), tool);
      expect([seen.kind, seen.intents]).toEqual([kind, [true]]);
    }
  });

  it('is asked about after a stop and after the time of the server, but a read may just be done again', async () => {
    const stopped = await call(httpServer(http.url), 'slow', { stopAtWord: true });
    expect([stopped.kind, stopped.end.message]).toEqual(['lost-reply', 'working\n']);
    const late = await call(httpServer(http.url, { timeMsMax: 30 }), 'slow');
    expect(late.kind).toBe('lost-reply');
    expect(late.end.failure?.detail).toContain('0.03 s');
    expect((await call(httpServer(http.url, { timeMsMax: 30 }), 'slow_read')).kind).toBe('timeout');
  });

  it('is none when the server cannot be reached or refuses at the door', async () => {
    const gone = await startHttpServer(made.file);
    await gone.close();
    expect(await call(httpServer(gone.url), 'append_line', { params: { line: 'a' } })).toMatchObject({
      kind: 'connection',
      intents: [],
    });
  });
});

it('keeps 100,000 characters of an answer of 10 MB (F63)', async () => {
  const { end } = await call(httpServer(http.url), 'huge');
  expect(end.failure).toBeUndefined();
  expect(end.message).toHaveLength(100_000);
  expect(end.message.endsWith('[… cut]')).toBe(true);
});

it('gives an HTTP server the headers of its configuration', async () => {
  await call(httpServer(http.url, { headers: { 'x-team': 'blue' } }), 'greet');
  expect(http.headers()['x-team']).toBe('blue');
});

it('ends its session with a server behind a URL', async () => {
  const before = http.sessionsEnded();
  await call(httpServer(http.url), 'greet');
  expect(http.sessionsEnded()).toBe(before + 1);
});

it('speaks the next generation of the protocol with a server that knows no other', async () => {
  const modern = await startHttpServer(made.file, 'reject');
  const { end } = await call(httpServer(modern.url), 'greet').finally(modern.close);
  expect(end.message).toBe('hello');
});

describe('a server over stdio (F62, F63)', () => {
  it('sees the harmless variables and those of its configuration, and nothing else of ours', async () => {
    const environment = { PATH: '/usr/bin:/bin', LANG: 'C', OUR_TOKEN: 'secret', NODE_OPTIONS: '--no-warnings' };
    const server = stdioServer('tiny.mjs', { MAIL_TOKEN: 'named' });
    const { end } = await call(server, 'environment', { options: { environment } });
    const seen = JSON.parse(end.message) as Record<string, string>;
    expect(seen).toMatchObject({ LANG: 'C', MAIL_TOKEN: 'named' });
    expect(Object.keys(seen)).not.toContain('OUR_TOKEN');
    expect(Object.keys(seen)).not.toContain('NODE_OPTIONS');
  });

  it('has answered when it died right after its answer', async () => {
    const { end } = await call(stdioServer('tiny.mjs'), 'farewell');
    expect(end).toEqual({ type: 'ended', message: 'goodbye', reaped: 0 });
  });

  it('is called once, and its death, its 20 MB and a stop are told as what they are, and nothing of it lives', async () => {
    const rows = [
      ['append_line', { params: { line: 'a' } }, undefined, 1],
      ['die_before', {}, 'lost-reply', 0],
      ['die_after', {}, 'lost-reply', 1],
      ['enormous', {}, 'lost-reply', 1],
      ['slow', { stopAtWord: true }, 'lost-reply', 1],
    ] as const;
    const seen = await Promise.all(
      rows.map(async ([tool, order]) => {
        const own = effects(scratch);
        // One of them knows only the next generation of the protocol: it is greeted twice, and started once.
        const legacy = tool === 'die_after' ? 'reject' : 'serve';
        const called = await call(stdioServer('server.ts', { MCP_EFFECTS: own.file, MCP_LEGACY: legacy }), tool, order);
        const spawned = called.activities.filter(each => each.type === 'spawned');
        expect(spawned.map(each => isAlive(each.pid, each.startTime))).toEqual([false]);
        return [tool, order, called.kind, own.all().length];
      }),
    );
    expect(seen).toEqual(rows);
  });
});
