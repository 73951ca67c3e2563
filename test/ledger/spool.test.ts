// The spool of an iteration under a flood: what is beyond its bound is neither kept nor looked through; the reserve beside it.
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileSpool, iterationFolder, keepReserve } from '../../src/ledger/spool.ts';

it('given more output than is kept, then the rest is not searched for secrets, and the end is kept all the same', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-spool-'));
  try {
    let searched = 0;
    const spool = fileSpool(folder, text => {
      searched += text.length;
      return text;
    });
    const writer = spool.open(1, 'work');
    const [text, bound] = [`${'x'.repeat(1_048_575)}\n`, 64 * 1_048_576];
    for (let written = 0; written < 2 * bound; written += text.length) writer.write(text, 'output');
    writer.write('too late\n', 'errors');
    writer.end({ message: 'done' });
    expect(searched).toBeLessThan(bound + 2 * text.length);
    const kept = readFileSync(join(iterationFolder(folder, 1), 'output.log'), 'latin1');
    expect(kept.slice(bound)).toContain('output cut at 64 MB');
    expect(spool.found(1)).toEqual({ message: 'done' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('writes the reserve when it is not there as a whole, and else leaves it alone', async () => {
  const home = mkdtempSync(join(tmpdir(), 'ralph-reserve-'));
  const reserve = join(home, 'reserve');
  try {
    await keepReserve(home);
    const first = statSync(reserve, { bigint: true });
    await keepReserve(home);
    expect(statSync(reserve, { bigint: true }).mtimeNs).toBe(first.mtimeNs);
    truncateSync(reserve, 10);
    await keepReserve(home);
    expect(statSync(reserve).size).toBe(1_048_576);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
