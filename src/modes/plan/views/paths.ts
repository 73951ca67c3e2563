// Where everything of a vault lies: the folders of seed 004, and the root as a function of a plan's own path.

const planFolders: readonly string[] = ['Plans', 'Pending_Approval', 'Approved', 'Done'];
const idCharsMax = 100;

/** An id as part of a file's name, whatever it holds: lint lets only harmless ones pass. */
export function fileId(id: string): string {
  const safe = id
    .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, idCharsMax);
  return safe === '' ? 'unnamed' : safe;
}

/** The root of which this folder is a plan folder: `Approved/Plans` is one, not `Plans` of a vault called `Approved`. */
function rootAbove(segments: readonly string[]): string | undefined {
  const last = segments.at(-1);
  if (last === undefined || !planFolders.includes(last)) return undefined;
  const above = segments.at(-2);
  const isNested = last === 'Plans' && (above === 'Approved' || above === 'Pending_Approval');
  return segments.slice(0, isNested ? -2 : -1).join('/');
}

/** Of the folder that a plan lies in, else of the nearest one above it in the folder of work, else `vault` there. */
export function vaultRootOf(document: string, directory: string): string {
  const folders = document.split('/').slice(0, -1);
  const depthMin = document.startsWith(`${directory}/`) ? directory.split('/').length + 1 : folders.length;
  for (let depth = folders.length; depth > 0 && depth >= Math.min(depthMin, folders.length); depth -= 1) {
    const root = rootAbove(folders.slice(0, depth));
    if (root !== undefined) return root;
  }
  return `${directory}/vault`;
}

/** How a command names a plan, typed in the folder of work: by its id where that is looked for, else by its file. */
export function planName(document: string, directory: string, id: string): string {
  if (document.startsWith(`${directory}/vault/`)) return id;
  const path = document.startsWith(`${directory}/`) ? document.slice(directory.length + 1) : document;
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
