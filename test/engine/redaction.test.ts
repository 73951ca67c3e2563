// The one funnel, seen from outside: a secret that goes in anywhere comes out nowhere, in no file, on no stream, in no prompt.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { agentPath, type Ended, makeStage, type Stage } from '../prove/stage.ts';

// Put together here, so that no scanner takes this file for a leak.
const byShape = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
const byName = ['correct', 'horse', 'battery', '77'].join('-');
const both = `${byShape} and ${byName}`;
const env = { DEPLOY_PASSWORD: byName };

let stage: Stage;
beforeEach(() => {
  stage = makeStage(1);
  const text = readFileSync(stage.document, 'utf8');
  writeFileSync(
    stage.document,
    text.replace('Write it.', `Log in with ${both}.`).replace('its file', `${both}: its file`),
  );
  writeFileSync(join(stage.project, 'PROMPT.md'), `Work well. The key is ${both}.\n`);
  writeFileSync(join(stage.project, 'secret.txt'), both);
});
afterEach(() => stage.remove());

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path).isFile());
}

const leaksIn = (paths: readonly string[]): readonly string[] =>
  paths.filter(path => [byShape, byName].some(secret => readFileSync(path).includes(secret)));

const said: Ended[] = [];
async function ralph(...words: readonly string[]): Promise<number | null> {
  const ended = await stage.ralph(words, { env }).ended;
  said.push(ended);
  return ended.code;
}
const run = (): Promise<number | null> =>
  ralph(
    'run',
    'PRD.json',
    '--agent-command',
    agentPath('prd-leaks'),
    '--backoff-base',
    '10ms',
    '--verify',
    check,
    '--allow-red-start',
  );
const check = 'cat secret.txt; cat secret.txt >&2; test -e proven';

it('no secret of a task, an agent, a check, a question or a person is in any file of ours, said or sent', async () => {
  expect(await run()).toBe(5);
  // A reader with an old view keeps the log from being emptied, so that its bytes are searched too.
  const reader = new DatabaseSync(join(stage.home, 'ralph.db'), { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM events');
  onTestFinished(() => reader.close());
  expect(await ralph('answer', 'E1', '--text', `use ${byName} instead`)).toBe(0);
  expect(await ralph('tell', `the old password was ${byName}`)).toBe(0);
  for (const words of [['status'], ['inbox'], ['explain'], ['events'], ['logs'], ['logs', '--prompt'], ['report']])
    expect(await ralph(...words)).toBe(0);
  expect(await run()).toBe(0);
  for (const words of [['status', '--json'], ['events', '--json'], ['report', '--json'], ['loops', 'list'], ['logs']])
    expect(await ralph(...words)).toBe(0);

  const [record] = await stage.ledger();
  const types = record!.events.map(event => event.type);
  for (const type of ['escalation.raised', 'escalation.answered', 'guidance.given', 'check.ended', 'task.closed'])
    expect(types).toContain(type);
  expect(statSync(join(stage.home, 'ralph.db-wal')).size).toBeGreaterThan(10_000);
  const received = readdirSync(stage.project).filter(name => name.startsWith('received.'));
  expect(received).toEqual(['received.1', 'received.2', 'received.3', 'received.4']);
  expect(leaksIn(received.map(name => join(stage.project, name)))).toEqual([]);
  expect(said.flatMap(({ output, errors }) => [output, errors]).filter(text => text.includes(byShape))).toEqual([]);
  expect(said.flatMap(({ output, errors }) => [output, errors]).filter(text => text.includes(byName))).toEqual([]);
  expect(readFileSync(join(stage.project, 'received.4'), 'utf8')).toContain('redacted');
  expect(leaksIn(filesBelow(stage.home)).map(path => path.slice(stage.home.length))).toEqual([]);
});
