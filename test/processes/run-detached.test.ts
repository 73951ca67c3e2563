// A detached program ends its work although we are killed in the middle of it, and tells us its end when we are not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runDetached } from '../../src/processes/run-detached.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-detached-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Says that it started, waits until it may go on, then says that it is done. */
const patient = `
const fs = process.getBuiltinModule('node:fs');
const folder = process.argv.at(-1);
fs.writeFileSync(folder + '/started', Object.keys(process.env).join());
const wait = () => {
  if (!fs.existsSync(folder + '/go')) return setTimeout(wait, 5);
  try { fs.writeSync(1, 'said'); } catch {}
  fs.writeFileSync(folder + '/done', 'yes');
};
wait();
`;

describe('a detached program', () => {
  it('goes on when we are killed, without our environment', async () => {
    const module = pathToFileURL(join(import.meta.dirname, '../../src/processes/run-detached.ts')).href;
    const text = `import { runDetached } from ${JSON.stringify(module)}; await runDetached(${JSON.stringify(patient)}, ${JSON.stringify(folder)});`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', text], {
      env: { SECRET: 'x' },
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(parent, 'exit');
    await vi.waitFor(() => expect(existsSync(join(folder, 'started'))).toBe(true), { timeout: 20_000 });
    process.kill(-parent.pid!, 'SIGKILL'); // and all of its group
    await ended;
    writeFileSync(join(folder, 'go'), '');
    await vi.waitFor(() => expect(existsSync(join(folder, 'done'))).toBe(true), { timeout: 20_000 });
    expect(readFileSync(join(folder, 'started'), 'utf8')).toBe('LC_ALL');
  });

  it('tells what it said and how it ended', async () => {
    writeFileSync(join(folder, 'go'), '');
    expect(await runDetached(patient, folder)).toMatchObject({ code: 0, output: Buffer.from('said') });
    expect(await runDetached('throw new Error("broken")', '')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/broken/),
    });
  });
});
