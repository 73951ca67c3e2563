// The terminal as the host of a session: it answers the gates, shows the work, and says how it ended.

import { join } from 'node:path';
import { earlierLoop, goalOverWords, hasWork, missingTasksWords } from '../app/session/earlier-loop.ts';
import { type Draft, type Prepared, prepareLoop } from '../app/session/prepare.ts';
import {
  type Attendance,
  type ChangedSettings,
  type Gate,
  type Host,
  type Outcome,
  settingsRefusal,
} from '../app/session/session.ts';
import { redRefusal } from '../app/session/workspace-setup.ts';
import type { CheckResult } from '../checks/check.ts';
import { hasUserDocument, type State } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import type { Engine } from '../engine/engine.ts';
import type { Lease, Ledger } from '../ledger/ledger.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { Bug, UsageError } from '../text/errors.ts';
import { endedByLimit, endingOf, reopenLine } from '../views/ending.ts';
import { type Context, type Flags, printJson, sayHeld } from './context.ts';
import { bufferedView, interviewPacing } from './interactive.ts';
import { watchSignals, workWatch } from './interrupt.ts';
import { type LiveView, liveView } from './live.ts';
import { showOutput } from './output/agent-output.ts';
import { askAtTerminal } from './questions/prompt.ts';
import { runSummary } from './run-summary.ts';
import { confirm, folded, makeStyle, plain, workWithoutReader } from './terminal.ts';

type Over = Extract<Outcome, { type: 'over' }>['earlier'];

/** Whether somebody can be asked. */
export const isInteractive = (flags: Flags): boolean =>
  makeStyle(flags).live && flags['input'] !== false && process.stdin.isTTY === true; // asked last: Node makes a stream of it

export function terminalHost(context: Context, flags: Flags): Host {
  const { say, by } = context;
  const style = makeStyle(flags);
  const interactive = isInteractive(flags);
  const quiet = flags['quiet'] === true;
  const isAgreed = flags['yes'] === true;
  const decide = async (gate: Gate): Promise<boolean> => {
    switch (gate.id) {
      case 'continue-ended':
        sayEnded(context, gate.earlier);
        // New counters must be said (ADR 4).
        return interactive && !isAgreed && confirm('Press Enter to start over with new counters, Ctrl-C to leave ');
      case 'settings-changed':
        return (
          sayChanged(gate, context) || (interactive && confirm('Press Enter when these are yours, Ctrl-C to leave '))
        );
      case 'start':
        if (!quiet) say(runSummary(gate.prepared, { ...gate, id: gate.loop }, style));
        return !interactive || isAgreed || confirm('Press Enter to start, Ctrl-C to leave ');
      case 'red-checks': {
        for (const one of gate.red) say(redWords(one));
        const question = 'Nothing was done yet, and this fails. Press Enter to begin all the same, Ctrl-C to leave ';
        return gate.isAllowed || (interactive && confirm(question));
      }
      // `ralph plan approve` and `plan run` ask about a plan before its session begins.
      case 'ticked-boxes':
      case 'approve':
        return false;
    }
  };
  return {
    by,
    say,
    announce: quiet ? () => {} : say,
    decide,
    listen: () => watchSignals(() => {}),
    attend: ({ config }) => {
      const makeView = config.interactive ? bufferedView : liveView;
      const asks = interactive && (config.onEscalation ?? 'wait') === 'wait';
      const view = makeView(style, text => void process.stderr.write(text), quiet, asks);
      const isPaced = config.interactive && !isAgreed;
      const shows = flags['verbose'] === true ? showOutput(view, context.env) : (engine: Engine) => engine;
      return attendTerminal(view, {
        ask: interactive ? press => askAtTerminal(view, style, press) : undefined,
        adapt: isPaced
          ? press => engine => ({ ...engine, performers: interviewPacing(engine.performers, press) })
          : () => shows,
      });
    },
  };
}

/** What Ctrl-C does goes to each as `press`. */
interface TerminalParts {
  readonly ask?: ((press: () => void) => NonNullable<Engine['ask']>) | undefined;
  readonly adapt?: ((press: () => void) => NonNullable<Attendance['adapt']>) | undefined;
}

export function attendTerminal(view: LiveView, { ask, adapt }: TerminalParts): Attendance {
  workWithoutReader();
  const watch = workWatch();
  const interrupt = watchSignals(text => view.line(folded(text, process.stderr)), {
    ...watch,
    leave: () => view.close(),
  });
  return {
    signal: interrupt.signal,
    exitCode: interrupt.exitCode,
    notifiers: [watch, view],
    ask: ask?.(interrupt.press),
    adapt: adapt?.(interrupt.press),
    close: () => {
      interrupt.close();
      view.close();
    },
  };
}

const linesShown = 20;

function sayChanged({ changed, isAllowed }: Extract<Gate, { id: 'settings-changed' }>, { say, env }: Context): boolean {
  for (const line of settingsLines(changed, env)) say(line);
  return isAllowed;
}

/** What the user's settings say now, for a person to know them again. */
function settingsLines({ folder, files }: ChangedSettings, env: Context['env']): readonly string[] {
  const redact = makeRedactor(secretValues(env));
  return files.flatMap(({ name, text }) => {
    const lines = plain(redact(text ?? ''))
      .trim()
      .split('\n')
      .slice(0, linesShown);
    const what = text === undefined ? 'gone' : 'now';
    return [
      `Your own settings changed while an agent worked: ${join(folder, name)}, ${what}:`,
      ...(text === undefined ? [] : lines.map(line => `    ${line}`)),
    ];
  });
}

/** What a check prints may hold anything. */
function redWords({ name, detail }: CheckResult): string {
  const last = plain(detail).trim().split('\n').slice(-6);
  return [`red at the start: ${name}`, ...last.map(line => `    ${line}`)].join('\n');
}

function sayEnded({ say }: Context, { state, gone }: Extract<Over, { type: 'ended' }>): void {
  const what = hasUserDocument(state) ? 'file' : 'goal';
  say(`ralph: the last loop of this ${what} ended with work left. ${endingOf(state).sentence}`);
  if (gone.length > 0) say(`  ${missingTasksWords(gone, state)}`);
  const line = reopenLine(state);
  if (line !== undefined) say(`  Go on, counters kept: ${line}`);
  say('  Start over with new counters: the same command with --new');
}

const overExitCode = (earlier: Over): number => (earlier.type === 'over' ? 0 : endedByLimit(earlier.state) ? 3 : 6);

/** Says what came of a session, in the same words as everywhere, and gives the exit code. */
export async function finish(context: Context, prepared: Prepared, ledger: Ledger, outcome: Outcome): Promise<number> {
  const { flags, config } = prepared;
  switch (outcome.type) {
    case 'held':
      return outcome.what === 'loop' ? sayHeld(context, outcome.lease) : sayFolderHeld(context, ledger, outcome.lease);
    case 'over':
      if (outcome.earlier.type === 'over') context.say(goalOverWords(outcome.earlier.state));
      if (flags['json'] === true) await printLoop(context, outcome.earlier.state, overExitCode(outcome.earlier));
      return overExitCode(outcome.earlier);
    case 'nothing-to-do':
      return sayNothingLeft(context, prepared);
    case 'declined':
      if (isInteractive(flags)) return 130;
      if (outcome.gate.id === 'red-checks') throw redRefusal(outcome.gate.red);
      if (outcome.gate.id === 'settings-changed') throw settingsRefusal(outcome.gate.changed);
      return 130;
    case 'left':
      throw new Bug('only a visit leaves its work');
    case 'ran':
      return sayEnding(context, outcome, {
        requireChecks: Boolean(config.requireChecks),
        json: flags['json'] === true,
      });
  }
}

/** The loop as a program sees it, and what the process ends with. */
async function printLoop(context: Context, { loop: { id } }: State, exitCode: number): Promise<void> {
  printJson(context, { ...(await (await context.loops()).view(id)), exitCode });
}

export async function sayEnding(
  context: Context,
  { how, state, exitCode: signalled }: Extract<Outcome, { type: 'ran' }>,
  { requireChecks, json = false }: { readonly requireChecks: boolean; readonly json?: boolean },
): Promise<number> {
  const ending = endingOf(state, requireChecks);
  const wasInterrupted = how === 'interrupted' || (signalled !== undefined && state.control.ended === undefined);
  const exitCode = wasInterrupted ? (signalled ?? 130) : ending.exitCode;
  if (json) await printLoop(context, state, exitCode);
  if (how === 'interrupted') {
    context.say(`Interrupted and recorded. Go on: ralph resume ${state.loop.name}`);
    const { touched = [] } = findTask(state.tasks, state.checkpoints.unfinished ?? '') ?? {};
    if (touched.length > 0 && !state.settings.worktreePerTask)
      context.say(
        `  What it had done so far stays in the files; ralph undo ${state.loop.name} takes its last changes back.`,
      );
    return exitCode;
  }
  if (!json) context.print(ending.sentence);
  for (const next of ending.next) context.say(`  ${next}`);
  return exitCode;
}

/** As a loop ends in which everything was skipped: nobody may take that for done. */
const nothingDoneCode = 6;

function sayNothingLeft({ say }: Context, { mode, path, document }: Prepared): number {
  const isSkipped = document.tasks.every(task => !task.done);
  const why = mode.words?.nothingLeft?.(path, isSkipped) ?? `every task of ${path} is done or skipped.`;
  say(`Nothing to do: ${why}`);
  return isSkipped && document.tasks.length > 0 ? nothingDoneCode : 0;
}

/** In one folder each loop would take the other's work for a person's. */
async function sayFolderHeld({ say }: Context, ledger: Ledger, { holder }: Lease): Promise<number> {
  let name: string | undefined;
  for (const row of await ledger.store.loops({ open: true }))
    if ((await ledger.store.holder(row.loop))?.lease.holder.pid === holder.pid) name ??= row.name;
  const who = name === undefined ? 'Another loop' : `Loop ${name}`;
  say(`ralph: ${who} is at work in this folder (process ${holder.pid}), and one at a time can be.`);
  say(`  Wait for it, end it${name === undefined ? '' : ` (ralph stop ${name})`}, or say --worktree for this one.`);
  return 9;
}

const noAgentCode = 7;

/** Where nothing is to be done, no agent is needed: the exit code of such a run; else the complaint goes on. */
export async function withoutAgent(context: Context, draft: Draft, error: unknown): Promise<number> {
  const { flags } = draft;
  if (!(error instanceof UsageError) || error.exitCode !== noAgentCode || flags['dryRun'] === true) throw error;
  if (draft.resumes !== undefined) throw error;
  const isNew = flags['new'] === true;
  const given = await prepareLoop({ ...draft, isOnlyRecorded: true });
  const earlier = context.hasLedger() && !isNew ? await earlierLoop(await context.ledger(), given) : undefined;
  if (earlier === undefined && !hasWork(given)) return sayNothingLeft(context, given);
  if (earlier === undefined || earlier.type === 'open') throw error;
  if (earlier.type === 'ended') sayEnded(context, earlier);
  else context.say(goalOverWords(earlier.state));
  return overExitCode(earlier);
}
