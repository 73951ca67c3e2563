// Settings from all sources: flags > environment > .env > project file > user file > preset of the mode.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { boundingLimits, isBounded, limitFlag, type ModeName, type Settings } from '../core/settings.ts';
import type { Problem } from '../documents/document.ts';
import { rulesOf } from '../modes/registry.ts';
import { anyOf } from '../text/format.ts';
import { nearest } from '../text/similarity.ts';
import { modelless } from './agents.ts';
import { environmentName, fieldOf, flagName, type Key, keys, type Values } from './fields.ts';
import { type ReadConfigFile, readConfigFile, readTextFile, userOnlyNotice } from './files.ts';
import { userConfigDirectory } from './home.ts';
import { parseText, type RunOptions, readOption } from './options.ts';
import { presetValues } from './presets.ts';
import { goodAll, type Reading, refuse, shown } from './reading.ts';
import { type Config, settingsOf } from './settings.ts';
import { isTrusted } from './trust.ts';

type FullRequest = ConfigRequest & { readonly now: number };
type Variables = Readonly<Record<string, string | undefined>>;
type Source = 'flag' | 'environment' | 'loop' | '.env' | 'project file' | 'user file' | 'preset';
type Sources = Readonly<Record<Key, Source>>;

export interface ConfigRequest {
  readonly mode: ModeName;
  /** Other names are not looked at. */
  readonly flags: RunOptions;
  readonly env: Variables;
  /** The working directory, with ralph.config.json and .env. */
  readonly directory: string;
  /** The folder of the user's config.json, unless it is where `env` says; none when there is no home. */
  readonly userDirectory?: string | undefined;
  /** Epoch ms. */
  readonly now?: number;
  /** What the loop that goes on was started with: it holds where nobody types something else. */
  readonly kept?: Values;
}

/** The settings of one run, and who said each. */
export interface RunConfig {
  readonly config: Config;
  readonly settings: Settings;
  /** Where each value came from. */
  readonly sources: Readonly<Record<Key, Source>>;
  /** Said by a flag or the real environment: files of the project can be an agent's work. */
  readonly typed: ReadonlySet<Key>;
  /** Of the project's file, what only the user may set: it does not count yet. */
  readonly untrusted: Values;
  readonly notices: readonly string[];
}

export type ResolvedConfig =
  | ({ readonly ok: true } & RunConfig)
  | { readonly ok: false; readonly problems: readonly Problem[] };

const projectFileName = 'ralph.config.json';
const userFileName = 'config.json';

interface Layer extends ReadConfigFile {
  readonly source: Source;
}

export async function resolveConfig(given: ConfigRequest): Promise<ResolvedConfig> {
  const usual = userConfigDirectory(given.env);
  const request = { userDirectory: 'path' in usual ? usual.path : undefined, now: Date.now(), ...given };
  const [environment, dotEnv] = await environmentLayers(request);
  const kept: Layer = { source: 'loop', values: request.kept ?? {}, problems: [], notices: [] };
  const layers = [flagLayer(request), environment, kept, dotEnv, ...(await fileLayers(request))];
  const problems = layers.flatMap(layer => layer.problems);
  if (problems.length > 0) return { ok: false, problems };
  const preset = presetValues(request.mode);
  const sources = Object.fromEntries(keys.map(key => [key, sourceOf(key, layers)])) as Record<Key, Source>;
  const merged = Object.assign({}, preset, ...layers.toReversed().map(layer => layer.values)) as Config;
  const contradiction = contradictingAgents(merged, sources);
  if (contradiction !== undefined) return { ok: false, problems: [contradiction] };
  const agent = merged.agent ?? impliedAgent(merged, sources);
  const named = withModel(agent, merged.model, sources);
  if (!named.ok) return { ok: false, problems: [{ message: named.problem }] };
  const config: Config = named.value === undefined ? merged : { ...merged, agent: named.value };
  const settings = settingsOf(request.mode, config);
  if (!isBounded(settings.limits)) return { ok: false, problems: [unbounded] };
  return {
    ok: true,
    config,
    settings,
    sources,
    typed: new Set(keys.filter(key => isTyped(sources[key]))),
    untrusted: layers.find(layer => layer.untrusted !== undefined)?.untrusted ?? {},
    notices: [...layers.flatMap(layer => layer.notices), ...nameNotice(layers)],
  };
}

const unbounded: Problem = {
  message: 'Nothing bounds this loop: unlimited is allowed only with another limit set.',
  fix: `Set one of ${anyOf(boundingLimits.map(limitFlag))}.`,
};

function sourceOf(key: Key, layers: readonly Layer[]): Source {
  return layers.find(layer => layer.values[key] !== undefined)?.source ?? 'preset';
}

const precedence: readonly Source[] = ['flag', 'environment', 'loop', '.env', 'project file', 'user file', 'preset'];

const isTyped = (source: Source): boolean => source === 'flag' || source === 'environment';

const implies = [
  ['agentCommand', 'command'],
  ['script', 'scripted'],
  ['acpCommand', 'acp'],
] as const;

/** Flags that each name another agent; one that is a fallback, or does some tasks, is named as that. */
function contradictingAgents(config: Config, sources: Sources): Problem | undefined {
  const { agent, fallback, stronger, taskAgent, phaseAgent, judge, reviewer } = config;
  // `codex`, `codex/gpt-5.4`, `R1=codex`
  const words = [agent, fallback, stronger, taskAgent, phaseAgent, judge, reviewer].flat();
  const named = new Set(words.map(word => word?.replace(/^[^=]*=/, '').replace(/\/.*$/s, '')));
  const idle = implies.filter(([key, name]) => sources[key] === 'flag' && !named.has(name)).map(([key]) => key);
  const flags = [...(sources.agent === 'flag' ? ['agent' as const] : []), ...idle].map(flagName);
  if (idle.length === 0 || flags.length < 2) return undefined;
  return { message: `${flags.join(' and ')} name different agents.`, fix: 'Leave all but one of them out.' };
}

/** A command or a script says which agent is meant; of both, the one set closer to the command line. */
function impliedAgent(config: Config, sources: Sources): string | undefined {
  const set = implies.filter(([key]) => config[key] !== undefined);
  // The one set closest to the command line; a user's file that only knows an ACP program chooses nothing by that.
  const closest = set.sort(([a], [b]) => precedence.indexOf(sources[a]) - precedence.indexOf(sources[b]))[0];
  if (closest === undefined) return undefined;
  return closest[0] !== 'acpCommand' || isTyped(sources[closest[0]]) ? closest[1] : undefined;
}

/** Of two models the one set closer to the command line; a model beside an agent that has none is a mistake. */
function withModel(
  agent: string | undefined,
  model: string | undefined,
  sources: Sources,
): Reading<string | undefined> {
  if (agent === undefined || model === undefined) return { ok: true, value: agent };
  const [name = '', ...own] = agent.split('/');
  const isCloser = precedence.indexOf(sources.model) - precedence.indexOf(sources.agent);
  if (modelless.has(name)) {
    if (sources.model !== 'flag') return { ok: true, value: agent };
    return refuse(`--model: the ${name} agent takes no model; leave it out.`);
  }
  if (own.length > 0 && own.join('/') !== model && isCloser === 0)
    return refuse(`Two models are given for ${name}: ${shown(own.join('/'))} and ${shown(model)}; give one.`);
  return { ok: true, value: own.length > 0 && isCloser > 0 ? agent : `${name}/${model}` };
}

function nameNotice(layers: readonly Layer[]): string[] {
  const layer = layers.find(candidate => candidate.values.name !== undefined);
  if (layer?.givenName === undefined || layer.givenName === layer.values.name) return [];
  return [`The loop's name ${shown(layer.givenName)} is written as ${layer.values.name}.`];
}

/** A key, its text as given, and what was read from it. */
type KeyReading = readonly [Key, string, Reading<unknown>];

function layerOf(source: Source, readings: readonly KeyReading[], notices: readonly string[] = []): Layer {
  const good = readings.flatMap(([key, , reading]) => (reading.ok ? [[key, reading.value] as const] : []));
  const givenName = readings.find(([key]) => key === 'name')?.[1];
  return {
    source,
    values: Object.fromEntries(good) as Values,
    problems: readings.flatMap(([, , reading]) => (reading.ok ? [] : [{ message: reading.problem }])),
    notices,
    givenName,
  };
}

function flagLayer({ flags, now }: FullRequest): Layer {
  const readings = keys.flatMap(key => {
    const given = flags[key];
    return given === undefined ? [] : [[key, String(given), readOption(key, given, now)] as const];
  });
  return layerOf('flag', readings);
}

type Place = 'environment' | '.env';

/** Listed names only, parsed, never executed (B16, B17). */
async function environmentLayers({ mode, env, directory, now }: FullRequest): Promise<readonly [Layer, Layer]> {
  const dotEnv = await readDotEnv(directory);
  const readings: Readonly<Record<Place, KeyReading[]>> = { environment: [], '.env': [] };
  const notices = [...dotEnv.notices];
  for (const key of keys) {
    const [used, ...others] = givenFor(key, mode, env, dotEnv.variables);
    const name = environmentName(key);
    if (fieldOf(key).userOnly === true && Object.hasOwn(dotEnv.variables, name))
      notices.push(userOnlyNotice(name, '.env', key));
    if (used === undefined) continue;
    if (used.name !== name) notices.push(`${used.name} is read as ${name}; please use the new name.`);
    const unused = new Set(others.map(other => other.name).filter(other => other !== used.name));
    for (const other of unused) notices.push(`${other} is ignored, because ${used.name} is set.`);
    const label = used.source === '.env' ? `${used.name} in .env` : used.name;
    readings[used.source].push([key, used.text, readVariable(key, used.text, label, now)]);
  }
  notices.push(...slips(dotEnv.variables));
  return [layerOf('environment', readings.environment, notices), layerOf('.env', readings['.env'])];
}

/** Never a reason to refuse: the file belongs to the project, and most of it is none of our business. */
async function readDotEnv(directory: string): Promise<{ variables: Variables; notices: readonly string[] }> {
  const file = await readTextFile(directory, '.env', true);
  if (file.type === 'text') return { variables: parseEnv(file.text), notices: [] };
  // A folder of that name is a Python environment.
  const isTold = (await stat(join(directory, '.env')).catch(() => undefined))?.isFile() ?? false;
  return {
    variables: {},
    notices: isTold && file.type !== 'missing' ? [`${file.problem.message} It is not used.`] : [],
  };
}

interface Given {
  readonly name: string;
  readonly source: Place;
  readonly text: string;
}

/** The names of a key in order of precedence: the new one from anywhere before any seed name. */
function givenFor(key: Key, mode: ModeName, environment: Variables, dotEnv: Variables): readonly Given[] {
  const ofMode = Object.entries(rulesOf(mode).formerly ?? {}).filter(([, its]) => its === key);
  const former = [...ofMode.map(([name]) => name), ...(fieldOf(key).formerly ?? [])];
  const places: readonly (readonly [Place, Variables])[] = [
    ['environment', environment],
    ['.env', fieldOf(key).userOnly === true ? {} : dotEnv],
  ];
  return [environmentName(key), ...former].flatMap(name =>
    places.flatMap(([source, variables]) => {
      const text = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return text === undefined ? [] : [{ name, source, text }];
    }),
  );
}

/** A variable holds one command per line. */
function readVariable(key: Key, text: string, label: string, now: number): Reading<unknown> {
  if (fieldOf(key).kind !== 'commands') return parseText(key, text, label, now);
  const lines = text.split(/\r?\n/).filter(line => line.trim() !== '');
  return goodAll((lines.length === 0 ? [''] : lines).map(line => parseText(key, line, label, now)));
}

const otherNames: readonly string[] = ['RALPH_HOME'];

/** Lines of .env that do nothing but are one slip away from one that would; the command line looks at its environment itself. */
function slips(variables: Variables): string[] {
  const names = keys.map(environmentName);
  const unknown = Object.keys(variables).filter(
    name => /^RALPH_[A-Za-z0-9_]+$/.test(name) && !names.includes(name) && !otherNames.includes(name),
  );
  return unknown.flatMap(name => {
    const meant = nearest(name, names, 2);
    return meant === undefined ? [] : [`${name} in .env is not a setting; did you mean ${meant}?`];
  });
}

async function fileLayers({ directory, userDirectory, now }: FullRequest): Promise<Layer[]> {
  const trusts = (values: Values): Promise<boolean> => isTrusted(userDirectory, directory, values);
  const project = { directory, fileName: projectFileName, label: projectFileName, isProject: true, trusts };
  const layers: Layer[] = [{ source: 'project file', ...(await readConfigFile(project, now)) }];
  if (userDirectory === undefined) return layers;
  const label = join(userDirectory, userFileName);
  const user = { directory: userDirectory, fileName: userFileName, label, isProject: false };
  return [...layers, { source: 'user file', ...(await readConfigFile(user, now)) }];
}
