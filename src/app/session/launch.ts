// The engine of a loop that has its workspace, and its first inputs: the same for the command line and for programs.

import { join } from 'node:path';
import type { Command, Input } from '../../core/input.ts';
import type { LiveIteration, State } from '../../core/state.ts';
import { sha256Of } from '../../engine/checkpoints.ts';
import { directoryOf } from '../../engine/engine.ts';
import { putView } from '../../engine/publish.ts';
import { refuseChangedConfig } from '../actions.ts';
import { isConfined, readOnlyWords } from '../agents/process-limits.ts';
import { buildEngine, type Engine, loopFolder } from '../app.ts';
import { documentSource } from '../documents.ts';
import { readNotes } from '../notes.ts';
import { protectedHashOf } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { changedSettings } from './resume-rules.ts';
import type { Workspace } from './workspace.ts';

/** `host`: what of the engine depends on who runs it. */
export async function engineFor(
  prepared: Prepared,
  workspace: Workspace,
  { isVisit = false, ...host }: Pick<Engine, 'ledger' | 'by' | 'notifiers' | 'ask'> & { readonly isVisit?: boolean },
  warn: (sentence: string) => void,
): Promise<Engine> {
  const { env, home, path, config, mode, modeSession, serversInReach } = prepared;
  const { directory, engine: parts, loop } = workspace;
  const folder = loopFolder(home, loop);
  if (serversInReach !== undefined) await refuseChangedConfig(serversInReach, folder);
  const areConfined = (): boolean => isConfined(config.sandbox);
  const place = { ...prepared, directory, loop, folder, warn, areConfined };
  const engine = await buildEngine(place, {
    ...parts,
    ...host,
    remake: async state => (await import('./workspace-setup.ts')).remakeWorktree(prepared, state),
    source: await documentSource(env, place),
    performers: workspace.performers,
    checks: [...workspace.checks, ...((await modeSession.checks?.(prepared)) ?? [])],
    facts: async (state, live) => {
      const at = { directory: directoryOf(parts, state, live.task), checkpoints: parts.checkpoints };
      const notes = await readNotes(home, directory);
      const own = await modeSession.promptInputs?.(state, live, at);
      return notes.isOn && notes.text !== undefined ? { ...own, notes: notes.text } : (own ?? {});
    },
    noted: modeSession.noted,
    archive: mode.promptsFolder === undefined ? undefined : archiveIn(directory, mode.promptsFolder, warn),
    doneFile: modeSession.doneFile?.(path),
    interactive: config.interactive,
    onEscalation: config.onEscalation ?? (host.ask === undefined ? 'exit' : 'wait'),
    answerMsMax: config.answerTimeout,
  });
  // A session is neither confined nor started by us.
  if (isVisit) return engine;
  const { agentTools, toolsSection } = await import('../../modes/agent-tools.ts');
  const tools = config.noMcp || config.interactive ? undefined : agentTools;
  const told: Told = (state, live) => [
    readOnlyWords(config.sandbox, directory),
    tools?.isFor(state, live) && workspace.performers[live.performer]?.can.tools ? toolsSection : '',
  ];
  return { ...engine, agentTools: tools, prompt: saying(engine.prompt, told) };
}

type Told = (state: State, live: LiveIteration) => readonly string[];

/** Where it works is the same for every mode: it stands at the end of the prompt. Asked late: the sandbox is being tried out. */
const saying =
  (prompt: Engine['prompt'], place: Told): Engine['prompt'] =>
  (state, live, ...more) => {
    const words = prompt(state, live, ...more);
    const told = place(state, live).filter(one => one !== '');
    return told.length === 0 ? words : { ...words, text: `${[words.text.trimEnd(), ...told].join('\n\n')}\n` };
  };

/** A loop that begins: where, and under which settings. */
export function startInput(
  { document, path, config, settings }: Prepared,
  { id: loop, name }: Pick<State['loop'], 'id' | 'name'>,
  { directory, branch, protectedHash, baseline }: Partial<Workspace> & Pick<Workspace, 'directory'>,
  by: string,
): Input {
  return {
    type: 'start',
    loop,
    name,
    goal: document.goal,
    document: path,
    directory,
    projectId: document.id ?? config.project ?? document.project,
    taskId: config.taskId ?? '',
    settings,
    by,
    branch,
    protectedHash,
    baseline: baseline?.map(({ name: check, passed, tests }) => ({ check, passed, tests })),
  };
}

/** What is decided first in a loop that goes on: what of it is different from now on. */
export function resumeCommands(prepared: Prepared, state: State, { protectedHash }: Workspace): readonly Command[] {
  const changed = changedSettings(state.settings, prepared.settings);
  const isUnchanged = protectedHash === undefined || protectedHash === protectedHashOf(state);
  // One command, so that checks and the files that are theirs never differ in the ledger.
  const { limits = {}, settings = {} } = changed ?? {};
  const anew: Command = { type: 'limits', limits, settings: { ...settings, protectedHash } };
  const resume: Command = { type: 'resume' };
  return [
    ...(isUnchanged ? (changed === undefined ? [] : [changed]) : [anew]),
    // Whoever says so ends a wait too, and opens again what is over.
    ...(state.control.paused === undefined && prepared.resumes === undefined ? [] : [resume]),
    ...approvalByRunning(prepared, state),
  ];
}

/** A plan that needs no approval is bound to the text that was run: what is written into it later needs a yes. */
export function approvalByRunning({ mode, document, terms }: Prepared, state: State | undefined): readonly Command[] {
  const { approval, id = '' } = document;
  if (mode.bindsText !== true || approval === undefined || approval.required || state?.document.approval !== undefined)
    return [];
  const because = 'it needs no approval (approval_required: false): by the command that runs it';
  return [{ type: 'approve', subject: id, hash: sha256Of(approval.substance), because, terms }];
}

/** Keeps each prompt in the folder of work, where a mode's users look for it; a copy that fails is only told. */
function archiveIn(directory: string, folder: string, warn: (sentence: string) => void): Engine['archive'] {
  return async (iteration, prompt) => {
    const file = { path: join(directory, folder, `prompt_${iteration}.md`), text: prompt };
    const problem = await putView([directory], file);
    if (problem !== undefined) warn(`The prompt was not archived: ${problem}.`);
  };
}
