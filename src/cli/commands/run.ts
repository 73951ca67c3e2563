// `ralph run`: finds or starts the loop of a document, runs it in this terminal, and says how it ended.

import { type Engine, type RunResult, runEngine, storeError } from '../../app/app.ts';
import { isInterview } from '../../app/modes.ts';
import { refuseProblems } from '../../app/problems.ts';
import { placeAgain, withLease } from '../../app/session/begin.ts';
import { engineFor, firstInputs } from '../../app/session/launch.ts';
import type { Placed } from '../../app/session/placed.ts';
import { type Prepared, prepareLoop } from '../../app/session/prepare.ts';
import { type Chosen, checksOnResume } from '../../app/session/resume-rules.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { moveEarlierFiles } from '../../modes/project/session.ts';
import { endingOf, hasOnlyActions, outcomeOf } from '../../views/ending.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { bufferedView, interviewPacing, refuseWithoutTerminal } from '../interactive.ts';
import { watchSignals, workWatch } from '../interrupt.ts';
import { type LiveView, liveView } from '../live.ts';
import { askAtTerminal } from '../prompt-user.ts';
import {
  chooseLoop,
  hasNothingLeft,
  placeNew,
  previousLoop,
  sayFolderHeld,
  sayHeld,
  type TerminalRun,
  withoutAgent,
} from '../run-preparation.ts';
import { runSummary } from '../run-summary.ts';
import { confirm, makeStyle, workWithoutReader } from '../terminal.ts';

/** Prints the ending, the same words as everywhere, and gives the exit code. */
export function finish(
  context: Context,
  { result, interrupted }: Launched,
  { requireChecks, json = false }: { readonly requireChecks: boolean; readonly json?: boolean },
): number {
  if (result.type === 'held') return sayHeld(context, result.held);
  if (result.type === 'failed') throw storeError(result.failure);
  if (result.type === 'refused') refuseProblems(result.problems);
  const ending = endingOf(result.state, requireChecks);
  const wasInterrupted =
    result.type === 'interrupted' || (interrupted !== undefined && result.state.ended === undefined);
  const exitCode = wasInterrupted ? (interrupted ?? 130) : ending.exitCode;
  if (json) printJson(context, outcomeOf(result.state, requireChecks, exitCode));
  if (result.type === 'interrupted') {
    context.say(`Interrupted and recorded. The same command resumes loop ${result.state.name}.`);
    if (result.state.newest !== undefined && !result.state.settings.worktreePerTask && !hasOnlyActions(result.state))
      context.say(`  What it had done so far stays in the files; ralph undo ${result.state.name} takes it back.`);
    return exitCode;
  }
  if (!json) context.print(ending.sentence);
  for (const next of ending.next) context.say(`  ${next}`);
  return exitCode;
}

export interface Launched {
  readonly result: RunResult;
  /** The exit code of a signal that came. */
  readonly interrupted: number | undefined;
}

export interface Launch {
  readonly context: Context;
  readonly ledger: Ledger;
  readonly prepared: Prepared;
  readonly placed: Placed;
  readonly chosen: Chosen;
  readonly view: LiveView;
  /** Asks the person at the terminal; Ctrl-C there goes to `press`. */
  readonly ask?: (press: () => void) => NonNullable<Engine['ask']>;
  /** Rounds at the terminal begin when the person says so. */
  readonly pace?: typeof interviewPacing;
  /** As typed. */
  readonly flags?: Flags;
}

/** Runs the chosen loop to its end, its question or its interruption. */
export async function launch(launching: Launch): Promise<Launched> {
  const { context, ledger, prepared, placed, chosen, view, ask } = launching;
  workWithoutReader();
  const watch = workWatch();
  const interrupt = watchSignals(text => view.line(text), { doing: watch.doing, leave: () => view.close() });
  const byName = launching.pace?.(placed.performers.byName, interrupt.press) ?? placed.performers.byName;
  const wiring = {
    ledger,
    prepared,
    placed: { ...placed, performers: { ...placed.performers, byName } },
    chosen,
    by: context.by,
    say: context.say,
    notifiers: [watch, view],
    ask: ask === undefined ? undefined : ask(interrupt.press),
  };
  const engine = await engineFor(wiring);
  try {
    const result = await runEngine(engine, chosen.loop, {
      interrupt: interrupt.signal,
      first: firstInputs(wiring, launching.flags ?? {}),
    });
    return { result, interrupted: interrupt.exitCode() };
  } finally {
    interrupt.close();
    view.close();
  }
}

export async function execute(context: Context, [file]: Words, flags: Flags): Promise<number> {
  const given = await prepareHere(context, file, flags).catch(error => withoutAgent(context, file, flags, error));
  if (typeof given === 'number') return given;
  if (given.mode === 'plan' && flags['dryRun'] !== true) {
    const plan = await import('../../modes/plan/commands/run.ts'); // a plan has a vault, an approval and an end of its own
    return plan.execute(context, [given.path], flags);
  }
  return runPrepared(context, given, flags);
}

/** What a plan is run by, once it may. */
export async function runPlanDocument(context: Context, path: string, flags: Flags): Promise<number> {
  return runPrepared(context, await prepareHere(context, path, { ...flags, mode: 'plan' }), flags);
}

async function prepareHere(context: Context, file: string | undefined, flags: Flags): Promise<Prepared> {
  const place = { env: context.env, directory: context.directory, home: context.home() };
  return prepareLoop(place, { file, flags, remembered: previousLoop(context, flags['new'] === true) });
}

async function runPrepared(context: Context, given: Prepared, flags: Flags): Promise<number> {
  const style = makeStyle(flags);
  const interactive = process.stdin.isTTY === true && style.live && flags['input'] !== false;
  const isDry = flags['dryRun'] === true;
  if (given.run.config.interactive) {
    refuseWithoutTerminal(given.performers, interactive || isDry, isInterview(given.mode, given.path));
  }
  for (const notice of given.notices) context.say(`note: ${notice}`);
  if (isDry) {
    context.out(runSummary(given, undefined, style));
    context.say('Dry run: nothing was started or written.');
    return 0;
  }
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  // Two runs that start in the same moment must not each begin a loop of one document (F18).
  const work = () => chooseAndWork({ context, ledger, flags, interactive }, given);
  return withLease(ledger, `document:${given.path}`, held => sayHeld(context, held), work);
}

async function chooseAndWork(here: TerminalRun, given: Prepared): Promise<number> {
  const { context, ledger } = here;
  const chosen = await chooseLoop(here, given);
  if ('exitCode' in chosen) return chosen.exitCode;
  if (chosen.state === undefined && hasNothingLeft(context, given)) return 0;
  const { config, settings } = given.run;
  const isApart =
    chosen.state === undefined ? config.worktree || settings.worktreePerTask : chosen.state.branch !== undefined;
  const go = () => work(here, given, chosen);
  if (isApart) return go();
  const folder = `folder:${chosen.state?.directory ?? given.directory}`;
  return withLease(ledger, folder, held => sayFolderHeld(context, ledger, held), go);
}

async function placeChosen(here: TerminalRun, prepared: Prepared, { state, ...chosen }: Chosen, quiet: boolean) {
  const { context, ledger, interactive } = here;
  const { say } = context;
  if (state !== undefined) return placeAgain(prepared, state, ledger, say);
  const known = new Set((await ledger.store.loops()).map(row => row.loop));
  const announce = quiet ? () => {} : say;
  const start = { say, announce, interactive, isLoop: (id: string) => known.has(id) };
  const placed = await placeNew(prepared, chosen, start);
  if (placed !== undefined && prepared.mode === 'project' && !isInterview(prepared.mode, prepared.path))
    await moveEarlierFiles(prepared.path, chosen.loop, announce);
  return placed;
}

async function work(here: TerminalRun, given: Prepared, chosen: Chosen): Promise<number> {
  const { context, ledger, flags, interactive } = here;
  const style = makeStyle(flags);
  const quiet = flags['quiet'] === true;
  const prepared = await checksOnResume(given, chosen.state);
  if (!quiet) context.say(runSummary(prepared, chosen, style));
  if (interactive && flags['yes'] !== true && !(await confirm('Press Enter to start, Ctrl-C to leave '))) return 130;
  const placed = await placeChosen(here, prepared, chosen, quiet);
  if (placed === undefined) return 130;
  const { config } = prepared.run;
  const makeView = config.interactive ? bufferedView : liveView;
  const view = makeView(style, text => void process.stderr.write(text), quiet, interactive);
  const launched = await launch({
    context,
    ledger,
    prepared,
    placed,
    chosen,
    view,
    flags,
    ask: interactive ? (press: () => void) => askAtTerminal(view, style, press) : undefined,
    pace: config.interactive && flags['yes'] !== true ? interviewPacing : undefined,
  });
  return finish(context, launched, { requireChecks: Boolean(config.requireChecks), json: flags['json'] === true });
}
