// Installation of the hook in the settings file of an agent: what is there stays, twice is once, and the way back is byte by byte.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentHooks } from '../agents/agent.ts';
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from '../text/fields.ts';

export interface HookOrder {
  readonly hooks: AgentHooks;
  /** The program that runs Ralph, and its words before `hook`. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export type Edited = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/** A loop has limits of its own, so that the agent's only has to be out of their way. */
const capWanted = 500;

/** For a shell of any system: what needs no quotes gets none. */
const quoted = (word: string): string => (/^[\w./:@%+,=-]+$/.test(word) ? word : `"${word}"`);

function entryOf({ hooks, command, timeoutMs }: HookOrder): Fields {
  const timeout = Math.round(timeoutMs / hooks.timeoutUnitMs);
  const cap = hooks.cap === undefined ? [] : ['--cap', `${hooks.cap.turns},${hooks.cap.variable}`];
  const words = [...command, 'hook', 'stop', '--timeout', String(Math.round(timeoutMs / 1_000)), ...cap];
  const [program = '', ...args] = words;
  if (hooks.takesArguments) return { type: 'command', command: program, args, timeout };
  return { type: 'command', command: words.map(quoted).join(' '), timeout };
}

/** Ours, whichever Ralph has written it. */
function isOurs(entry: unknown): boolean {
  const { command, args } = fieldsOf(entry);
  const words = [...textOf(command).split(' '), ...listOf(args).map(textOf)].map(word => word.replace(/^"|"$/g, ''));
  const at = words.indexOf('hook');
  if (at <= 0 || words[at + 1] !== 'stop') return false;
  return words[at + 2] === '--timeout' || words.slice(0, at).some(word => /(?:^|[\\/])ralph(?:\.\w+)?$/.test(word));
}

/** The groups of an event without our hook; a group that held nothing else goes. */
function withoutOurs(groups: unknown): readonly unknown[] {
  return listOf(groups).flatMap(group => {
    const { hooks } = fieldsOf(group);
    const others = listOf(hooks).filter(entry => !isOurs(entry));
    if (others.length === listOf(hooks).length) return [group];
    return others.length === 0 ? [] : [{ ...fieldsOf(group), hooks: others }];
  });
}

function parsed(text: string | undefined): Fields | undefined {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const indentOf = (text = ''): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';

const written = (value: Fields, before: string | undefined): string =>
  `${JSON.stringify(value, null, indentOf(before))}\n`;

const unreadable: Edited = { ok: false, problem: 'it is no JSON object (with comments, it is not changed by us)' };

/** The file with the hook; the same bytes where it is there already. */
export function withHook(before: string | undefined, order: HookOrder): Edited {
  const value = parsed(before);
  if (value === undefined) return unreadable;
  const { alsoNeeds = {}, events, cap } = order.hooks;
  const hooks = fieldsOf(value['hooks']);
  const added = events.map(event => [event, [...withoutOurs(hooks[event]), { hooks: [entryOf(order)] }]]);
  const needed = Object.entries(alsoNeeds).map(([key, more]) => [key, { ...fieldsOf(value[key]), ...fieldsOf(more) }]);
  const env = fieldsOf(value['env']);
  const capped = cap === undefined ? {} : { env: { [cap.variable]: String(capWanted), ...env } };
  const all = { ...value, ...Object.fromEntries(needed), ...capped, hooks: { ...hooks, ...Object.fromEntries(added) } };
  return { ok: true, text: isSame(all, value) ? (before ?? '') : written(all, before) };
}

/** The file without it; undefined: nothing is left of it. */
export function withoutHook(before: string | undefined, hooks: AgentHooks): Edited {
  const value = parsed(before);
  if (value === undefined) return unreadable;
  const events = Object.entries(fieldsOf(value['hooks'])).flatMap(([event, groups]) => {
    const others = withoutOurs(groups);
    return others.length === 0 && listOf(groups).length > 0 ? [] : [[event, others]];
  });
  const env = { ...fieldsOf(value['env']) } as Record<string, unknown>;
  if (hooks.cap !== undefined && env[hooks.cap.variable] === String(capWanted)) delete env[hooks.cap.variable];
  const { hooks: _hooks, env: _env, ...rest } = value;
  const kept = {
    ...rest,
    ...present({
      env: isEmpty(env) ? undefined : env,
      hooks: events.length === 0 ? undefined : Object.fromEntries(events),
    }),
  };
  return { ok: true, text: isSame(kept, value) ? (before ?? '') : written(kept, before) };
}

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether it is there, and as it would be installed now; or a plugin of ours has it. */
export function hookIn(
  text: string | undefined,
  order: HookOrder,
): 'current' | 'other' | 'plugin' | 'absent' | 'unreadable' {
  const value = parsed(text);
  if (value === undefined) return 'unreadable';
  const hooks = fieldsOf(value['hooks']);
  const found = order.hooks.events.map(event =>
    listOf(hooks[event]).flatMap(group => listOf(fieldsOf(group)['hooks']).filter(isOurs)),
  );
  if (found.every(entries => entries.length === 0)) return hasPlugin(value) ? 'plugin' : 'absent';
  const wanted = entryOf(order);
  return found.every(entries => entries.length === 1 && isSame(entries[0], wanted)) ? 'current' : 'other';
}

/** As Claude Code notes it: `NAME@MARKETPLACE`. */
const hasPlugin = (settings: Fields): boolean =>
  Object.entries(fieldsOf(settings['enabledPlugins'])).some(([name, isOn]) => isOn === true && /^ralph@/.test(name));

// What is written, and what was there before.

const backupOf = (home: string, path: string): string =>
  join(home, 'hooks', `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`);

export const textAt = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** Through a link to what it points to, and as a whole. */
function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const target = existsSync(path) ? realpathSync(path) : path;
  writeFileSync(`${target}.${process.pid}.new`, text);
  renameSync(`${target}.${process.pid}.new`, target);
}

/** Keeps what was there, for an uninstall that finds it as we left it. */
export function writeHook(home: string, path: string, before: string | undefined, text: string): void {
  const backup = backupOf(home, path);
  const kept = fieldsOf(parsed(textAt(backup)));
  // Installed again over itself: the way back leads to what was there before the first time.
  const first = kept['after'] === before && before !== undefined ? kept['before'] : (before ?? null);
  mkdirSync(dirname(backup), { recursive: true, mode: 0o700 });
  writeFileSync(backup, JSON.stringify({ path, before: first, after: text }), { mode: 0o600 });
  put(path, text);
}

/** The bytes that were there before the install, where nobody has changed the file since; else without the hook alone. Undefined: there was no file. */
export function withoutInstall(home: string, path: string, text: string, edited: string): string | undefined {
  const { path: of, before, after } = fieldsOf(parsed(textAt(backupOf(home, path))));
  if (of !== path || after !== text) return edited;
  return before === null ? undefined : textOf(before);
}

export function removeHook(home: string, path: string, after: string | undefined): void {
  if (after === undefined) rmSync(path, { force: true });
  else put(path, after);
  rmSync(backupOf(home, path), { force: true });
}

/** The lines that differ, between those at both ends that do not. */
export function changedLines(before: string | undefined, after: string | undefined): readonly string[] {
  const [old, now] = [before, after].map(text => (text === undefined || text === '' ? [] : text.trimEnd().split('\n')));
  if (old === undefined || now === undefined) return [];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const minus = old.slice(start, old.length - end).map(line => `- ${line}`);
  const plus = now.slice(start, now.length - end).map(line => `+ ${line}`);
  return [...minus, ...plus];
}
