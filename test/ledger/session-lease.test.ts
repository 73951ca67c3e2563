// A session as the holder of a loop: no process of its own lives, so time alone tells whether it is still there (ADR 9).
import { expect, it } from 'vitest';
import { sessionHolder, sessionIdleMsMax, sessionOf } from '../../src/core/event.ts';
import type { Holder } from '../../src/ledger/ledger.ts';
import { boot } from '../contracts/store.ts';
import { inScratch, opened } from './scratch.ts';

const holder = (id: string, pid: number): Holder => ({ id, pid, startTime: '1', host: 'here', boot, version: '1' });

it('keeps its loop while its process is dead, until it was silent for half an hour', async () => {
  const scratch = inScratch();
  let now = 1_000_000;
  const ledger = await opened(scratch.path, { isAlive: () => false, now: () => now });
  const { store } = ledger;
  try {
    const first = await store.lease('l', holder(sessionHolder('abc'), 7));
    expect(first.ok).toBe(true);
    now += sessionIdleMsMax;
    expect(await store.lease('l', holder('process', 8))).toMatchObject({ ok: false, held: { holder: { pid: 7 } } });
    const again = await store.lease('l', holder(sessionHolder('abc'), 9));
    expect(again).toMatchObject({ ok: true, lease: { token: 2 } });
    now += sessionIdleMsMax;
    expect((await store.holder('l'))?.alive).toBe(true);
    now += 1;
    expect((await store.holder('l'))?.alive).toBe(false);
    expect(await store.lease('l', holder('process', 8))).toMatchObject({ ok: true, lease: { token: 3 } });
    // What the session's last hook would still write comes too late.
    if (again.ok) expect(await store.renew(again.lease)).toBe(false);
  } finally {
    await store.close();
    scratch.remove();
  }
});

it('is told from a process by its id', () => {
  expect([sessionOf(sessionHolder('abc')), sessionOf('0198-4f'), sessionOf('session')]).toEqual([
    'abc',
    undefined,
    undefined,
  ]);
});
