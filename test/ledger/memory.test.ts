// The ledger in memory keeps the contract of all ledgers.
import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../src/ledger/memory.ts';
import { guidance, type LedgerUnderTest, storeContract, type World } from '../contracts/store.ts';

const silentHolders = 'memory does not outlive its boot';

function inMemory(world: World, hash: boolean): LedgerUnderTest {
  const ledger = memoryLedger({ hash, ...world });
  return { ledger, another: async () => ledger, cleanUp: async () => ledger.store.close() };
}

storeContract('memory', async world => inMemory(world, true), { hashes: true, silentHolders });
storeContract('memory without hashes', async world => inMemory(world, false), {
  hashes: 'switched off for the simulator',
  silentHolders,
});

describe('a ledger in memory without options', () => {
  it('takes every holder for alive and hashes', async () => {
    const { store } = memoryLedger();
    const appended = await store.append('a', 0, [guidance('one')]);
    expect(appended.ok && appended.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('refuses an event that has no canonical form and keeps nothing of that append', async () => {
    const { store } = memoryLedger();
    const bad = { ...guidance('two'), at: Number.NaN };
    await expect(store.append('a', 0, [guidance('one'), bad])).rejects.toThrow('canonical JSON has no');
    expect(await store.read('a')).toEqual([]);
  });
});
