// Paths of a vault's files (seed 004), and the name that a command gives a plan.

import { relativePath } from '../../../text/step-path.ts';

const idCharsMax = 100;

/** An id as part of a file's name, whatever it holds: lint lets only harmless ones pass. */
export function fileId(id: string): string {
  const safe = id
    .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, idCharsMax);
  return safe === '' ? 'unnamed' : safe;
}

/** How a command names a plan, typed in the folder of work: by its id where that is looked for, else by its file. */
export function planName(document: string, directory: string, id: string): string {
  if (document.startsWith(`${directory}/vault/`)) return id;
  const path = relativePath(directory, document);
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

export interface VaultPaths {
  readonly root: string;
  readonly plans: string;
  readonly pending: string;
  /** Where approved plans wait and run. */
  readonly approved: string;
  readonly done: string;
  readonly dashboard: string;
  readonly stateFolder: (id: string) => string;
  readonly state: (id: string) => string;
  readonly blocked: (id: string) => string;
  readonly escalated: (id: string) => string;
  readonly log: (id: string) => string;
}

export function vaultPaths(root: string): VaultPaths {
  const stateFolder = (id: string): string => `${root}/In_Progress/${fileId(id)}`;
  return {
    root,
    plans: `${root}/Plans`,
    pending: `${root}/Pending_Approval`,
    approved: `${root}/Approved/Plans`,
    done: `${root}/Done`,
    dashboard: `${root}/Dashboard.md`,
    stateFolder,
    state: id => `${stateFolder(id)}/state.md`,
    blocked: id => `${root}/Needs_Action/plan_blocked_${fileId(id)}.md`,
    escalated: id => `${root}/Needs_Action/plan_escalated_${fileId(id)}.md`,
    log: id => `${root}/Logs/Plan_Execution/${fileId(id)}.md`,
  };
}
