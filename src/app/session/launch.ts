// The engine of a loop that is prepared and has its workspace, and its first inputs: the same for the command line and for programs.

import { join } from 'node:path';
import type { Command, Input } from '../../core/input.ts';
import type { State } from '../../core/state.ts';
import { sha256Of } from '../../engine/checkpoints.ts';
import { directoryOf } from '../../engine/engine.ts';
import { putView } from '../../engine/publish.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { configInReach, refuseChangedConfig } from '../actions.ts';
import { buildEngine, type Engine, loopFolder } from '../app.ts';
import { documentSource } from '../documents.ts';
import { protectedHashOf } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { type Chosen, changedSettings } from './resume-rules.ts';
import type { LoopWorkspace } from './workspace.ts';

export interface Launch {
  readonly ledger: Ledger;
  readonly prepared: Prepared;
  readonly workspace: LoopWorkspace;
  readonly chosen: Chosen;
  /** Who is at the keyboard, or which program it is. */
  readonly by: string;
  readonly say: (sentence: string) => void;
  readonly notifiers: Engine['notifiers'];
  readonly ask?: Engine['ask'];
}

export async function engineFor(launch: Launch): Promise<Engine> {
  const { ledger, prepared, workspace, chosen, by, say, notifiers, ask } = launch;
  const { env, home, path, options, run, modeSession } = prepared;
  const { directory, engine: parts } = workspace;
  const folder = loopFolder(home, chosen.loop);
  const servers = await configInReach({ ...prepared, config: run.config });
  if (servers !== undefined) await refuseChangedConfig(servers, folder);
  const { source, mode } = await documentSource(env, {
    mode: prepared.run.settings.mode,
    path,
    directory,
    folder,
    options,
  });
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
    performers: workspace.performers.byName,
    interactive: run.config.interactive,
    checks: [...workspace.checks, ...((await modeSession.checks?.(prepared)) ?? [])],
    parts: {
      ...parts,
      facts: async (state, live) => {
        const at = { directory: directoryOf(parts, state, live.task), checkpoints: parts.checkpoints };
        return modeSession.promptInputs?.(state, live, at) ?? {};
      },
      archive: mode.promptsFolder === undefined ? undefined : archiveIn(directory, mode.promptsFolder, say),
      doneFile: modeSession.doneFile?.(path),
    },
    notifiers,
    onEscalation: run.config.onEscalation ?? (ask === undefined ? 'exit' : 'wait'),
    answerMsMax: run.config.answerTimeout,
    ask,
  });
}

/** What is decided first: that the loop begins, or what of it is different from now on. `flags`: as typed. */
export function firstInputs(
  { prepared, workspace, chosen, by }: Pick<Launch, 'prepared' | 'workspace' | 'chosen' | 'by'>,
  flags: Readonly<Record<string, unknown>>,
): readonly Input[] {
  const { run, document, path } = prepared;
  const { state, loop, name } = chosen;
  const { directory, branch, protectedHash, baseline } = workspace;
  const asInput = (command: Command): Input => ({ type: 'command', command, by });
  const approval = approvalByRunning(prepared, state);
  if (state !== undefined) {
    const changed = changedSettings(state.settings, run.settings, run.isSet, flags);
    const resume = state.control.paused === undefined ? [] : [{ type: 'resume' as const }];
    return [...withProtection(changed, state, workspace), ...approval, ...resume].map(asInput);
  }
  return [
    {
      type: 'start',
      loop,
      name,
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
    ...approval.map(asInput),
  ];
}

/** A plan that needs no approval is bound to the text that was run: what is written into it later needs a yes. */
function approvalByRunning({ mode, document }: Prepared, state: State | undefined): readonly Command[] {
  const { approval, id = '' } = document;
  if (mode.bindsText !== true || approval === undefined || approval.required || state?.document.approval !== undefined)
    return [];
  const because = 'it needs no approval (approval_required: false): by the command that runs it';
  return [{ type: 'approve', subject: id, hash: sha256Of(approval.substance), because }];
}

/** One command, so that checks and the files that are theirs never differ in the ledger. */
function withProtection(
  changed: Command | undefined,
  state: State,
  { protectedHash }: LoopWorkspace,
): readonly Command[] {
  if (protectedHash === undefined || protectedHash === protectedHashOf(state))
    return changed === undefined ? [] : [changed];
  const { limits, settings } = changed?.type === 'limits' ? changed : { limits: {}, settings: {} };
  return [{ type: 'limits', limits, settings: { ...settings, protectedHash } }];
}

/** Keeps each prompt in the folder of work, where a mode's users look for it; a copy that fails is only told. */
function archiveIn(directory: string, folder: string, warn: (sentence: string) => void): Engine['archive'] {
  return async (iteration, prompt) => {
    const file = { path: join(directory, folder, `prompt_${iteration}.md`), text: prompt };
    const problem = await putView([directory], file);
    if (problem !== undefined) warn(`The prompt was not archived: ${problem}.`);
  };
}
