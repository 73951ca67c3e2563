// What looking at a long history costs, counted in rows read and in writes: once through at most, and no page per anchor.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerLoops } from '../../src/app/loops/loops.ts';
import { audited } from '../../src/app/rewind.ts';
import * as events from '../../src/cli/commands/events.ts';
import * as explain from '../../src/cli/commands/explain.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Event } from '../../src/core/event.ts';
import type { Ledger, LoopRow } from '../../src/ledger/ledger.ts';
import { guidance, loopStarted } from '../contracts/store.ts';
import { makeRepo, type Repo } from '../git/repo.ts';
import { opened } from '../ledger/scratch.ts';

/** Every event that leaves the database as an event passes here. */
const counter = vi.hoisted(() => ({ read: 0 }));
vi.mock(import('../../src/ledger/upcast.ts'), async original => {
  const { upcast, ...rest } = await original();
  return {
    ...rest,
    upcast: stored => {
      counter.read += 1;
      return upcast(stored);
    },
  };
});

const loop = 'long';
const perIteration = 20;
const iterations = 200;
const all = 1 + perIteration * iterations;

let repo: Repo;
let ledger: Ledger;
let row: LoopRow;
const heads: string[] = [];
let out: string[];
let said: string[];

const made = (number: number): Event => ({
  ...{ type: 'checkpoint.made', at: 6, iteration: number, number, checkpoint: `c${number}`, kind: 'iteration' },
  ...{ label: 'one', commit: 'a', tree: 'b', ref: 'r', sha256: 'c', skipped: [], because: 'made' },
});

/** The notes as a checkpoint makes them, each with the head that the ledger had then. */
function note(heads: readonly string[]): void {
  const commits = heads.map(
    (_, at) => `commit refs/heads/c${at + 1}\nmark :${at + 1}\ncommitter R <r> ${at + 1} +0000\ndata 0\n`,
  );
  const notes = heads.map((head, at) => `N inline :${at + 1}\ndata ${head.length}\n${head}\n`);
  const input = `${commits.join('')}commit refs/notes/ralph/${loop}\ncommitter R <r> 1 +0000\ndata 0\n${notes.join('')}`;
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: repo.top, env: repo.environment, input });
}

beforeAll(async () => {
  repo = makeRepo([], false);
  ledger = await opened(`${repo.root}/ralph.db`);
  const started: Event = {
    ...loopStarted(loop),
    ...{ directory: repo.top, document: `${repo.top}/PRD.json` },
  } as Event;
  let seq = 0;
  const append = async (more: readonly Event[]): Promise<string> => {
    const appended = await ledger.store.append(loop, seq, more);
    if (!appended.ok) throw new Error(appended.failure.detail);
    seq = appended.seq;
    return `${appended.seq} ${appended.hash}`;
  };
  await append([started]);
  const words = Array.from({ length: perIteration - 1 }, (_, at) => guidance(`word ${at}`));
  for (let number = 1; number <= iterations; number += 1) heads.push(await append([...words, made(number)]));
  note(heads);
  [row] = (await ledger.store.loops()) as [LoopRow];
});
beforeEach(() => {
  [out, said, counter.read] = [[], [], 0];
});
afterAll(async () => {
  await ledger.store.close();
  repo.cleanUp();
});

function context(): Context {
  const loops = new LedgerLoops({ ledger, home: repo.root, env: repo.environment, warn: () => {} });
  const taken = { out: (text: string) => out.push(text), say: (text: string) => said.push(text) };
  return { ...taken, ledger: async () => ledger, loops: async () => loops, directory: repo.top } as unknown as Context;
}

describe('given a loop of 4,001 events with 200 anchors in git', () => {
  it('when it is audited, then besides the one pass over the chain one row is read for each anchor', async () => {
    const result = await audited(ledger, repo.root, row, repo.environment);
    expect(result).toMatchObject({ ok: true, events: all, anchors: iterations, anchorsExpected: iterations });
    expect(result.differs).toBeUndefined();
    expect(counter.read).toBe(iterations);
  });

  it('when an anchor names another hash, or an event that is not there, then it is named', async () => {
    note([`41 ${'0'.repeat(64)}`]);
    expect(await audited(ledger, repo.root, row, repo.environment)).toMatchObject({ ok: true, differs: 41 });
    note([`9999 ${'0'.repeat(64)}`]);
    expect(await audited(ledger, repo.root, row, repo.environment)).toMatchObject({ ok: true, differs: 9_999 });
    note(heads);
  });

  it('when its events are listed, then each is read once, and written by the page', async () => {
    await events.execute(context(), [loop], {});
    expect(counter.read).toBe(all);
    expect(out.length).toBe(Math.ceil(all / 1_000));
    expect(out.join('\n').split('\n')).toHaveLength(all);
  });

  it('when it is explained, then the newest 500 steps are read and shown, with the command for those before', async () => {
    await explain.execute(context(), [loop], {});
    expect(counter.read).toBeLessThanOrEqual(1_000);
    const lines = out.join('\n').split('\n');
    expect([lines.length, Number.parseInt(lines[0]!, 10), Number.parseInt(lines.at(-1)!, 10)]).toEqual([
      500,
      3_502,
      all,
    ]);
    expect(said).toEqual([expect.stringContaining(`ralph explain ${row.name} --before 3502`)]);
    [out, said] = [[], []];
    await explain.execute(context(), [loop], { before: '3502' });
    expect(
      out
        .join('\n')
        .split('\n')
        .map(line => Number.parseInt(line, 10))
        .at(-1),
    ).toBe(3_501);
    [out, said] = [[], []];
    await explain.execute(context(), [loop], { before: '500' });
    expect([out.join('\n').split('\n').length, said.length]).toEqual([499, 0]);
  });

  it('when it is explained to a program, then all of it is told, unless it asks for a part', async () => {
    const steps = async (flags: object): Promise<number> => {
      out = [];
      await explain.execute(context(), [loop], { json: true, ...flags });
      return (JSON.parse(out.join('')) as { steps: readonly unknown[] }).steps.length;
    };
    expect([await steps({}), await steps({ before: '3502' })]).toEqual([all, 500]);
    await expect(steps({ before: 'x' })).rejects.toThrow('--before x');
  });
});
