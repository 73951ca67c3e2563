// Finds scripts of a package.json that a check runs and that are not what they were.

import type { Finding } from '../../core/event.ts';
import { beforeAndAfter, finding, provesNothing, soothed } from './checks.ts';
import { isIndirect, makeRuns, manifestRuns, manifestScripts } from './command-line.ts';
import type { ChangedFile } from './screen.ts';

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

// Finds targets of a Makefile that a check makes and that are not what they were.

interface Target {
  readonly needs: string[];
  readonly recipe: string[];
}

interface Makefile {
  readonly targets: ReadonlyMap<string, Target>;
  readonly variables: ReadonlyMap<string, string>;
}

const assignment = /^(?:(?:export|override|private)\s+)*([\w.]+)[ \t]*(?:[?+!]|:{1,3})?=(.*)$/;
const blanks = /\s+/;
const targetsPerRuleMax = 100; // each line of a recipe is kept for each of them

/** One pass over the lines; conditions and included files are not followed. */
function read(text: string): Makefile {
  const targets = new Map<string, Target>();
  const variables = new Map<string, string>();
  let current: readonly Target[] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line.startsWith('\t')) {
      const step = line.trim();
      if (step !== '' && !step.startsWith('#')) for (const target of current) target.recipe.push(step);
      continue;
    }
    const plain = (line.includes('#') ? line.slice(0, line.indexOf('#')) : line).trim();
    const [, name, value = ''] = assignment.exec(plain) ?? [];
    if (name !== undefined) variables.set(name, `${variables.get(name) ?? ''}${value.trim()}\n`);
    const colon = plain.indexOf(':');
    if (name !== undefined || colon < 1) continue;
    const [needs = '', ...steps] = plain.slice(plain[colon + 1] === ':' ? colon + 2 : colon + 1).split(';');
    const own = /^\s*([\w.]+)\s*[:?+]?=(.*)$/.exec(needs);
    if (own !== null) variables.set(own[1] as string, `${variables.get(own[1] as string) ?? ''}${own[2]?.trim()}\n`);
    current = plain
      .slice(0, colon)
      .split(blanks)
      .filter(Boolean)
      .slice(0, targetsPerRuleMax)
      .map(each => {
        const target = targets.get(each) ?? { needs: [], recipe: [] };
        targets.set(each, target);
        for (const need of needs.split(blanks)) if (need !== '') target.needs.push(need);
        const step = steps.join(';').trim();
        if (step !== '') target.recipe.push(step);
        return target;
      });
  }
  return { targets, variables };
}

/** The names of all targets that a Makefile has a rule for. */
export const makeTargets = (text: string): readonly string[] => [...read(text).targets.keys()];

/** The targets whose recipes are the check: the ones made, those they make, and what a target without a recipe needs. */
function madeBy(asked: readonly string[], { targets }: Makefile): ReadonlySet<string> {
  const made = new Set<string>();
  const first = [...targets.keys()].find(name => !name.startsWith('.'));
  const waiting = asked.length === 0 && first !== undefined ? [first] : [...asked];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (made.has(name)) continue;
    made.add(name);
    const target = targets.get(name);
    if (target === undefined) continue;
    const others = target.recipe.flatMap(makeRuns).flatMap(run => run.targets);
    for (const other of target.recipe.length === 0 ? [...target.needs, ...others] : others) waiting.push(other);
  }
  return made;
}

const textOf = (target: Target | undefined): string =>
  target === undefined ? '' : [target.needs.join(' '), ...target.recipe].join('\n').trim();

/** Recipe lines whose failure does not count, and what else hides one. */
const silences = (text: string): number => soothed(text) + (text.match(/^@?-/gm)?.length ?? 0);

const isEmpty = (target: Target): boolean =>
  target.recipe.every(step => provesNothing(step.replace(/^[@+-]+/, ''))) && target.needs.length === 0;

/** `$(PYTEST) -q`: what this variable holds is what runs. */
const programVariables = (target: Target): readonly string[] =>
  target.recipe.flatMap(step => /^[@+-]*\s*\$[({](\w+)[)}]/.exec(step)?.[1] ?? []);

function changedTargets(path: string, old: Makefile, now: Makefile, made: ReadonlySet<string>): readonly Finding[] {
  const phony = (file: Makefile): ReadonlySet<string> => new Set(file.targets.get('.PHONY')?.needs);
  const [wasPhony, isPhony] = [phony(old), phony(now)];
  return [...made].flatMap(name => {
    const [before, after] = [old.targets.get(name), now.targets.get(name)];
    const called = `its target ${JSON.stringify(name)}`;
    if (before === undefined) {
      const isWeak = after !== undefined && (isEmpty(after) || silences(textOf(after)) > 0);
      return isWeak
        ? [finding(path, `${called} is new and can hardly fail: ${beforeAndAfter('', textOf(after))}`)]
        : [];
    }
    if (textOf(before) !== textOf(after))
      return [
        finding(
          path,
          `${called}, which a check makes, is another one: ${beforeAndAfter(textOf(before), textOf(after))}`,
        ),
      ];
    if (wasPhony.has(name) && !isPhony.has(name))
      return [finding(path, `${called} is no longer phony, so that a file of this name stands for it`)];
    return programVariables(before).flatMap(variable => {
      const [was, is] = [old.variables.get(variable) ?? '', now.variables.get(variable) ?? ''];
      return was === is
        ? []
        : [finding(path, `${variable}, which ${called} runs, is another one: ${beforeAndAfter(was, is)}`)];
    });
  });
}

const powers = ['SHELL', '.SHELLFLAGS', 'MAKEFLAGS', 'GNUMAKEFLAGS'];

function newPowers(path: string, old: Makefile, now: Makefile): readonly Finding[] {
  const found = powers.flatMap(name => {
    const [was, is] = [old.variables.get(name) ?? '', now.variables.get(name) ?? ''];
    return was === is || is === ''
      ? []
      : [finding(path, `${name} decides how every recipe runs: ${beforeAndAfter(was, is)}`)];
  });
  const isIgnoring =
    now.targets.has('.IGNORE') && textOf(now.targets.get('.IGNORE')) !== textOf(old.targets.get('.IGNORE'));
  return isIgnoring || (now.targets.has('.IGNORE') && !old.targets.has('.IGNORE'))
    ? [...found, finding(path, '.IGNORE lets recipes fail unseen')]
    : found;
}

/** Targets that may be part of a check: only what hides a failure counts. */
function weakTargets(path: string, old: Makefile, now: Makefile, names: Iterable<string>): readonly Finding[] {
  return [...names].flatMap(name => {
    const [before, after] = [old.targets.get(name), now.targets.get(name)];
    if (before === undefined || isEmpty(before)) return [];
    const isWeak = after === undefined || isEmpty(after) || silences(textOf(after)) > silences(textOf(before));
    const what = `its target ${JSON.stringify(name)} can hardly fail now`;
    return isWeak ? [finding(path, `${what}: ${beforeAndAfter(textOf(before), textOf(after))}`)] : [];
  });
}

/** `lines`: the checks as run from the top. */
export function makeFindings({ path, before, after }: ChangedFile, lines: readonly string[]): readonly Finding[] {
  const runs = lines.flatMap(makeRuns).filter(run => run.files.includes(path) || path.endsWith('.mk'));
  const [old, now] = [read(before ?? ''), read(after ?? '')];
  const asked = runs.flatMap(run => (run.targets.length > 0 ? run.targets : [...madeBy([], old)]));
  const made = runs.length === 0 ? new Set<string>() : madeBy(asked, old);
  const reached = new Set(
    [...made].flatMap(name => old.targets.get(name)?.needs ?? []).filter(name => !made.has(name)),
  );
  const named = isIndirect(lines, 'makefile') ? [...old.targets.keys()].filter(name => testLike.test(name)) : [];
  const isSecond = before === undefined && runs.length > 0 && /(^|\/)(GNUm|m)akefile$/.test(path);
  const findings = [
    ...(isSecond ? [finding(path, 'make takes it before a Makefile, and it is new')] : []),
    ...changedTargets(path, old, now, made),
    ...weakTargets(path, old, now, new Set([...reached, ...named.filter(name => !made.has(name))])),
    ...(runs.length > 0 || named.length > 0 ? newPowers(path, old, now) : []),
  ];
  if (findings.length > 0) return findings;
  const what = after === undefined ? 'it was deleted' : before === undefined ? 'it was added' : 'it was changed';
  return [finding(path, what, 'report')];
}
