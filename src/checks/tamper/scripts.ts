// Finds scripts of a package.json that a check runs and that are not what they were.
import type { ChangedFile, Finding } from './tamper-finding.ts';
import { beforeAndAfter, finding, provesNothing, soothed } from './tamper-neuter.ts';
import { isIndirect, manifestRuns, manifestScripts } from './command-line.ts';

type Scripts = Readonly<Record<string, string>>;

interface Manifest {
  readonly scripts: Scripts;
  /** All but the scripts: a test runner may be told there what to leave out. */
  readonly rest: string;
}

/** Undefined when it is no JSON. */
function manifestIn(text: string | undefined): Manifest | undefined {
  if (text === undefined) return { scripts: {}, rest: '' };
  try {
    const { scripts, ...rest } = JSON.parse(text.replace(/^\ufeff/, '')) as { readonly scripts?: unknown };
    const entries = Object.entries((scripts ?? {}) as Record<string, unknown>);
    return {
      scripts: Object.fromEntries(entries.flatMap(([name, line]) => (typeof line === 'string' ? [[name, line]] : []))),
      rest: JSON.stringify(rest),
    };
  } catch {
    return undefined;
  }
}

/** What `npm init` puts there; replacing it takes nothing away. */
export const isPlaceholder = (script: string): boolean => script.includes('no test specified');

const patternsMax = 100; // each is compared with every script

/** Also those that a used script runs in its turn; a `*` stands for any name. */
function usedScripts(checks: readonly string[], scripts: Scripts): ReadonlySet<string> {
  const used = new Set<string>();
  const patterns = new Set<string>();
  const waiting = checks.flatMap(manifestScripts);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const star = name.indexOf('*');
    if (star !== -1) {
      const prefix = name.slice(0, star);
      if (patterns.has(prefix) || patterns.size === patternsMax) continue;
      patterns.add(prefix);
      for (const each of Object.keys(scripts)) if (each.startsWith(prefix)) waiting.push(each);
    } else if (!used.has(name)) {
      used.add(name);
      const line = Object.hasOwn(scripts, name) ? (scripts[name] as string) : '';
      for (const other of manifestScripts(line)) waiting.push(other);
    }
  }
  return used;
}

const testLike = /(^|[:_-])(test|check|verify|lint)/;

function weakening(before: string, after: string | undefined): string | undefined {
  if (after === undefined) return 'was removed';
  if (provesNothing(after)) return 'proves nothing now';
  return soothed(after) > soothed(before) ? 'now passes when its command fails or finds no tests' : undefined;
}

function changedScripts(path: string, before: Scripts, after: Scripts, uses: Uses): readonly Finding[] {
  return Object.entries(before).flatMap(([name, line]) => {
    const next = Object.hasOwn(after, name) ? after[name] : undefined;
    if (next === line || isPlaceholder(line) || provesNothing(line)) return [];
    const weak = weakening(line, next);
    const isUsed = uses.names.has(name);
    const isRefused = isUsed
      ? uses.isOwn || weak !== undefined
      : uses.isIndirect && testLike.test(name) && weak !== undefined && next !== undefined;
    if (!isRefused && weak === undefined) return [];
    const what = `its script ${JSON.stringify(name)} ${weak ?? 'is another one'}: ${beforeAndAfter(line, next ?? '')}`;
    return [finding(path, what, isRefused ? 'refuse' : 'report')];
  });
}

function addedScripts(path: string, before: Scripts, after: Scripts, uses: Uses): readonly Finding[] {
  const added = Object.entries(after).filter(([name]) => uses.names.has(name) && !Object.hasOwn(before, name));
  return added.flatMap(([name, line]) => {
    const isWeak = provesNothing(line) || soothed(line) > 0;
    if (!isWeak && !/^(pre|post)/.test(name)) return [];
    const what = `its new script ${JSON.stringify(name)} decides what a check proves: ${beforeAndAfter('', line)}`;
    return [finding(path, what, isWeak ? 'refuse' : 'report')];
  });
}

interface Uses {
  readonly names: ReadonlySet<string>;
  /** It is the manifest that a check runs, not one of another package. */
  readonly isOwn: boolean;
  /** A check runs something that may run scripts in its turn, unseen. */
  readonly isIndirect: boolean;
}

/** `lines`: the checks as run from the top. `count`: what silences tests in the rest of the manifest. */
export function manifestFindings(
  { path, before, after }: ChangedFile,
  lines: readonly string[],
  count: (rest: string) => number,
): readonly Finding[] {
  const [old, now] = [manifestIn(before) ?? { scripts: {}, rest: '' }, manifestIn(after)];
  if (after === undefined) return [finding(path, 'it was deleted', 'report')];
  if (now === undefined) return [finding(path, 'it is no JSON any more', 'report')];
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const inherited = Object.values(old.scripts);
  const runs = [...lines, ...inherited].flatMap(manifestRuns);
  const uses: Uses = {
    names: usedScripts(lines, old.scripts),
    isOwn: lines.flatMap(manifestRuns).some(run => run.folders.includes(folder)) || runs.some(run => run.isEverywhere),
    isIndirect: isIndirect(lines, 'manifest'),
  };
  const findings = [
    ...changedScripts(path, old.scripts, now.scripts, uses),
    ...addedScripts(path, old.scripts, now.scripts, uses),
    ...(count(now.rest) > count(old.rest)
      ? [finding(path, 'it now leaves tests out or lets a failing check pass')]
      : []),
  ];
  if (findings.length > 0) return findings;
  return [finding(path, before === undefined ? 'it was added' : 'it was changed', 'report')];
}
