// The performer of any agent CLI: starts it, reads its stream, steers it, ends it, and says how it went.
//
// An adapter is an AgentCli record (agent.ts) and knows nothing of processes. One thing it should know of this file: a
// reader that has `readPlain` belongs to an agent without a last word: it leaves `finished` false, and exit code 0 is its
// good end.
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessOrder } from '../processes/spawn.ts';
import type { Timers } from '../processes/timers.ts';
import type { AgentCli, Launch, LaunchOrder, PriceBook } from './agent.ts';
import { startCliRun } from './cli-run.ts';
import { performAtTerminal } from './interactive.ts';
import { fullPrompt, iterationEnvironment } from './launch.ts';
import type { Activity, Assignment, Performer } from './performer.ts';
import { performProcess } from './process-run.ts';

export interface AgentOptions extends Pick<ProcessOrder, 'limits' | 'confinement' | 'graceMs'> {
  /** The performer's name, such as `claude/opus`. */
  readonly name: string;
  /** All that it may see: nothing of our own environment is added but what its adapter sets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly prices: PriceBook;
  /** Instead of some of `usualTimers`. */
  readonly timers?: Partial<Timers>;
}

export interface CliAgentOptions extends AgentOptions {
  /** Its path, or a name on the PATH of `environment`. */
  readonly program: string;
  /** The user's own arguments, already split. */
  readonly args: readonly string[];
  /** How long its own interrupt may take before signals are sent. */
  readonly interruptMs?: number;
  /** Where the private folder of an iteration is made; the system's folder for such things by default. */
  readonly folderIn?: string;
  readonly now?: () => number;
}

export const usualTimers = {
  firstByteMs: 120_000,
  silenceMs: 600_000, // more than a stall of 405 s that is known to pass (F27)
  busySilenceMs: 1_800_000,
  afterResultMs: 30_000,
} as const satisfies Timers;

export function cliAgent(cli: AgentCli, options: CliAgentOptions): Performer {
  return {
    name: options.name,
    can: cli.can,
    perform: (assignment, stop) => perform(cli, options, assignment, stop),
  };
}

async function* perform(
  cli: AgentCli,
  options: CliAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  if (stop.aborted) return yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'never started' } };
  const order = launchOrder(cli, options, assignment);
  const launch = prepare(cli, order);
  if (typeof launch === 'string') {
    return yield { type: 'ended', message: '', failure: { kind: 'spawn', detail: launch } };
  }
  const allowed = { ...options.environment, ...cli.fixedEnvironment, ...launch.environment };
  const { directory, timeMsMax, doneFile, notes } = assignment;
  const { program: command, limits, confinement, graceMs, prices } = options;
  const environment = iterationEnvironment(allowed, assignment);
  const process = { command, args: launch.args, directory, environment, timeMsMax, limits, confinement };
  const timers = { ...usualTimers, ...options.timers };
  const interruptMs = options.interruptMs ?? 5_000;
  const now = options.now ?? Date.now;
  try {
    if (order.openingPrompt !== undefined) return yield* performAtTerminal({ ...process, doneFile }, stop);
    const headless = { ...process, input: launch.input, timers, graceMs };
    const run = { cli, launchOrder: order, process: headless, timers, prices, stop, notes, interruptMs, now };
    yield* performProcess(cli.name, push => startCliRun(run, push));
  } finally {
    rmSync(order.folder, { recursive: true, force: true });
  }
}

const promptFile = 'prompt.md';

/** Below 128 kB, the system's limit for one argument: some agents take it as one. */
const systemBytesMax = 100_000;

/** Else it goes before the prompt: at a terminal, too, where the prompt is a file. */
function takesSystem(cli: AgentCli, { args, environment }: CliAgentOptions, assignment: Assignment): boolean {
  const { system = '' } = assignment;
  if (cli.systemFlags === undefined || system === '' || assignment.interactive === true) return false;
  if (Buffer.byteLength(system) > systemBytesMax || system.includes('\0')) return false;
  return !cli.systemFlags.some(
    word => args.some(argument => argument.includes(word)) || Object.hasOwn(environment, word),
  );
}

function launchOrder(cli: AgentCli, options: CliAgentOptions, assignment: Assignment): LaunchOrder {
  const folder = join(options.folderIn ?? tmpdir(), `ralph-${randomUUID()}`);
  const opening = `Read ${join(folder, promptFile)} and do what it says.`;
  const { system, prompt } = assignment;
  const isApart = takesSystem(cli, options, assignment);
  return {
    system: isApart ? system : undefined,
    prompt: isApart ? prompt : fullPrompt(assignment),
    model: options.model,
    args: options.args,
    folder,
    isRoot: process.getuid?.() === 0,
    openingPrompt: assignment.interactive === true ? opening : undefined,
  };
}

/** The folder is made only when something is to lie in it. A text says why it could not be. */
function prepare(cli: AgentCli, order: LaunchOrder): Launch | string {
  try {
    const launch = cli.launch(order);
    const prompt = order.openingPrompt === undefined ? {} : { [promptFile]: order.prompt };
    const files = Object.entries({ ...launch.files, ...prompt });
    if (files.length > 0) mkdirSync(order.folder, { mode: 0o700 });
    for (const [name, content] of files) writeFileSync(join(order.folder, name), content, { mode: 0o600, flag: 'wx' });
    return launch;
  } catch (error) {
    rmSync(order.folder, { recursive: true, force: true });
    return `its files could not be written: ${(error as Error).message}`;
  }
}
