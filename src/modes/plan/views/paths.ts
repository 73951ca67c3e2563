// Paths of a vault's files, and the name that a command gives a plan.

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

export type VaultPaths = ReturnType<typeof vaultPaths>;

export function vaultPaths(root: string) {
  const stateFolder = (id: string): string => `${root}/In_Progress/${fileId(id)}`;
  const notes = `${root}/Needs_Action`;
  const note = (kind: string, id: string): string => `${notes}/plan_${kind}_${fileId(id)}.md`;
  return {
    root,
    plans: `${root}/Plans`,
    pending: `${root}/Pending_Approval`,
    /** All of it is approved: people sort plans into folders of their own. */
    yes: `${root}/Approved`,
    /** Where approved plans wait and run. */
    approved: `${root}/Approved/Plans`,
    done: `${root}/Done`,
    dashboard: `${root}/Dashboard.md`,
    notes,
    stateFolder,
    state: (id: string) => `${stateFolder(id)}/state.md`,
    blocked: (id: string) => note('blocked', id),
    escalated: (id: string) => note('escalated', id),
    log: (id: string) => `${root}/Logs/Plan_Execution/${fileId(id)}.md`,
  };
}
