// Reads settings from the environment and from a project's .env: listed names only, parsed, never executed (B16, B17).
import { parseEnv } from 'node:util';
import type { ModeName } from '../core/settings.ts';
import { nearest } from '../text/similarity.ts';
import { environmentName, fieldOf, type Key, keys, parseText } from './fields.ts';
import { userOnlyNotice } from './files.ts';
import { goodAll, type Reading } from './reading.ts';
import { readTextFile } from './text-file.ts';

type Variables = Readonly<Record<string, string | undefined>>;
type Place = 'environment' | '.env';

interface EnvironmentEntry {
  readonly key: Key;
  readonly source: Place;
  readonly text: string;
  readonly reading: Reading<unknown>;
}

export interface ReadEnvironment {
  readonly entries: readonly EnvironmentEntry[];
  readonly notices: readonly string[];
}

export interface DotEnv {
  readonly variables: Variables;
  readonly notices: readonly string[];
}

/** Never a reason to refuse: the file belongs to the project, and most of it is none of our business. */
export async function readDotEnv(directory: string): Promise<DotEnv> {
  const file = await readTextFile(directory, '.env', true);
  if (file.type === 'text') return { variables: parseEnv(file.text), notices: [] };
  const isTold = file.type === 'refused' && file.why !== 'not-a-file';
  return { variables: {}, notices: isTold ? [`.env is not read: ${file.message}.`] : [] };
}

interface Given {
  readonly name: string;
  readonly source: Place;
  readonly text: string;
}

/** The names of a key in order of precedence: the new one from anywhere before any seed name. */
function givenFor(key: Key, mode: ModeName, environment: Variables, dotEnv: Variables): readonly Given[] {
  const former = (fieldOf(key).formerly ?? []).filter(seed => seed.mode === undefined || seed.mode === mode);
  const places: readonly (readonly [Place, Variables])[] = [
    ['environment', environment],
    ['.env', fieldOf(key).userOnly === true ? {} : dotEnv],
  ];
  return [environmentName(key), ...former.map(seed => seed.name)].flatMap(name =>
    places.flatMap(([source, variables]) => {
      const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return text === undefined ? [] : [{ name, source, text }];
    }),
  );
}

export function readEnvironment(
  mode: ModeName,
  environment: Variables,
  dotEnv: Variables,
  now: number,
): ReadEnvironment {
  const entries: EnvironmentEntry[] = [];
  const notices: string[] = [];
  for (const key of keys) {
    const [used, ...others] = givenFor(key, mode, environment, dotEnv);
    const name = environmentName(key);
    if (fieldOf(key).userOnly === true && Object.hasOwn(dotEnv, name)) notices.push(userOnlyNotice(name, '.env', key));
    if (used === undefined) continue;
    if (used.name !== name) notices.push(`${used.name} is read as ${name}; please use the new name.`);
    const unused = new Set(others.map(other => other.name).filter(other => other !== used.name));
    for (const other of unused) notices.push(`${other} is ignored, because ${used.name} is set.`);
    const label = used.source === '.env' ? `${used.name} in .env` : used.name;
    entries.push({ key, source: used.source, text: used.text, reading: readVariable(key, used.text, label, now) });
  }
  return { entries, notices: [...notices, ...slips(environment, ''), ...slips(dotEnv, ' in .env')] };
}

/** A variable holds one command per line. */
function readVariable(key: Key, text: string, label: string, now: number): Reading<unknown> {
  if (fieldOf(key).kind !== 'commands') return parseText(key, text, label, now);
  const lines = text.split(/\r?\n/).filter(line => line.trim() !== '');
  return goodAll((lines.length === 0 ? [''] : lines).map(line => parseText(key, line, label, now)));
}

const otherNames: readonly string[] = ['RALPH_HOME'];

/** Variables that do nothing but are one slip away from one that would. */
function slips(variables: Variables, where: string): string[] {
  const names = keys.map(environmentName);
  const unknown = Object.keys(variables).filter(
    name => /^RALPH_[A-Za-z0-9_]+$/.test(name) && !names.includes(name) && !otherNames.includes(name),
  );
  return unknown.flatMap(name => {
    const meant = nearest(name, names, 2);
    return meant === undefined ? [] : [`${name}${where} is not a setting; did you mean ${meant}?`];
  });
}
