// Settings from all sources: flags > environment > .env > project file > user file > preset of the mode.
import { join } from 'node:path';
import { isBounded, type ModeName, type Settings } from '../core/settings.ts';
import { modelless } from './agents.ts';
import { readDotEnv, readEnvironment } from './environment.ts';
import { fieldOf, flagName, type Key, keys, parseFlag, type Values } from './fields.ts';
import { readConfigFile } from './files.ts';
import { userConfigDirectory } from './home.ts';
import { goodAll, type Problem, type Reading, refuse, shown } from './reading.ts';
import { type Config, presetValues, settingsOf } from './settings.ts';
import { kinds } from './values.ts';

type Source = 'flag' | 'environment' | '.env' | 'project file' | 'user file' | 'preset';

export interface ConfigRequest {
  readonly mode: ModeName;
  /** By key, as the command line gave them; other names are not looked at. */
  readonly flags: Readonly<Partial<Record<Key, string | boolean | readonly string[]>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory, with ralph.config.json and .env. */
  readonly directory: string;
  /** The folder of the user's config.json; none when there is no home. */
  readonly userDirectory: string | undefined;
  /** Epoch ms. */
  readonly now: number;
}

export type ResolvedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly settings: Settings;
      /** Where each value came from. */
      readonly sources: Readonly<Record<Key, Source>>;
      readonly notices: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const projectFileName = 'ralph.config.json';
const userFileName = 'config.json';

/** One source's values; `givenName` is the name as typed, to say what became of it. */
interface Layer {
  readonly source: Source;
  readonly values: Values;
  readonly givenName?: string;
  readonly problems: readonly Problem[];
  readonly notices: readonly string[];
}

export async function resolveConfig(request: ConfigRequest): Promise<ResolvedConfig> {
  const layers = [flagLayer(request), ...(await environmentLayers(request)), ...(await fileLayers(request))];
  const problems = layers.flatMap(layer => layer.problems);
  if (problems.length > 0) return { ok: false, problems };
  const preset = presetValues(request.mode);
  const sources = Object.fromEntries(keys.map(key => [key, sourceOf(key, layers)])) as Record<Key, Source>;
  const merged = Object.assign({}, preset, ...layers.toReversed().map(layer => layer.values)) as Config;
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
    notices: [...layers.flatMap(layer => layer.notices), ...nameNotice(layers)],
  };
}

const unbounded: Problem = {
  message: 'Nothing bounds this loop: unlimited is allowed only with another limit set.',
  fix: 'Set one of --max-iterations, --max-cost, --max-tokens, --max-duration or --deadline.',
};

function sourceOf(key: Key, layers: readonly Layer[]): Source {
  return layers.find(layer => layer.values[key] !== undefined)?.source ?? 'preset';
}

const precedence: readonly Source[] = ['flag', 'environment', '.env', 'project file', 'user file', 'preset'];

/** A command or a script says which agent is meant; of both, the one set closer to the command line. */
function impliedAgent(config: Config, sources: Readonly<Record<Key, Source>>): string | undefined {
  const implies = [
    ['agentCommand', 'command'],
    ['script', 'scripted'],
    ['acpCommand', 'acp'],
  ] as const;
  const set = implies.filter(([key]) => config[key] !== undefined);
  // The one set closest to the command line; a user's file that only knows an ACP program chooses nothing by that.
  const closest = set.sort(([a], [b]) => precedence.indexOf(sources[a]) - precedence.indexOf(sources[b]))[0];
  if (closest === undefined) return undefined;
  const isTyped = ['flag', 'environment'].includes(sources[closest[0]]);
  return closest[0] !== 'acpCommand' || isTyped ? closest[1] : undefined;
}

/** Of two models the one set closer to the command line; a model beside an agent that has none is a mistake. */
function withModel(
  agent: string | undefined,
  model: string | undefined,
  sources: Readonly<Record<Key, Source>>,
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

function layerOf(source: Source, readings: readonly (readonly [Key, string, Reading<unknown>])[]): Layer {
  const good = readings.flatMap(([key, , reading]) => (reading.ok ? [[key, reading.value] as const] : []));
  const givenName = readings.find(([key]) => key === 'name')?.[1];
  return {
    source,
    values: Object.fromEntries(good) as Values,
    problems: readings.flatMap(([, , reading]) => (reading.ok ? [] : [{ message: reading.problem }])),
    notices: [],
    givenName,
  };
}

function flagLayer({ flags, now }: ConfigRequest): Layer {
  const readings = keys.flatMap(key => {
    const given = flags[key];
    return given === undefined ? [] : [[key, String(given), readFlag(key, given, now)] as const];
  });
  return layerOf('flag', readings);
}

function readFlag(key: Key, given: string | boolean | readonly string[], now: number): Reading<unknown> {
  if (typeof given === 'string' || typeof given === 'boolean') return parseFlag(key, String(given), now);
  if (!kinds[fieldOf(key).kind].isList)
    return refuse(`${flagName(key)}: it is given ${given.length} times; give it once.`);
  return goodAll(given.map(text => parseFlag(key, text, now)));
}

async function environmentLayers({ mode, env, directory, now }: ConfigRequest): Promise<Layer[]> {
  const dotEnv = await readDotEnv(directory);
  const { entries, notices } = readEnvironment(mode, env, dotEnv.variables, now);
  const layers = (['environment', '.env'] as const).map(source =>
    layerOf(
      source,
      entries.filter(entry => entry.source === source).map(entry => [entry.key, entry.text, entry.reading] as const),
    ),
  );
  return layers.map((layer, index) => (index === 0 ? { ...layer, notices: [...dotEnv.notices, ...notices] } : layer));
}

async function fileLayers({ directory, userDirectory, now }: ConfigRequest): Promise<Layer[]> {
  const project = { directory, fileName: projectFileName, label: projectFileName, isProject: true };
  const layers: Layer[] = [{ source: 'project file', ...(await readConfigFile(project, now)) }];
  if (userDirectory === undefined) return layers;
  const label = join(userDirectory, userFileName);
  const user = { directory: userDirectory, fileName: userFileName, label, isProject: false };
  return [...layers, { source: 'user file', ...(await readConfigFile(user, now)) }];
}

/** The settings of one `ralph run`, and which of them a person set rather than the preset. */
export interface RunConfig {
  readonly config: Config;
  readonly settings: Settings;
  readonly notices: readonly string[];
  /** True when a flag or the real environment says so: files of the project can be an agent's work. */
  readonly isSet: (key: string) => boolean;
  /** Nobody said anything about it: the mode's own value holds. */
  readonly isPreset: (key: string) => boolean;
}

/** Which setting bounds which limit. */
const limitKeys: Readonly<Record<string, string>> = {
  iterationsMax: 'maxIterations',
  costUsdMicrosMax: 'maxCost',
  tokensMax: 'maxTokens',
  durationMsMax: 'maxDuration',
  deadlineAt: 'deadline',
  iterationMsMax: 'iterationTimeout',
  consecutiveErrorsMax: 'maxErrors',
  noProgressIterations: 'noProgress',
  attemptsPerTaskMax: 'maxAttempts',
  averageIterationMsMax: 'maxAverageDuration',
};

export type ResolvedRun =
  | { readonly ok: true; readonly run: RunConfig }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export async function resolveRun(
  mode: ModeName,
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
  flags: Readonly<Record<string, unknown>>,
): Promise<ResolvedRun> {
  const found = userConfigDirectory(env);
  const userDirectory = 'path' in found ? found.path : undefined;
  const resolved = await resolveConfig({ mode, flags: flags as never, env, directory, userDirectory, now: Date.now() });
  if (!resolved.ok) return resolved;
  const { config, settings, notices } = resolved;
  const sources: Readonly<Record<string, string>> = resolved.sources;
  const isSaid = (key: string): boolean => ['flag', 'environment'].includes(sources[key] ?? '');
  const isSet = (key: string): boolean =>
    isSaid(limitKeys[key] ?? key) || (mode === 'plan' && key === 'attemptsPerTaskMax' && isSaid('retries'));
  const isPreset = (key: string): boolean => sources[limitKeys[key] ?? key] === 'preset';
  return { ok: true, run: { config, settings, notices, isSet, isPreset } };
}
