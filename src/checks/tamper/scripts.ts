// Package scripts and make targets that a check runs, compared before and after the work.
import type { Finding } from '../../core/task.ts';
import { isIndirect, makeRuns, manifestRuns, manifestScripts } from './command-line.ts';
import {
  beforeAndAfter,
  type ChangedFile,
  cannotFail,
  changed,
  harmless,
  hiddenFailures,
  isOtherRunner,
  plainChange,
  silencedTests,
  stillHolds,
  weakened,
} from './weakening.ts';

type Scripts = ReadonlyMap<string, string>;

interface Manifest {
  readonly scripts: Scripts;
  /** All but the scripts: a test runner may be told there what to leave out. */
  readonly rest: string;
}

/** A package.json; undefined when it is no JSON. */
export function manifestIn(text: string | undefined): Manifest | undefined {
  if (text === undefined) return { scripts: new Map(), rest: '' };
  try {
    const { scripts, ...rest } = JSON.parse(text.replace(/^\ufeff/, '')) as { readonly scripts?: unknown };
    const entries = Object.entries((scripts ?? {}) as Record<string, unknown>);
    const lines = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return { scripts: new Map(lines), rest: JSON.stringify(rest) };
  } catch {
    return undefined;
  }
}

/** What `npm init` puts there; replacing it takes nothing away. */
export const isPlaceholder = (script: string): boolean => /no test specified/.test(script);

const patternsMax = 100; // each is compared with every script

/** Also those that a used script runs in its turn; a `*` stands for any name. */
function usedScripts(checks: readonly string[], scripts: Scripts): ReadonlySet<string> {
  const used = new Set<string>();
  const prefixes = new Set<string>();
  const waiting = checks.flatMap(manifestScripts);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const star = name.indexOf('*');
    const [seen, key] = star === -1 ? [used, name] : [prefixes, name.slice(0, star)];
    if (seen.has(key) || (seen === prefixes && prefixes.size === patternsMax)) continue;
    seen.add(key);
    const more =
      star === -1 ? manifestScripts(scripts.get(name) ?? '') : [...scripts.keys()].filter(each => each.startsWith(key));
    for (const each of more) waiting.push(each);
  }
  return used;
}

const testLike = /(^|[:_-])(test|check|verify|lint)/;

function weakening(before: string, after: string | undefined): string | undefined {
  if (after === undefined) return 'was removed';
  if (cannotFail(after)) return 'proves nothing now';
  return hiddenFailures(after) > hiddenFailures(before)
    ? 'now passes when its command fails or finds no tests'
    : undefined;
}

interface Uses {
  readonly names: ReadonlySet<string>;
  /** It is the manifest that a check runs, not one of another package. */
  readonly isOwn: boolean;
  /** A check runs something that may run scripts in its turn, unseen. */
  readonly isIndirect: boolean;
}

function changedScripts(path: string, before: Scripts, after: Scripts, uses: Uses): readonly Finding[] {
  const isRefused = (name: string, weak: string | undefined): boolean =>
    uses.names.has(name)
      ? uses.isOwn || weak !== undefined
      : uses.isIndirect && testLike.test(name) && weak !== undefined && after.has(name);
  return [...before].flatMap(([name, line]) => {
    const next = after.get(name);
    if (next === line || isPlaceholder(line) || cannotFail(line)) return [];
    const weak = weakening(line, next);
    const what = `its script ${JSON.stringify(name)} ${weak ?? 'is another one'}: ${beforeAndAfter(line, next ?? '')}`;
    const isWhole = weak === undefined && next !== undefined && (stillHolds(line, next) || isOtherRunner(line, next));
    if (!isWhole && isRefused(name, weak)) return [weakened(path, what)];
    return weak === undefined && !isWhole ? [] : [changed(path, what)];
  });
}

function addedScripts(path: string, before: Scripts, after: Scripts, uses: Uses): readonly Finding[] {
  const added = [...after].filter(([name]) => uses.names.has(name) && !before.has(name));
  return added.flatMap(([name, line]) => {
    const what = `its new script ${JSON.stringify(name)} decides what a check proves: ${beforeAndAfter('', line)}`;
    if (cannotFail(line) || hiddenFailures(line) > 0) return [weakened(path, what)];
    return /^(pre|post)/.test(name) ? [changed(path, what)] : [];
  });
}

/** `lines`: the checks as run from the top. */
export function manifestFindings(file: ChangedFile, lines: readonly string[]): readonly Finding[] {
  const { path, before, after } = file;
  const [old, now] = [manifestIn(before) ?? { scripts: new Map<string, string>(), rest: '' }, manifestIn(after)];
  if (after === undefined) return [plainChange(file)];
  if (now === undefined) return [changed(path, 'it is no JSON any more')];
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const runs = [...lines, ...old.scripts.values()].flatMap(manifestRuns);
  const uses: Uses = {
    names: usedScripts(lines, old.scripts),
    isOwn: lines.flatMap(manifestRuns).some(run => run.folders.includes(folder)) || runs.some(run => run.isEverywhere),
    isIndirect: isIndirect(lines, 'manifest'),
  };
  const findings = [
    ...changedScripts(path, old.scripts, now.scripts, uses),
    ...addedScripts(path, old.scripts, now.scripts, uses),
    ...(silencedTests(now.rest) > silencedTests(old.rest)
      ? [weakened(path, 'it now leaves tests out or lets a failing check pass')]
      : []),
  ];
  return findings.length > 0 ? findings : [plainChange(file)];
}

interface Target {
  readonly needs: string[];
  readonly recipe: string[];
}

interface Makefile {
  readonly targets: Map<string, Target>;
  readonly variables: Map<string, string>;
}

const assignment = /^(?:(?:export|override|private)\s+)*([\w.]+)[ \t]*(?:[?+!]|:{1,3})?=(.*)$/;
const rule = /^([^:]+)::?([^;]*);?([\s\S]*)$/;
const targetsPerRuleMax = 100; // each line of a recipe is kept for each of them
const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter(word => word !== '');

/** One pass over the lines; conditions and included files are not followed. */
function readMakefile(text = ''): Makefile {
  const file: Makefile = { targets: new Map(), variables: new Map() };
  let current: readonly Target[] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const plain = (line.split('#', 1)[0] as string).trim();
    if (!line.startsWith('\t')) current = readLine(file, plain) ?? current;
    else if (!/^\s*#/.test(line)) addStep(current, line.trim());
  }
  return file;
}

/** The targets of a rule; undefined for any other line. */
function readLine({ targets, variables }: Makefile, line: string): readonly Target[] | undefined {
  const assigned = assignment.exec(line);
  const [, names, needs = '', steps = ''] = (assigned === null ? rule.exec(line) : null) ?? [];
  const [, variable, value = ''] = assigned ?? /^\s*([\w.]+)\s*[:?+]?=(.*)$/.exec(needs) ?? [];
  if (variable !== undefined) variables.set(variable, `${variables.get(variable) ?? ''}${value.trim()}\n`);
  if (names === undefined) return undefined;
  const found = wordsOf(names).slice(0, targetsPerRuleMax);
  const current = found.map(name => {
    const target = targets.get(name) ?? { needs: [], recipe: [] };
    targets.set(name, target);
    for (const need of wordsOf(needs)) target.needs.push(need);
    return target;
  });
  addStep(current, steps.trim());
  return current;
}

function addStep(targets: readonly Target[], step: string): void {
  if (step !== '') for (const target of targets) target.recipe.push(step);
}

/** The names of all targets that a Makefile has a rule for. */
export const makeTargets = (text: string): readonly string[] => [...readMakefile(text).targets.keys()];

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
const silences = (text: string): number => hiddenFailures(text) + (text.match(/^@?-/gm)?.length ?? 0);

/** With what the targets that it needs do before it, as far as they have no file: a recipe may move into one of them. */
function whole(target: Target, { targets }: Makefile): Target {
  const phony = new Set(targets.get('.PHONY')?.needs);
  const done = new Set<Target>([target]);
  const open = target.needs.map(name => [name, targets.get(name)] as const);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const [name, other] = next;
    if (other === undefined || done.has(other) || done.size > targetsPerRuleMax) continue;
    if (!phony.has(name) && /[./]/.test(name)) continue;
    done.add(other);
    for (const need of other.needs) open.push([need, targets.get(need)]);
  }
  const all = [...done].reverse();
  return { needs: all.flatMap(one => one.needs), recipe: all.flatMap(one => one.recipe) };
}

/** In whatever order: what a target needs has none. */
const keepsEach = (before: Target, after: Target): boolean =>
  before.needs.every(need => after.needs.includes(need)) &&
  before.recipe.every(step => after.recipe.some(other => stillHolds(step, other))) &&
  silences(textOf(after)) <= silences(textOf(before));

const keepsAll = (before: Target, after: Target | undefined): boolean =>
  after !== undefined &&
  before.needs.every(need => after.needs.includes(need)) &&
  (before.recipe.length === 0 || stillHolds(before.recipe.join('\n'), after.recipe.join('\n'))) &&
  silences(textOf(after)) <= silences(textOf(before));

/** In its own recipe, or in those of what it needs. */
const keepsTarget = (before: Target, after: Target | undefined, old: Makefile, now: Makefile): boolean =>
  after !== undefined && (keepsAll(before, after) || keepsEach(whole(before, old), whole(after, now)));

const isEmpty = (target: Target): boolean =>
  target.recipe.every(step => cannotFail(step.replace(/^[@+-]+/, ''))) && target.needs.length === 0;

/** `$(PYTEST) -q`: what this variable holds is what runs. */
const programVariables = (target: Target): readonly string[] =>
  target.recipe.flatMap(step => /^[@+-]*\s*\$[({](\w+)[)}]/.exec(step)?.[1] ?? []);

/** `pytest $(FLAGS)`: it may run less by what this variable holds now. */
const flagVariables = (target: Target, old: Makefile, now: Makefile): readonly string[] =>
  [
    ...new Set(target.recipe.flatMap(step => [...step.matchAll(/\$[({](\w+)[)}]/g)].map(hit => hit[1] as string))),
  ].filter(name =>
    wordsOf(now.variables.get(name) ?? '').some(
      word => !harmless.test(word) && !wordsOf(old.variables.get(name) ?? '').includes(word),
    ),
  );

/** Its values before and after, when they differ. */
function changedVariable(name: string, old: Makefile, now: Makefile): readonly [string, string] | undefined {
  const [was, is] = [old.variables.get(name) ?? '', now.variables.get(name) ?? ''];
  return was === is ? undefined : [was, is];
}

function changedTargets(path: string, old: Makefile, now: Makefile, made: ReadonlySet<string>): readonly Finding[] {
  const [wasPhony, isPhony] = [old, now].map(file => new Set(file.targets.get('.PHONY')?.needs));
  return [...made].flatMap(name => {
    const [before, after] = [old.targets.get(name), now.targets.get(name)];
    const called = `its target ${JSON.stringify(name)}`;
    const texts = beforeAndAfter(textOf(before), textOf(after));
    if (before === undefined) {
      const isWeak = after !== undefined && (isEmpty(after) || silences(textOf(after)) > 0);
      return isWeak ? [weakened(path, `${called} is new and can hardly fail: ${texts}`)] : [];
    }
    if (textOf(before) !== textOf(after))
      return [
        (keepsTarget(before, after, old, now) ? changed : weakened)(
          path,
          `${called}, which a check makes, is another one: ${texts}`,
        ),
      ];
    if (wasPhony?.has(name) && !isPhony?.has(name))
      return [weakened(path, `${called} is no longer phony, so that a file of this name stands for it`)];
    return [...programVariables(before), ...flagVariables(before, old, now)].flatMap(variable => {
      const values = changedVariable(variable, old, now);
      return values === undefined
        ? []
        : [weakened(path, `${variable}, which ${called} runs, is another one: ${beforeAndAfter(...values)}`)];
    });
  });
}

/** Settings of make that hold for every recipe. */
function changedMakeSettings(path: string, old: Makefile, now: Makefile): readonly Finding[] {
  const found = ['SHELL', '.SHELLFLAGS', 'MAKEFLAGS', 'GNUMAKEFLAGS'].flatMap(name => {
    const values = changedVariable(name, old, now);
    return values === undefined || values[1] === ''
      ? []
      : [weakened(path, `${name} decides how every recipe runs: ${beforeAndAfter(...values)}`)];
  });
  const [was, is] = [old.targets.get('.IGNORE'), now.targets.get('.IGNORE')];
  const isIgnoring = is !== undefined && (was === undefined || textOf(is) !== textOf(was));
  return isIgnoring ? [...found, weakened(path, '.IGNORE lets recipes fail unseen')] : found;
}

/** Targets that may be part of a check: only what hides a failure counts. */
function weakTargets(path: string, old: Makefile, now: Makefile, names: Iterable<string>): readonly Finding[] {
  return [...names].flatMap(name => {
    const [before, after] = [old.targets.get(name), now.targets.get(name)];
    if (before === undefined || isEmpty(before)) return [];
    const isWeak = after === undefined || isEmpty(after) || silences(textOf(after)) > silences(textOf(before));
    const what = `its target ${JSON.stringify(name)} can hardly fail now`;
    return isWeak ? [weakened(path, `${what}: ${beforeAndAfter(textOf(before), textOf(after))}`)] : [];
  });
}

/** `lines`: the checks as run from the top. */
export function makeFindings(file: ChangedFile, lines: readonly string[]): readonly Finding[] {
  const { path, before, after } = file;
  const runs = lines.flatMap(makeRuns).filter(run => run.files.includes(path) || path.endsWith('.mk'));
  const [old, now] = [readMakefile(before), readMakefile(after)];
  const asked = runs.flatMap(run => (run.targets.length > 0 ? run.targets : [...madeBy([], old)]));
  const made = runs.length === 0 ? new Set<string>() : madeBy(asked, old);
  const needed = [...made].flatMap(name => old.targets.get(name)?.needs ?? []);
  const named = isIndirect(lines, 'makefile') ? [...old.targets.keys()].filter(name => testLike.test(name)) : [];
  const isFirst = before === undefined && runs.length > 0 && /(^|\/)(GNUm|m)akefile$/.test(path);
  const findings = [
    ...(isFirst ? [weakened(path, 'make takes it before a Makefile, and it is new')] : []),
    ...changedTargets(path, old, now, made),
    ...weakTargets(path, old, now, new Set([...needed, ...named].filter(name => !made.has(name)))),
    ...(runs.length > 0 || named.length > 0 ? changedMakeSettings(path, old, now) : []),
  ];
  return findings.length > 0 ? findings : [plainChange(file)];
}
