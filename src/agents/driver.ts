// The performer of any agent CLI: starts it, reads its stream, steers it, ends it, and says how it went.
//
// An adapter is an AgentCli record (agent.ts) and knows nothing of processes. One thing it should know of this file: a
// reader that has `readPlain` belongs to an agent without a last word: it leaves `finished` false, and exit code 0 is its
// good end.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Failure } from '../core/failure.ts';
import { holdsBack, openStdin, type ProcessExit, type ProcessOrder } from '../processes/spawn.ts';
import { type OutputEvent, splitLines, tailOf } from '../processes/streams.ts';
import type { Timers } from '../processes/timers.ts';
import type { Account, AgentCli, AgentEvent, Launch, LaunchOrder, PriceBook, Reader, ToolOrder } from './agent.ts';
import { failureOf, plausibleReset } from './failures.ts';
import { performAtTerminal } from './interactive.ts';
import { fullPrompt, iterationEnvironment } from './launch.ts';
import type { Activity, AgentTools, Assignment, Performer, ToolServer } from './performer.ts';
import { type AgentProcess, gatherText, type Push, performProcess, reportProblems } from './process-run.ts';
import { messageCharsMax } from './reader.ts';
import { openSteering } from './steering.ts';
import { readJsonLines } from './stream.ts';
import { openUsageReporter, type UsageOrder } from './usage.ts';

export interface AgentOptions extends Pick<ProcessOrder, 'limits' | 'confinement' | 'channels' | 'graceMs'> {
  /** The performer's name, such as `claude/opus`. */
  readonly name: string;
  /** All that it may see: nothing of our own environment is added but what its adapter sets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly account?: Account | undefined;
  readonly prices: PriceBook;
  /** Instead of some of `usualTimers`. */
  readonly timers?: Partial<Timers>;
}

export interface CliAgentOptions extends AgentOptions {
  /** Its path, or a name on the PATH of `environment`. */
  readonly program: string;
  /** The user's own arguments, already split. */
  readonly args: readonly string[];
  /** What it still asks a person who gives it the terminal in this folder. */
  readonly firstQuestions?: (directory: string) => readonly string[];
  /** Opens the tools of an iteration to an agent that takes such servers; absent: it gets none. */
  readonly openTools?: ((agentTools: AgentTools) => Promise<ToolServer>) | undefined;
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
    can: takesTools(cli, options) ? { ...cli.can, tools: true } : cli.can,
    holds: () => holdsBack(options),
    perform: (assignment, stop) => perform(cli, options, assignment, stop),
  };
}

async function* perform(
  cli: AgentCli,
  options: CliAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const order = launchOrder(cli, options, assignment);
  const tools = await openTools(cli, options, assignment);
  try {
    yield* performWith(cli, options, assignment, { order, tools, stop });
  } finally {
    rmSync(order.folder, { recursive: true, force: true });
    if ('close' in tools) await tools.close();
  }
}

interface Setting {
  readonly order: LaunchOrder;
  readonly tools: ToolServer | NoTools;
  readonly stop: AbortSignal;
}

async function* performWith(
  cli: AgentCli,
  options: CliAgentOptions,
  assignment: Assignment,
  { order, tools, stop }: Setting,
): AsyncGenerator<Activity, void, void> {
  if (stop.aborted) return yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'never started' } };
  const launch = prepare(cli, options, order, tools);
  if (typeof launch === 'string') {
    return yield { type: 'ended', message: '', failure: { kind: 'spawn', detail: launch } };
  }
  const allowed = { ...options.environment, ...cli.fixedEnvironment, ...launch.environment };
  const { directory, timeMsMax, doneFile, notes, reads } = assignment;
  const { program: command, limits, confinement, channels, graceMs, prices, account } = options;
  const environment = iterationEnvironment(allowed, assignment);
  const process = { command, args: launch.args, directory, environment, timeMsMax, limits, confinement, channels };
  const timers = { ...usualTimers, ...options.timers };
  const interruptMs = options.interruptMs ?? 5_000;
  const now = options.now ?? Date.now;
  if (order.openingPrompt !== undefined)
    return yield* performAtTerminal({ ...process, doneFile, firstQuestions: options.firstQuestions }, stop);
  const headless = { ...process, input: launch.input, timers, graceMs, mayBegin: assignment.mayBegin };
  const trouble = 'why' in tools ? tools.why : undefined;
  const run = {
    cli,
    launchOrder: order,
    process: headless,
    timers,
    prices,
    account,
    stop,
    notes,
    reads,
    interruptMs,
    now,
    trouble,
  };
  yield* performProcess(cli.name, push => startCliRun(run, push));
}

/** `why`: they were wanted and cannot be had. */
interface NoTools {
  readonly why?: string;
}

const takesTools = (cli: AgentCli, { openTools: open }: CliAgentOptions): boolean =>
  cli.withTools !== undefined && open !== undefined;

/** Without them the agent works as ever: what it says in words counts as well. */
async function openTools(
  cli: AgentCli,
  options: CliAgentOptions,
  { agentTools, interactive }: Assignment,
): Promise<ToolServer | NoTools> {
  if (agentTools === undefined || interactive === true || !takesTools(cli, options)) return {};
  try {
    return (await options.openTools?.(agentTools)) ?? {};
  } catch (error) {
    return { why: `it gets no tools of Ralph: ${(error as Error).message}` };
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

function withTools(cli: AgentCli, launch: Launch, order: ToolOrder): Launch {
  const more = cli.withTools?.(launch, order) ?? launch;
  return { ...more, environment: { ...more.environment, ...order.environment } };
}

/** The folder is made only when something is to lie in it. A text says why it could not be. */
function prepare(
  cli: AgentCli,
  { environment: visible }: CliAgentOptions,
  order: LaunchOrder,
  tools: ToolServer | NoTools,
): Launch | string {
  try {
    const alone = cli.launch(order);
    const hasTools = 'command' in tools;
    const launch = hasTools ? withTools(cli, alone, { ...tools, folder: order.folder, visible }) : alone;
    const prompt = order.openingPrompt === undefined ? {} : { [promptFile]: order.prompt };
    const files = { ...launch.files, ...prompt };
    const { linked = {} } = launch;
    if (Object.keys({ ...files, ...linked }).length > 0) mkdirSync(order.folder, { mode: 0o700 });
    for (const [name, content] of Object.entries(files)) {
      const path = join(order.folder, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
    }
    for (const [name, from] of Object.entries(linked)) linkAll(join(order.folder, name), from);
    return launch;
  } catch (error) {
    rmSync(order.folder, { recursive: true, force: true });
    return `its files could not be written: ${(error as Error).message}`;
  }
}

/** What is there already stays: it takes the place of what would be linked. */
function linkAll(folder: string, from: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = new Set(readdirSync(folder));
  for (const name of namesIn(from)) if (!own.has(name)) symlinkSync(join(from, name), join(folder, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // its user has none
  }
}

interface CliRun extends UsageOrder, Pick<Assignment, 'notes' | 'reads'> {
  readonly process: Omit<ProcessOrder, 'stdin' | 'stop' | 'onSilence' | 'lineBytesMax'>;
  readonly timers: Required<Omit<Timers, 'nudgedMs'>>;
  readonly stop: AbortSignal;
  readonly interruptMs: number;
  readonly now: () => number;
  /** For people, once it runs. */
  readonly trouble: string | undefined;
}

const lineBytesMax = 1_000_000;
const errorCharsMax = 16_000;
const leavesMs = 3_000; // F75: a server that it left behind is not worth more; its own exit may take that long

/** What the agent says is read as it comes; what we say reaches it at any time. */
function startCliRun(run: CliRun, push: Push): AgentProcess {
  const { cli, timers, notes, stop, interruptMs } = run;
  const halting = new AbortController();
  const halt = (): void => halting.abort();
  const stdin = openStdin();
  const reader = cli.reader(run.launchOrder);
  const listener = openListener(run, reader, push, stdin.busy);
  let powerless: Failure | undefined;
  const tellWaiting = openWaiting(stdin, push);
  const ears = openEars(reader, onAgentEvent);
  const onTold = (note: string): void => push({ type: 'told', note });
  const times = { interruptMs, failedMs: timers.afterResultMs, leavesMs };
  const steering = openSteering({ stdin, lines: cli.steering, notes, stop, halt, onTold, ...times });

  function onAgentEvent(event: AgentEvent): void {
    listener.onEvent(event);
    powerless ??= powerlessBy(event, run);
    if (powerless !== undefined) halt();
  }

  function onOutput({ text, channel }: OutputEvent): void {
    ears.hear(text, channel);
    if (channel === 'errors') push({ type: 'text', text, channel });
    else listener.flush();
    const { finished, problem, waits = false, leaves = false } = reader.result();
    tellWaiting(waits);
    if (finished) steering.finished(problem !== undefined, leaves);
    else steering.resumed(listener.isBusy());
  }

  function onExit(exit: ProcessExit): void {
    ears.lines.end();
    listener.end();
    reportProblems(ears.lines.problems, push);
    const ended = failureOf({
      ...factsOf(run, reader, exit),
      ...ears.said(),
      hadSucceeded: steering.hadSucceeded(),
      silenceMs: listener.isBusy() ? timers.busySilenceMs : timers.silenceMs,
    });
    const isStopped = ended?.kind === 'stopped' && ended.byOthers !== true;
    const failure = isStopped ? ended : (powerless ?? ended);
    push({ type: 'ended', message: lastWords(reader), failure, reaped: exit.reaped });
  }

  return {
    order: { ...run.process, stdin, stop: halting.signal, onSilence: steering.nudge, lineBytesMax },
    onEvent(event) {
      if (event.type === 'output') onOutput(event);
      else if (event.type === 'exited') onExit(event);
      else {
        push({ ...event, type: 'spawned' });
        if (run.trouble !== undefined) push({ type: 'text', text: `[ralph] ${run.trouble}\n`, channel: 'errors' });
        steering.started();
      }
    },
    halt,
    close: steering.release,
  };
}

/** What it prints: lines that are events, and the ends of all that is none. */
function openEars(reader: Reader, onEvent: (event: AgentEvent) => void) {
  const strayLines = tailOf(errorCharsMax);
  const errors = tailOf(errorCharsMax);
  const lines = readJsonLines(reader, lineBytesMax, onEvent, line => strayLines.add(`${line}\n`));
  const errorLines = reader.onErrorLine && splitLines(line => reader.onErrorLine?.(line));
  return {
    lines,
    hear(text: string, channel: OutputEvent['channel']): void {
      if (channel === 'errors') {
        errors.add(text);
        errorLines?.push(text);
      } else lines.push(text);
    },
    said: () => ({ errors: errors.text(), strayLines: strayLines.text() }),
  };
}

function lastWords(reader: Reader): string {
  const message = tailOf(messageCharsMax);
  message.add(reader.result().message());
  return message.text();
}

/** Whoever shall only look may be one who can do no more. */
function powerlessBy(event: AgentEvent, { reads }: CliRun): Failure | undefined {
  if (event.type !== 'permissions' || event.powerless === undefined || reads === true) return undefined;
  const detail = `it runs in permission mode ${event.mode}, in which it changes no file. ${event.powerless}`;
  return { kind: 'permission', detail };
}

/** Tells when it begins and ends to wait. */
function openWaiting(stdin: Pick<ReturnType<typeof openStdin>, 'waiting'>, push: Push) {
  let isWaiting = false;
  return (waits: boolean): void => {
    if (waits === isWaiting) return;
    isWaiting = waits;
    stdin.waiting(waits);
    push({ type: 'waiting', isWaiting });
  };
}

/** What is known of a run that has ended, but for what it printed and how it was steered. */
function factsOf({ cli, timers, process, stop, now }: CliRun, reader: Reader, exit: ProcessExit) {
  return {
    exit,
    result: reader.result(),
    isPlain: reader.readPlain !== undefined,
    stopped: stop.aborted,
    loginMissing: cli.login.missing,
    loginMissingCode: cli.login.missingCode,
    firstByteMs: timers.firstByteMs,
    timeMsMax: process.timeMsMax,
    nowMs: now(),
  };
}

/** Makes activities of an agent's events. */
export function openListener(
  order: UsageOrder & Pick<CliRun, 'now'>,
  reader: Reader,
  push: Push,
  busy: (isBusy: boolean) => void,
) {
  const usage = openUsageReporter(order, push);
  const text = gatherText(push);
  let toolsOpen = 0;
  let session = '';

  function onTool(event: Extract<AgentEvent, { type: 'tool' }>): void {
    const before = toolsOpen;
    toolsOpen = Math.max(0, before + (event.phase === 'began' ? 1 : -1));
    if (before === 0 || toolsOpen === 0) busy(toolsOpen > 0 && !reader.result().finished);
    if (event.phase === 'ended') return;
    usage.onEvent(event);
    text.endLine();
    push({ type: 'tool', name: event.name, detail: event.detail });
  }

  function onSession(id: string): void {
    if (id !== session && id !== '') push({ type: 'session', id });
    session = id;
  }

  function onLimit({ resetAtMs, detail }: Extract<AgentEvent, { type: 'limit' }>): void {
    const at = plausibleReset(resetAtMs, order.now());
    if (at !== undefined) push({ type: 'limit', resetAtMs: at, detail });
  }

  return {
    onEvent(event: AgentEvent): void {
      if (event.type === 'text') {
        text.add(event.text);
        usage.onEvent(event);
        return;
      }
      text.flush();
      if (event.type === 'tool') onTool(event);
      else if (event.type === 'session') onSession(event.id);
      else if (event.type === 'limit') onLimit(event);
      else if (event.type === 'windows') push(event);
      else if (event.type === 'permissions') push({ type: 'permissions', mode: event.mode });
      else usage.onEvent(event);
    },
    flush: text.flush,
    /** Nothing more will come: the last line is ended, and what it used is told whatever the agent said about it. */
    end(): void {
      text.endLine();
      usage.end(reader.result().message());
    },
    /** A tool is at work. */
    isBusy: () => toolsOpen > 0,
  };
}
