// Many processes at one ledger, a reader that never lets go, and a ledger that is damaged between two commands.
import { cpSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeStage, type Stage, until } from '../prove/stage.ts';
import { checkFinished, ofType } from '../prove/verdict.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage(1);
});
afterEach(() => stage.remove());

const ledgerPath = (): string => join(stage.home, 'ralph.db');
const logBytes = (): number => statSync(`${ledgerPath()}-wal`, { throwIfNoEntry: false })?.size ?? 0;

it('F43: six runs of six projects in one home all reach their end, and nobody sees a busy ledger', async () => {
  const projects = Array.from({ length: 6 }, (_, at) => makeStage(1, join(stage.folder, `project-${at}`)));
  const ran = await Promise.all(projects.map(each => each.run('prd-works', { env: { RALPH_HOME: stage.home } }).ended));
  expect(ran.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 0));
  expect(ran.map(({ errors }) => errors).join('')).not.toMatch(/\b(?:busy|locked)\b/i);
  const records = await stage.ledger();
  expect(records).toHaveLength(6);
  for (const { events, verified } of records) {
    expect(verified.ok).toBe(true);
    expect(ofType(events, 'task.closed')).toHaveLength(1);
  }
  expect((await stage.warm(['audit', 'verify'])).code).toBe(0);
});

it('F44: a reader that holds an old view does not hold up the loop, and the log is emptied when it lets go', async () => {
  stage.gate();
  const running = stage.run('prd-waits');
  await until('the agent is up', () => stage.starts().length > 0);
  const reader = new DatabaseSync(ledgerPath(), { readOnly: true });
  reader.exec('BEGIN');
  const seen = reader.prepare('SELECT count(*) AS events FROM events').get();
  stage.openGate();
  expect((await running.ended).code).toBe(0);
  expect(reader.prepare('SELECT count(*) AS events FROM events').get()).toEqual(seen);
  expect(logBytes()).toBeGreaterThan(0);
  reader.exec('COMMIT');
  reader.close();
  expect((await stage.runWarm()).code).toBe(0); // all is done already: it writes that and closes
  expect(logBytes()).toBe(0);
  await checkFinished(stage, 1, readFileSync(stage.document, 'utf8'));
});

describe('a damaged ledger (F46)', () => {
  /** A run that has ended, made once and copied. */
  let finished: Stage;
  beforeAll(async () => {
    finished = makeStage(1);
    expect((await finished.runWarm()).code).toBe(0);
  });
  afterAll(() => finished.remove());

  function damage(change: (bytes: Buffer) => void): void {
    const bytes = readFileSync(ledgerPath());
    change(bytes);
    writeFileSync(ledgerPath(), bytes);
  }

  const pageBytes = 4_096;
  const damages: readonly (readonly [string, () => void])[] = [
    ['its header is zeroed', () => damage(bytes => void bytes.fill(0, 0, 100))],
    ['it is cut in half', () => truncateSync(ledgerPath(), Math.floor(statSync(ledgerPath()).size / 2))],
    ['it is cut to nothing', () => truncateSync(ledgerPath(), 0)],
    ['its second page is zeroed', () => damage(bytes => void bytes.fill(0, pageBytes, 2 * pageBytes))],
    ['its log is garbage', () => writeFileSync(`${ledgerPath()}-wal`, Buffer.alloc(3 * pageBytes, 'garbage'))],
  ];

  it.each(damages)('%s: it is kept aside, the message says where, and the next command works', async (_name, harm) => {
    cpSync(finished.folder, stage.folder, { recursive: true });
    harm();
    const damaged = readFileSync(ledgerPath());
    const { code, errors } = await stage.runWarm('prd-works', ['--new']);
    expect([code, errors]).toEqual([1, expect.stringContaining('was damaged')]);
    const aside = readdirSync(stage.home).find(
      name => /^ralph\.db\.corrupt-[^-]+-[^-]+-[^-]+$/.test(name) || /corrupt-.*Z$/.test(name),
    );
    expect(errors).toContain(join(stage.home, aside ?? 'nothing was kept'));
    expect(readFileSync(join(stage.home, aside!)).equals(damaged)).toBe(true);
    const document = join(stage.project, 'PRD.json');
    writeFileSync(document, readFileSync(document, 'utf8').replaceAll(/"passes":\s*true/g, '"passes": false'));
    const again = await stage.runWarm('prd-works', ['--new']);
    expect([again.code, again.errors]).toEqual([0, expect.not.stringContaining('damaged')]);
    const verify = await stage.warm(['audit', 'verify']);
    expect([verify.code, verify.output]).toEqual([0, expect.stringContaining('chain holds')]);
  });

  it('in the middle of its life: what was saved is gone on with', async () => {
    stage.gate();
    const running = stage.run('prd-waits');
    await until(
      'the agent is up',
      async () => (await stage.ledger().catch(() => []))[0]?.events.at(-1)?.type === 'iteration.spawned',
    );
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    const before = await stage.ledger();
    damage(bytes => void bytes.fill(0, 0, 100));
    expect((await stage.run('prd-waits').ended).code).toBe(1);
    expect((await stage.ledger()).map(({ events }) => events)).toEqual(before.map(({ events }) => events));
    stage.openGate();
    expect((await stage.runWarm('prd-waits')).code).toBe(0);
    const { events } = await checkFinished(stage, 1, readFileSync(stage.document, 'utf8'));
    expect(ofType(events, 'iteration.ended')[0]).toMatchObject({ outcome: 'interrupted' });
  });
});
