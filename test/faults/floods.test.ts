// Floods of output through the real binary, in their small form (F28, F29): work is counted, not time.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Flooded, flooded } from '../prove/floods.ts';

const capBytes = 64 * 1_024 * 1_024;
const claimBytes = '\nTask US-001 complete\n'.length;

describe('an agent that floods the real binary (F28, F29)', () => {
  let quiet: Flooded;
  beforeAll(async () => {
    quiet = await flooded('lines', 0);
  });

  it('has every byte of it kept below the cap, and none of it in the ledger', async () => {
    const { spoolBytes, events } = await flooded('lines', 5_000_000);
    expect(spoolBytes).toBe(5_000_000 + claimBytes);
    expect(events).toBeLessThan(quiet.events + 10);
  });

  it('fills the spool to its cap and no further, and its last word still counts', async () => {
    const { spoolBytes, residentBytesMax } = await flooded('lines', 80_000_000);
    expect(spoolBytes).toBe(capBytes + Buffer.byteLength('\n[… output cut at 64 MB]\n'));
    expect(residentBytesMax - quiet.residentBytesMax).toBeLessThan(64_000_000);
  });

  it('leaves our memory flat with one line of 100 MB, of which 1 MB is kept', async () => {
    const { spoolBytes, residentBytesMax } = await flooded('line', 100_000_000);
    expect(spoolBytes).toBe(1_000_000 + Buffer.byteLength('[… line cut at 1 MB]\nafter\n') + claimBytes);
    expect(residentBytesMax - quiet.residentBytesMax).toBeLessThan(64_000_000);
  });

  it('may count its tokens after every message: the ledger gets a few of the totals, not all', async () => {
    const { events, ms, bytes } = await flooded('claude', 22_000_000);
    expect(bytes).toBeGreaterThan(20_000_000); // 450 messages
    expect(events).toBeLessThan(quiet.events + 10 + (3 * ms) / 1_000);
  });
});
