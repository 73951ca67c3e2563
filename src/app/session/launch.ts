// Puts a prepared and placed loop together as the engine needs it: the same for the command line and for programs.
import { buildEngine, type Engine, type Environment, loopFolder } from '../app.ts';
import type { Command, Input } from '../../core/input.ts';
import type { State } from '../../core/state.ts';
import { sha256Of } from '../../engine/records.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { archiveOf } from './archive.ts';
import type { Started } from './begin.ts';
import { changedSettings } from './changed-settings.ts';
import type { Chosen } from './resume-rules.ts';
import { documentSource } from '../documents.ts';
import { factsOf } from './facts.ts';
import { interviewChecks, interviewDoneFile } from '../../modes/interview/session.ts';
import { configInReach, holdConfig } from '../mcp-config.ts';
import { isProtectedAnew } from './placed.ts';
import type { Prepared } from './prepare.ts';

export interface Launch {
  readonly env: Environment;
  readonly home: string;
  readonly ledger: Ledger;
  readonly prepared: Prepared;
  readonly placed: Started;
  readonly chosen: Chosen;
  /** Who is at the keyboard, or which program it is. */
  readonly by: string;
  readonly say: (sentence: string) => void;
  readonly notifiers: Engine['notifiers'];
  readonly ask?: Engine['ask'];
}

export async function engineFor(launch: Launch): Promise<Engine> {
  const { env, home, ledger, prepared, placed, chosen, by, say, notifiers, ask } = launch;
  const { path, mode: name, options, run } = prepared;
  const { directory } = placed;
  const folder = loopFolder(home, chosen.loop);
  const servers = await configInReach({
    config: run.config,
    directory: prepared.directory,
    document: prepared.document,
  });
  if (servers !== undefined) await holdConfig(servers, folder);
  const { source, mode } = await documentSource(env, { mode: name, path, directory, folder, options });
  const doneFile = interviewDoneFile(name, path);
  return buildEngine({
    home,
    env,
    ledger,
    loop: chosen.loop,
    source,
    mode,
    place: { directory, document: path },
    warn: say,
    by,
    performers: placed.staff.performers,
    interactive: run.config.interactive,
    checks: [...placed.checks, ...(await interviewChecks(prepared))],
    parts: {
      ...placed.engine,
      facts: factsOf(placed.engine.workspace),
      ...archiveOf(mode.promptsFolder, directory, say),
      doneFile,
    },
    notifiers,
    onEscalation: run.config.onEscalation ?? (ask === undefined ? 'exit' : 'wait'),
    answerMsMax: run.config.answerTimeout,
    ask,
  });
}

/** What is decided first: that the loop begins, or what of it is different from now on. `flags`: as typed. */
export function firstInputs(
  { prepared, placed, chosen, by }: Pick<Launch, 'prepared' | 'placed' | 'chosen' | 'by'>,
  flags: Readonly<Record<string, unknown>>,
): readonly Input[] {
  const { run, document, path } = prepared;
  const { directory, branch, protectedHash, baseline } = placed;
  if (chosen.state !== undefined) {
    const changed = changedSettings(chosen.state.settings, run.settings, run.isSet, flags);
    const resume = chosen.state.paused === undefined ? [] : [{ type: 'resume' as const }];
    const commands = [...withProtection(changed, chosen.state, placed), ...ownYes(prepared, chosen), ...resume];
    return commands.map(command => ({ type: 'command', command, by }));
  }
  return [
    {
      type: 'start',
      loop: chosen.loop,
      name: chosen.name,
      goal: document.goal,
      document: path,
      directory,
      projectId: document.id ?? run.config.project ?? document.project,
      taskId: run.config.taskId ?? '',
      settings: run.settings,
      by,
      branch,
      protectedHash,
      baseline,
    },
    ...ownYes(prepared, chosen).map(command => ({ type: 'command' as const, command, by })),
  ];
}

/** A plan that needs no approval is bound to the text that was run: what is written into it later needs a yes. */
function ownYes({ mode, document }: Prepared, { state }: Chosen): readonly Command[] {
  const { approval, id = '' } = document;
  if (mode !== 'plan' || approval === undefined || approval.required || state?.approval !== undefined) return [];
  const because = 'it needs no approval (approval_required: false): by the command that runs it';
  return [{ type: 'approve', subject: id, hash: sha256Of(approval.substance), because }];
}

/** One command, so that checks and the files that are theirs never differ in the ledger. */
function withProtection(changed: Command | undefined, state: State, placed: Started): readonly Command[] {
  const { protectedHash } = placed;
  if (protectedHash === undefined || !isProtectedAnew(state, placed)) return changed === undefined ? [] : [changed];
  const { limits, settings } = changed?.type === 'limits' ? changed : { limits: {}, settings: {} };
  return [{ type: 'limits', limits, settings: { ...settings, protectedHash } }];
}
