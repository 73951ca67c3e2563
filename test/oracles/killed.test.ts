// A loop that 0.4.0 was killed in, in mid-iteration: today's code takes it up, tries the lost task again and finishes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { eventsOf, inScratch, type Scratch } from '../cli/kit.ts';
import { unpack } from './unpack.ts';

const bodies = readFileSync(join(import.meta.dirname, 'killed', 'ledger.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');

/** The chain covers the paths in the bodies, so the database is made anew from what 0.4.0 stored, with a dead holder's lease. */
async function putLedger({ home, project }: Scratch): Promise<void> {
  const events = bodies.map(body => JSON.parse(body.replaceAll('/srv/demo/killed', project)) as Event);
  const [started] = events;
  if (started?.type !== 'loop.started') throw new Error('the ledger does not begin with its start');
  const path = join(home, 'ralph.db');
  const options = { path, version: '0.4.0', boot: 'gone', isAlive: () => true, now: () => started.at, warn: () => {} };
  const opened = await openSqliteLedger(options);
  if (!opened.ok) throw new Error(opened.failure.detail);
  const { store } = opened.ledger;
  const holder = { id: 'killed', pid: 2 ** 22 + 1, startTime: '1', host: 'gone', boot: 'gone', version: '0.4.0' };
  const leased = await store.lease(started.loop, holder);
  if (!leased.ok) throw new Error('the lease is taken');
  expect(await store.append(started.loop, 0, events, { token: leased.lease.token })).toMatchObject({ ok: true });
  await store.close();
}

it('is resumed and finished by the same command', () =>
  inScratch(async place => {
    unpack('killed/files.json.gz', place.root);
    await putLedger(place);
    const before = (await eventsOf(place)).length;
    expect(before).toBe(bodies.length);
    const agent = ['--agent-command', 'sh agent.sh', '--verify', 'test -f work/US-001.txt', '--name', 'killed'];
    const told = await place.ralph(['run', 'PRD.json', ...agent, '--allow-red-start', '--quiet', '--yes']);
    expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Done: 3 of 3 tasks done, 4 iterations/) });
    expect(place.read('starts.log')).toBe('1 US-001\n2 US-002\n3 US-002\n4 US-003\n');
    const ended = (await eventsOf(place)).slice(before).filter(event => event['type'] === 'iteration.ended');
    expect(ended[0]).toMatchObject({ iteration: 2, outcome: 'interrupted' });
    expect(await place.ralph(['audit', 'verify', 'killed'])).toMatchObject({ code: 0 });
    for (const task of ['US-001', 'US-002', 'US-003']) {
      expect(existsSync(join(place.project, 'work', `${task}.txt`))).toBe(true);
    }
  }));
