// Paths of a vault and of the files that a plan's steps make: one rule for lint, for approval and for the action itself.

/** The folder itself, or anything below it. */
export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** As seen from the folder of work, where that is shorter. */
export const relativePath = (directory: string, path: string): string =>
  directory !== '' && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;

/** The folders that a vault consists of (seed 004). */
export const vaultFolders = [
  'Plans',
  'Pending_Approval',
  'Approved',
  'In_Progress',
  'Needs_Action',
  'Done',
  'Logs',
] as const;

/** What is put or written there is a person's word: no agent may, where it can be kept from it. */
export const personsFolders = ['Approved', 'Needs_Action'] as const;

const planFolders: readonly string[] = ['Plans', 'Pending_Approval', 'Approved', 'Done'];

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
  // Its plans may lie in folders of the user's own among the approved ones.
  const approved = folders.findLastIndex((name, at) => name === 'Plans' && folders[at - 1] === 'Approved');
  return approved > 0 ? folders.slice(0, approved - 1).join('/') : `${directory}/vault`;
}

const pathCharsMax = 1_000;
const nameBytesMax = 255;

/** Ordered: the first row that holds says what is wrong with the path as text. */
const badForms: readonly (readonly [string, (path: string) => boolean])[] = [
  ['is empty', path => path.trim() === ''],
  [`is longer than ${pathCharsMax} characters`, path => path.length > pathCharsMax],
  ['holds a control or invisible character', path => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path) || !path.isWellFormed()],
  ['is a Windows or network path', path => /^[A-Za-z]:|\\|^\/\//.test(path)],
  ['begins with ~, which only a shell understands', path => path.startsWith('~')],
  ['names a folder, not a file', path => /(?:^|\/)\.?\/*$/.test(path)],
  ['holds ..', path => segmentsOf(path).includes('..')],
  ['has a name that is too long', path => segmentsOf(path).some(each => byteLength(each) > nameBytesMax)],
  ['leads into the .git folder', path => segmentsOf(path).some(isGit)],
];

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Undefined: as far as its text goes, a step may make this file. */
export function pathProblem(path: string): string | undefined {
  const form = badForms.find(([, holds]) => holds(path))?.[0];
  if (form !== undefined) return form;
  const below = pathInVault(path);
  return path.startsWith('/') ? undefined : reservedPart(namesOf(below ?? path), below !== undefined);
}

export function segmentsOf(path: string): readonly string[] {
  return path.split(/[/\\]/);
}

const namesOf = (path: string): readonly string[] => segmentsOf(path).filter(each => each !== '' && each !== '.');

/** As file systems that fold letters, drop final dots and blanks, or know streams and short names would read it. */
function folded(segment: string): string {
  return segment
    .normalize('NFKC')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
}

export function isGit(segment: string): boolean {
  return folded(segment) === '.git' || /^git~\d+$/.test(folded(segment));
}

/** No step makes an approved plan, or the words and settings that the next agent obeys. */
export function reservedPart(segments: readonly string[], isVault: boolean): string | undefined {
  const names = segments.map(folded);
  if (isVault && names[0] === 'approved') return 'leads into the folder of approved plans, which people fill';
  if (isVault && names[0] === 'needs_action' && names[1]?.startsWith('plan_blocked_'))
    return 'is a note in which people answer questions';
  const own = names.find(name => name === '.ralph' || name === '.claude');
  return own === undefined ? undefined : `leads into ${own}, which says how agents work`;
}

/**
 * The way from the vault to a file that lies in it; undefined: it lies in the repository. Plans say `vault/…`,
 * wherever the vault lies; and whoever names one of its folders means that folder.
 */
export function pathInVault(path: string): string | undefined {
  const way = path.replace(/^(?:\.\/+)+/, '');
  const below = /^vault\/+(.*)$/s.exec(way)?.[1];
  if (below !== undefined) return below;
  const [first, ...rest] = way.split('/');
  return rest.length > 0 && vaultFolders.some(folder => folder === first) ? way : undefined;
}

/** Where a plan may lie: the vault puts away what is done. */
export const placesOfPlan = (document: string, directory: string): readonly string[] => [
  document,
  `${vaultRootOf(document, directory)}/Done/${document.slice(document.lastIndexOf('/') + 1)}`,
];

/** Where the file will lie, unless links lead elsewhere. */
export function stepPath(path: string, vault: string, repository: string): string {
  const below = pathInVault(path);
  if (path.startsWith('/')) return path;
  return `${below === undefined ? repository : vault}/${namesOf(below ?? path).join('/')}`;
}
