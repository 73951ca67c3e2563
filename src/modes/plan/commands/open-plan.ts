// The plan that a command names: its file, its vault, and the loop it may have.

import { existsSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isConfined } from '../../../app/agents/process-limits.ts';
import { resolveRunConfig } from '../../../app/app.ts';
import type { Context, Flags } from '../../../cli/context.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { vaultRootOf } from '../../../text/step-path.ts';
import { modeName } from '../../registry.ts';
import { type PlanFile, withRecord } from '../session/files.ts';
import { loopOfPlan, type PlanLoop } from '../session/loops.ts';
import { type NoteNeeds, noteAuthor } from '../session/note-answers.ts';
import { findPlan, planAt } from '../session/vault.ts';
import { planName } from '../views/paths.ts';

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** As told, else this folder when it is a vault itself, else `vault` in it. */
export function vaultFolder({ directory }: Context, flags: Flags): string {
  const given = flags['vault'];
  if (typeof given === 'string') {
    if (given === '' || given.includes('\0')) throw new UsageError('--vault names no folder.', 'Give a folder.');
    return real(resolve(directory, given));
  }
  const isVault = ['Plans', 'Approved'].every(name => existsSync(join(directory, name)));
  return real(isVault ? directory : join(directory, 'vault'));
}

export interface PlanPlace {
  readonly root: string;
  readonly path: string;
}

export async function findNamedPlan(context: Context, word: string | undefined, flags: Flags): Promise<PlanPlace> {
  if (word === undefined || word === '' || word.includes('\0'))
    throw new UsageError('Which plan?', 'Name its file or its plan_id.');
  const here = vaultFolder(context, flags);
  const path = real(await findPlan(context.directory, here, word));
  return { path, root: flags['vault'] === undefined ? vaultRootOf(path, real(context.directory)) : here };
}

export interface OpenPlan extends PlanPlace {
  readonly plan: PlanFile;
  readonly loop: PlanLoop | undefined;
}

/** A plan that can run as it is written; anything else is refused with all its problems. */
export async function openPlan(context: Context, word: string | undefined, flags: Flags): Promise<OpenPlan> {
  const named = await findNamedPlan(context, word, flags);
  const plan = await planAt(named.path, basename(named.path));
  const loop = context.hasLedger() ? await loopOfPlan(await context.ledger(), plan) : undefined;
  return { ...named, plan: loop?.state.document.isLoaded === true ? withRecord(plan) : plan, loop };
}

/** What it takes to read a person's answers in the vault. */
export function noteNeeds(context: Context, ledger: Ledger, root: string, flags: Flags): NoteNeeds {
  const { env, directory, say } = context;
  return {
    ledger,
    root,
    say,
    areConfined: async () => {
      const resolved = await resolveRunConfig(env, directory, flags, { mode: modeName('plan') });
      return resolved.ok && isConfined(resolved.config.sandbox);
    },
    answer: async (loop, escalation, answer) => {
      const loops = await context.loops({ write: true });
      await loops.send(loop, { type: 'answer', escalation, answer }, noteAuthor);
    },
  };
}

/** As it is to be typed in a command that works. */
export function planArgument({ directory }: Context, { path, root }: PlanPlace, id: string, flags: Flags = {}): string {
  const isOutside = typeof flags['vault'] === 'string' && !path.startsWith(`${root}/`);
  return `${planName(path, real(directory), id)}${isOutside ? ` --vault ${root}` : ''}`;
}

/** The exit code when another process holds the plan. */
export const heldExitCode = 9;

/** Whether this loop may do what the file says now. */
export const isApprovedNow = (plan: PlanFile, loop: PlanLoop | undefined): boolean =>
  loop?.state.document.approval?.hash === plan.hash;
