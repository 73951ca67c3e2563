// Kills Ralph with -9 while its agent has a tree of processes below it, and sees that nobody of that tree is left.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isAlive } from '../../src/processes/identity.ts';
import { descendants } from '../../src/processes/tree.ts';
import { random } from '../simulate/random.ts';
import { agentPath, living, makeStage, type Stage, until } from './stage.ts';
import { LawBroken } from './verdict.ts';

export const shapes = [
  'plain',
  'grandchild',
  'setsid',
  'double-fork',
  'nohup',
  'holds-pipe',
  'stopped',
  'deep',
] as const;
type Shape = (typeof shapes)[number];

/** The real binary, or a small driver of `runProcess` that is told how to contain. */
type Victim = 'ralph' | 'namespace' | 'confined' | 'group';

export interface Trial {
  readonly shape: Shape;
  readonly victim: Victim;
  /** The victim has a child, which may still be on the way to the agent; the agent runs; its whole tree stands. */
  readonly moment: 'child' | 'born' | 'up';
  readonly afterMs: number;
}

const driver = join(import.meta.dirname, '..', 'processes', 'driver.ts');
const deadMsMax = 10_000;
const settleMs = 200;

/** Of every five rounds over the shapes three kill the real binary; most of the kills come while the tree grows. */
export function trialOf(seed: number): Trial {
  const chances = random(seed);
  const round = Math.floor((seed - 1) / shapes.length) % 5;
  const victim = (['ralph', 'ralph', 'ralph', seed % 2 === 0 ? 'namespace' : 'confined', 'group'] as const)[round]!;
  const shape = shapes[(seed - 1) % shapes.length]!;
  if (chances.is(0.4)) return { shape, victim, moment: 'up', afterMs: 0 };
  if (chances.is(0.5)) return { shape, victim, moment: 'born', afterMs: chances.whole(0, 30) };
  return { shape, victim, moment: 'child', afterMs: chances.chance() * 10 };
}

function startVictim(stage: Stage, { shape, victim }: Trial): ChildProcess {
  if (victim === 'ralph') {
    const command = `exec ${agentPath('spawns-shape')} ${shape}`;
    return stage.ralph(['run', 'PRD.json', '--yes', '--no-input', '--agent-command', command]).child;
  }
  const env = { PATH: process.env['PATH'] ?? '' };
  const words = [driver, stage.project, victim, agentPath('spawns-shape'), shape];
  return spawn(process.execPath, words, { cwd: stage.project, env, stdio: ['ignore', 'ignore', 'ignore'] });
}

/** A fifo that all of the tree hold open; reading it tells whether somebody does. */
function openLife(path: string): { isAnyoneAlive(): boolean; close(): void } {
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error(`cannot make ${path}`);
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return {
    isAnyoneAlive() {
      try {
        return readSync(file, Buffer.alloc(1)) > 0;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return true;
        throw error;
      }
    },
    close: () => closeSync(file),
  };
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since it was seen.
  }
}

/** Throws when somebody is left. */
export async function killAndLook(trial: Trial): Promise<void> {
  const stage = makeStage(1);
  const life = openLife(join(stage.project, 'alive'));
  const isThere = (name: string): boolean => existsSync(join(stage.project, name));
  const child = startVictim(stage, trial);
  const gone = new Promise(resolve => child.once('exit', resolve));
  try {
    const hasCome = (): boolean =>
      trial.moment === 'child' ? descendants(child.pid!).length > 0 : isThere(trial.moment);
    await until(`it comes to ${trial.moment}`, hasCome);
    const at = performance.now() + trial.afterMs;
    while (performance.now() < at); // finer than a timer
    if (trial.moment !== 'child' && !life.isAnyoneAlive())
      throw new LawBroken('the tree was gone before the kill: nothing is proven');
    const family = descendants(child.pid!); // our own shells and gits too
    child.kill('SIGKILL');
    await gone;
    const law = `nobody of the tree lives after kill -9 (${trial.shape}, ${trial.victim})`;
    await until(law, () => !life.isAnyoneAlive(), deadMsMax).catch(error => {
      throw new LawBroken(law, { cause: error });
    });
    const alive = () => family.filter(one => isAlive(one.pid, one.startTime));
    await until('all that it had started is gone', () => alive().length === 0, deadMsMax).catch(error => {
      for (const { pid } of alive()) process.kill(pid, 'SIGKILL'); // the proof failed, but not the machine
      throw new LawBroken(`all that it had started is gone after kill -9 (${trial.victim})`, { cause: error });
    });
    await setTimeout(settleMs); // one who was just being born would open the fifo now
    if (life.isAnyoneAlive()) throw new LawBroken(`${law}: somebody was born after it`);
  } finally {
    child.kill('SIGKILL');
    living(stage.project).forEach(end); // the proof failed, but not the machine
    life.close();
    stage.remove();
  }
}
