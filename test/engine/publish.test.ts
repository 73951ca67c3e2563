// Proves when the views of a loop are written: a small report with every status, a large one after a while and at the end.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { publisher } from '../../src/engine/publish.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { claims, loop, makeEngine, makeWorld, runWorld } from './world.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-publish-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function versionOf(name: string): string | undefined {
  const stats = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeNs}`;
}

async function untilWritten(name: string, before: string | undefined): Promise<void> {
  while (versionOf(name) === before) await new Promise(done => setImmediate(done));
}

/** The views of a loop that has so many tasks. `next`: something changed; passes go one after the other. */
async function published(tasks: number) {
  const world = makeWorld(tasks);
  const engine = makeEngine(world, claims);
  await runWorld(world, engine, { settings: { limits: { ...defaultSettings('prd').limits, iterationsMax: 1 } } });
  const { ledger, clock, holder } = engine;
  const publish = publisher({ ledger, clock, holder, loop, folder, warn: sentence => expect.fail(sentence) });
  const next = async (): Promise<string | undefined> => {
    const before = versionOf('status.json');
    publish.changed();
    world.clock.advance();
    await untilWritten('status.json', before);
    return versionOf('report.json'); // of the pass before this one
  };
  return { next, advance: () => world.clock.advance(), close: () => publish.close() };
}

it('a small report is written with every status', async () => {
  const { next, close } = await published(2);
  await next();
  const first = await next();
  expect(first).toBeDefined();
  expect(await next()).not.toBe(first);
  await close();
});

it('a report of thousands of tasks is not written each second, but after a while, and when the run is over', async () => {
  const { next, advance, close } = await published(2_000);
  await next();
  const first = await next();
  expect(first).toBeDefined();
  expect(await next()).toBe(first);
  advance();
  await untilWritten('report.json', first);
  const late = await next();
  await close();
  expect(versionOf('report.json')).not.toBe(late);
  expect(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))).toMatchObject({ version: 1 });
});
