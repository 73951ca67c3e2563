// Upgrade in the middle of a loop: 0.4.0, built from this repository's history, runs while today's commands look and steer;
// and loops that 0.4.0 was killed in are finished by today's code.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeStage, type Stage, until } from './stage.ts';
import { checkFinished, LawBroken } from './verdict.ts';

const release = '0a84af166753'; // the last commit of 0.4.0
const root = resolve(import.meta.dirname, '../..');
const stories = 3;

/** The bundle of 0.4.0, or why there is none. */
function buildRelease(folder: string): string {
  const options = { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', HOME: folder } } as const;
  const made = spawnSync('sh', ['-c', `git archive ${release} | tar -x -C "$1"`, 'sh', folder], options);
  if (made.status !== 0 || !existsSync(join(folder, 'scripts', 'build.mjs')))
    throw new LawBroken(`0.4.0 (${release}) is not in this clone's history: ${made.stderr}`);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const built = spawnSync(process.execPath, ['scripts/build.mjs'], { ...options, cwd: folder });
  if (built.status !== 0) throw new LawBroken(`0.4.0 does not build: ${built.stderr}`);
  return join(folder, 'dist', 'ralph.js');
}

async function says(stage: Stage, words: readonly string[], wanted: RegExp, code = 0): Promise<void> {
  const ended = await stage.ralph(words).ended;
  if (ended.code !== code || !wanted.test(`${ended.output}${ended.errors}`))
    throw new LawBroken(`ralph ${words.join(' ')} gave ${ended.code}: ${ended.output}${ended.errors}`);
}

const halfSaid =
  (stage: Stage): (() => boolean) =>
  () =>
    stage.starts().length === 1;

/** 0.4.0 works on its first story; new commands look at the loop, and two of them reach it. */
async function steered(old: string): Promise<void> {
  const stage = makeStage(stories);
  try {
    mkdirSync(stage.home);
    stage.gate();
    const running = stage.run('prd-waits', { program: old }, ['--name', 'old']);
    await until('the agent of 0.4.0 works', halfSaid(stage));
    await says(stage, ['status', 'old'], /old/);
    await says(stage, ['status', 'old', '--json'], /"iteration/);
    await says(stage, ['events', 'old', '--json'], /iteration\.started/);
    await says(stage, ['tell', 'old', 'mind the gap'], /./);
    stage.openGate();
    const ended = await running.ended;
    if (ended.code !== 0) throw new LawBroken(`the loop of 0.4.0 ended with ${ended.code}: ${ended.errors}`);
    await checkFinished(stage, stories, readFileSync(stage.document, 'utf8'));
    const [loop] = await stage.ledger();
    if (loop?.events.some(one => one.type === 'guidance.given') !== true)
      throw new LawBroken('the words of a new command did not reach the loop of 0.4.0');
    await says(stage, ['status', 'old'], /done|complete/i);
    await says(stage, ['audit', 'verify', 'old'], /./);
    await says(stage, ['checkpoint', 'list', 'old'], /./, 2); // no repository: said as before
  } finally {
    stage.remove();
  }
}

/** 0.4.0 is killed in mid-iteration; the same command with today's code finishes. */
async function takenUp(old: string): Promise<void> {
  const stage = makeStage(stories);
  try {
    mkdirSync(stage.home);
    stage.gate();
    const running = stage.run('prd-waits', { program: old });
    await until('the agent of 0.4.0 works', halfSaid(stage));
    running.child.kill('SIGKILL');
    await running.ended;
    stage.openGate();
    const { code, errors } = await stage.run('prd-works').ended;
    if (code !== 0) throw new LawBroken(`the loop that 0.4.0 left ended with ${code}: ${errors}`);
    await checkFinished(stage, stories, readFileSync(stage.document, 'utf8'));
  } finally {
    stage.remove();
  }
}

export async function proveUpgrade(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-release-'));
  let failed = 0;
  try {
    const old = buildRelease(folder);
    for (const [name, trial] of Object.entries({ 'steered while 0.4.0 ran': steered, 'killed in 0.4.0': takenUp })) {
      let good = 0;
      for (let at = 0; at < count; at += 1) {
        await trial(old).then(
          () => {
            good += 1;
          },
          (error: unknown) => console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`),
        );
      }
      console.log(`${good} of ${count} loops ${name} ended well (command agent, SQLite)`);
      failed += count - good;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return failed;
}
