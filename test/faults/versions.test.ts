// Two versions and two processes at one ledger: exactly one works, and nobody harms what is not theirs.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLedger } from '../../src/app/app.ts';
import { makeStage, type Stage, until } from '../prove/stage.ts';
import { checkFinished, ofType } from '../prove/verdict.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage(2);
});
afterEach(() => stage.remove());

const agentIsUp = (): Promise<void> => until('the agent is up', () => stage.starts().length > 0);

it('F16: a run goes on when its program is replaced under it', async () => {
  stage.gate();
  const installed = join(stage.folder, 'installed');
  const isOfTheBinary = (path: string): boolean => !/\/(?:cache|chunks)$|\.map$/.test(path);
  cpSync(resolve(import.meta.dirname, '../../dist'), installed, { recursive: true, filter: isOfTheBinary });
  const running = stage.run('prd-waits', { program: join(installed, 'ralph.cjs') });
  await agentIsUp();
  rmSync(installed, { recursive: true });
  stage.openGate();
  const { code, errors } = await running.ended;
  expect([code, errors.includes('internal error')]).toEqual([0, false]);
  await checkFinished(stage, 2, readFileSync(stage.document, 'utf8'));
});

it('F16: a command that only a newer version knows waits for that version and does not end the run', async () => {
  stage.gate();
  const running = stage.run('prd-waits');
  await agentIsUp();
  const ledger = await openLedger({ home: stage.home, env: {}, warn: () => {} });
  const [row] = await ledger.store.loops();
  await ledger.mailbox.send(row!.loop, 'a newer ralph', { type: 'teleport', where: 'home' }, Date.now());
  await ledger.mailbox.send(row!.loop, 'a person', { type: 'tell', text: 'mind the gap' }, Date.now());
  await until(
    'the command that is understood was taken',
    async () => (await ledger.mailbox.waiting(row!.loop)).length === 1,
  );
  stage.openGate();
  expect((await running.ended).code).toBe(0);
  expect(await ledger.mailbox.waiting(row!.loop)).toMatchObject([{ by: 'a newer ralph' }]);
  await ledger.store.close();
  const { events } = await checkFinished(stage, 2, readFileSync(stage.document, 'utf8'));
  expect(ofType(events, 'guidance.given')).toMatchObject([{ text: 'mind the gap', by: 'a person' }]);
});

it('F17: an older program refuses a newer ledger, exit 2, and changes none of its bytes', async () => {
  expect((await stage.runWarm()).code).toBe(0);
  const path = join(stage.home, 'ralph.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const before = readFileSync(path);
  for (const words of [['status'], ['run', 'PRD.json', '--agent-command', 'true'], ['stop'], ['audit', 'verify']]) {
    const { code, errors } = await stage.warm(words);
    expect([words[0], code]).toEqual([words[0], 2]);
    expect(errors).toContain('written by a newer ralph');
  }
  expect(readFileSync(path).equals(before)).toBe(true);
});

it('F18: of two runs of one live loop the second is told who holds it, exit 9', async () => {
  stage.gate();
  const first = stage.run('prd-waits');
  await agentIsUp();
  const { code, errors } = await stage.run('prd-waits').ended;
  expect(code).toBe(9);
  expect(errors).toMatch(new RegExp(`process ${first.child.pid} on \\S+ works on this loop since \\d{4}-\\d\\d-\\d\\d `));
  stage.openGate();
  expect((await first.ended).code).toBe(0);
  await checkFinished(stage, 2, readFileSync(stage.document, 'utf8'));
});

it('F18: of five runs that start in the same moment exactly one works', async () => {
  stage.gate();
  const all = Array.from({ length: 5 }, () => stage.run('prd-waits'));
  const losers = new Set<number | null>();
  let lost = 0;
  for (const one of all)
    void one.ended.then(({ code }) => {
      lost += 1;
      losers.add(code);
    });
  await until('four of five were turned away', () => lost === 4);
  expect([...losers]).toEqual([9]);
  stage.openGate();
  const codes = (await Promise.all(all.map(one => one.ended))).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 9, 9, 9, 9]);
  expect(await stage.ledger()).toHaveLength(1);
  await checkFinished(stage, 2, readFileSync(stage.document, 'utf8'));
});
