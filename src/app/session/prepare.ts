// Preparation of a loop before a byte is written: the folder, the settings, the document, the agents, the checks.
import { basename, isAbsolute, resolve, sep } from 'node:path';
import type { Performer } from '../../agents/performer.ts';
import type { Check } from '../../checks/check.ts';
import { type DetectedCheck, detectCheck } from '../../checks/detect.ts';
import { flagName, keys } from '../../config/fields.ts';
import { isBounded, type ModeName, type Settings } from '../../core/settings.ts';
import type { FormatOptions, ParsedDocument } from '../../documents/document.ts';
import { type FoundDocument, findDocument } from '../../modes/find-document.ts';
import type { Mode, ModeSession } from '../../modes/mode.ts';
import {
  isModeWord,
  type ModeWord,
  modeNames,
  modesWith,
  openMode,
  openModeSession,
  rulesOf,
} from '../../modes/registry.ts';
import { findProgram } from '../../processes/find-program.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { buildActions, configInReach, reachNotice } from '../actions.ts';
import { chooseAgents, unknownTasks } from '../agents/choose-agents.ts';
import { type AgentNeeds, type PerformerSet, performersFor } from '../agents/performers.ts';
import { type Environment, type RunConfig, resolveRunConfig } from '../app.ts';
import { buildChecks, judgeName, judgeSpec } from '../checks.ts';
import { readDocument } from '../documents.ts';
import { nothingBounds, refuseProblems } from '../problems.ts';
import { inspectRepository, type RepositoryInfo, settingsHere } from './repository.ts';

type Flags = Readonly<Record<string, unknown>>;

export interface Prepared extends Place {
  readonly path: string;
  readonly mode: Mode;
  readonly modeSession: ModeSession;
  /** How the document is read. */
  readonly options: FormatOptions;
  readonly document: ParsedDocument;
  readonly run: RunConfig;
  readonly performers: PerformerSet;
  /** Nobody named the agent: it is the first that was found on PATH. */
  readonly isFound: boolean;
  readonly checks: readonly Check[];
  /** The project's own test command, taken because nobody named a check. */
  readonly detected?: DetectedCheck;
  readonly repositoryInfo: RepositoryInfo;
  readonly notices: readonly string[];
  readonly provided: Provided;
}

export interface Place {
  readonly env: Environment;
  readonly directory: string;
  readonly home: string;
}

/** What an unfinished loop of the same document remembers. */
export interface Remembered {
  /** Where the last good version of a broken document lies, if a loop kept one. */
  readonly lastGood: (path: string) => Promise<string | undefined>;
  readonly settings: (path: string) => Promise<Settings | undefined>;
  /** What its newest loop, over or not, has brought to an end. */
  readonly closed: (path: string) => Promise<ReadonlySet<string>>;
}

/** What a program brings along instead of naming it: performers by name, checks under the names that are recorded. */
export interface Provided {
  /** All who work, in order: provided ones and agents. */
  readonly chain: readonly string[];
  readonly performers: readonly Performer[];
  readonly checks: readonly Check[];
}

export interface Request {
  /** A file, or a goal in words. */
  readonly file?: string | undefined;
  /** A goal, also where it looks like a file. */
  readonly goal?: string | undefined;
  /** The document, when it was found already. */
  readonly found?: FoundDocument;
  /** As the command line gives them. */
  readonly flags: Flags;
  readonly remembered?: Remembered;
  readonly provided?: Provided;
  /** Nothing of it is done yet (the approval of a plan): whoever will do it need not be there. */
  readonly isOnlyRecorded?: true;
}

const noPerformers: PerformerSet = { byName: {}, facts: {} };
const nothingProvided: Provided = { chain: [], performers: [], checks: [] };
const nothing: Remembered = {
  lastGood: async () => undefined,
  settings: async () => undefined,
  closed: async () => new Set(),
};

/** `/` and the home folder are refused without --force, and never the inside of .git (B14). */
function checkDirectory(directory: string, env: Environment, force: boolean): void {
  if (directory.split(sep).includes('.git')) {
    throw new UsageError(
      `${directory} lies inside .git, where no work belongs.`,
      "Run Ralph in the repository's own folder.",
    );
  }
  if (force) return;
  const home = env['HOME'];
  const isHome = home !== undefined && isAbsolute(home) && directory === resolve(home);
  if (directory === '/' || isHome) {
    throw new UsageError(
      `An agent would work in ${directory === '/' ? 'the root folder' : 'your whole home folder'}.`,
      "Change to the project's folder, or say --force.",
    );
  }
}

/** What the document asks for, where nobody else said anything about it. */
function withDocumentDefaults(run: RunConfig, mode: Mode, document: ParsedDocument): RunConfig {
  const { defaults, approval } = document;
  const { settings, isPreset } = run;
  const { promise, iterationsMax } = defaults ?? {};
  const limits =
    iterationsMax === undefined || !isPreset('iterationsMax') ? settings.limits : { ...settings.limits, iterationsMax };
  if (!isBounded(limits)) throw nothingBounds();
  const isAsked = promise !== undefined && isPreset('promise');
  const performers = hasOnlyActions(document) ? [] : settings.performers;
  const more = { promise: isAsked ? promise : settings.promise, performers };
  // What needs no yes is bound to its text all the same: by the command that runs it.
  const isBound = mode.bindsText === true || approval?.required === true;
  return { ...run, settings: { ...settings, limits, approval: isBound, ...more } };
}

/** The document that is meant, and its mode. */
export function findHere(place: Place, { file, goal, flags }: Request): Promise<FoundDocument> {
  checkDirectory(place.directory, place.env, flags['force'] === true);
  return findDocument({ ...place, given: file, goal, mode: modeFlag(flags), isDry: flags['dryRun'] === true });
}

/** The document, and the settings that hold for it. */
async function readFirst(place: Place, found: FoundDocument, { flags, remembered = nothing }: Request) {
  const { mode: name, path } = found;
  const mode = await openMode(name);
  const resolved = await resolveRunConfig(place.env, place.directory, flags, name);
  if (!resolved.ok) refuseProblems(resolved.problems);
  refuseIdleFlags(name, flags);
  const before = await remembered.settings(path);
  const { config, settings } = resolved.run;
  const usualRounds = mode.conversation?.rounds ?? null;
  const rounds = config.rounds ?? before?.rounds ?? usualRounds;
  const options = {
    allowEmptyCriteria: flags['criteria'] === false,
    acceptTicked: flags['acceptTicked'] === true,
    rounds: rounds ?? undefined,
  };
  const read = await readDocument({ mode: name, path, directory: place.directory, options }, found.text);
  if (!read.ok) {
    const copy = await remembered.lastGood(path);
    const hint = copy === undefined ? [] : [{ message: `Its last good version, as this loop read it: ${copy}` }];
    refuseProblems([...read.problems, ...hint], mode.subject ?? basename(path));
  }
  refuseSecrets(read.document, place.env);
  const run = { ...resolved.run, settings: { ...settings, rounds: usualRounds && rounds } };
  const ticked = options.acceptTicked ? [] : await tickedBefore(mode, path, read.document, remembered);
  const document = { ...read.document, notices: [...ticked, ...read.document.notices] };
  return { mode, before, document, run: withDocumentDefaults(run, mode, document), options };
}

async function tickedBefore(
  { bindsText = false }: Mode,
  path: string,
  { tasks }: ParsedDocument,
  remembered: Remembered,
): Promise<readonly string[]> {
  if (bindsText || !tasks.some(task => task.done || task.skipped)) return [];
  const { unrecordedTicks } = await import('../../documents/damage.ts');
  return unrecordedTicks(tasks, await remembered.closed(path));
}

/** A flag that can do nothing here is a mistake of whoever typed it. */
function refuseIdleFlags(mode: ModeName, flags: Flags): void {
  const { flags: known = [] } = rulesOf(mode);
  const idle = keys.find(key => flags[key] !== undefined && !known.includes(key) && modesWith(key).length > 0);
  if (idle === undefined) return;
  const [only, ...others] = modesWith(idle);
  const where = others.length === 0 ? `: it belongs to the mode ${only}` : '';
  throw new UsageError(`${flagName(idle)} has no effect in the mode ${mode}.`, `Leave it out${where}.`);
}

function modeFlag({ mode }: Flags): ModeWord | undefined {
  if (mode === undefined || isModeWord(mode)) return mode;
  throw new UsageError(`--mode: there is no mode ${JSON.stringify(mode)}.`, `Say one of ${modeNames.join(', ')}.`);
}

/** What is recorded is without secrets, so an order with one could not be carried out as it is written. */
function refuseSecrets({ tasks }: ParsedDocument, env: Environment): void {
  const redact = makeRedactor(secretValues(env));
  const held = tasks.find(
    ({ order }) => order !== undefined && canonical(redactDeep(order, redact)) !== canonical(order),
  );
  if (held !== undefined)
    throw new UsageError(
      `${held.id} holds what looks like a secret, which Ralph neither records nor sends.`,
      'Give it to the server by its configuration (mcp.json, with the name of a variable) and take it out of the plan.',
    );
}

/** Who was handed over counts as said. */
function withProvided(run: RunConfig, { chain }: Provided): RunConfig {
  if (chain.length === 0) return run;
  const isSet = (key: string): boolean => key === 'agent' || run.isSet(key);
  return { ...run, isSet, settings: { ...run.settings, performers: chain } };
}

export async function prepareLoop(place: Place, request: Request): Promise<Prepared> {
  const { provided = nothingProvided, isOnlyRecorded = false } = request;
  const { env, directory } = place;
  const found = request.found ?? (await findHere(place, request));
  const { path } = found;
  const { mode, before, document, run: resolved, options } = await readFirst(place, found, request);
  const modeSession = await openModeSession(found.mode);
  const repositoryInfo = await inspectRepository(directory, env);
  const { run: chosen, isFound } =
    isOnlyRecorded || hasOnlyActions(document)
      ? { run: resolved, isFound: false }
      : await chooseAgents(withProvided(resolved, provided), place, before, mode.conversation !== undefined);
  const isUnproven = before === undefined && provided.checks.length === 0 && mode.detectsChecks === true;
  const detected = isUnproven ? detectedFor(chosen, place) : undefined;
  const run = mode.conversation
    ? forConversation(chosen, mode.conversation.check, repositoryInfo)
    : await withProof(chosen, place, repositoryInfo, { detected, provided });
  const unknown = unknownTasks(run, document, mode.subject ?? basename(path));
  if (run.settings.performers.includes('command') && !isOnlyRecorded)
    refuseMissingProgram(run.config.agentCommand ?? '', directory, env);
  const readOnly = modeSession.readOnly?.({ path, directory, options }, run.config) ?? [];
  const needs = { config: run.config, settings: run.settings, ...place, readOnly };
  const performers = isOnlyRecorded ? noPerformers : await allPerformers(needs, provided, path, document);
  const checks = [...(await buildChecks(needs)), ...provided.checks];
  const ofMode = (await modeSession.notices?.(path, run.settings)) ?? [];
  const servers = await configInReach({ config: run.config, directory, document });
  const reach = servers === undefined ? [] : [reachNotice(servers)];
  const said = [...document.notices, ...ofMode, ...unknown, ...reach];
  const notices = [...run.notices, ...found.notices, ...repositoryInfo.notices, ...said];
  const made = { document, run, performers, isFound, checks, repositoryInfo, notices, provided, detected };
  return { ...place, path, mode, modeSession, options, ...made };
}

/** Where every task is an action, no agent is needed. */
const hasOnlyActions = ({ tasks }: ParsedDocument): boolean =>
  tasks.length > 0 && tasks.every(task => task.performer !== undefined);

/** The agents that the settings name, those that a program provides, and the actions of a plan. */
async function allPerformers(
  needs: AgentNeeds,
  provided: Provided,
  path: string,
  document: ParsedDocument,
): Promise<PerformerSet> {
  const { byName, facts } = await performersFor(needs, provided.performers);
  return { byName: { ...byName, ...(await buildActions(needs, path, document)) }, facts };
}

/** Only where nobody named a check, and only once: a loop that goes on keeps its own. */
function detectedFor({ config }: RunConfig, { directory, env }: Place): DetectedCheck | undefined {
  return config.verify.length > 0 || config.detectChecks === 'none' ? undefined : detectCheck(directory, env);
}

/** What the folder allows, the check that was found, and the judge: all that "done" will rest on. */
async function withProof(
  run: RunConfig,
  place: Place,
  repositoryInfo: RepositoryInfo,
  { detected, provided }: Pick<Prepared, 'detected' | 'provided'>,
): Promise<RunConfig> {
  const config = detected === undefined ? run.config : { ...run.config, verify: [detected.command] };
  const judge = await judgeSpec({ config, settings: run.settings, ...place });
  const named = [...config.verify, ...provided.checks.map(check => check.name)];
  const checks = judge === undefined ? named : [...named, judgeName(judge)];
  return { ...run, config, settings: settingsHere({ ...run.settings, checks }, config, repositoryInfo) };
}

/** A round is proven by what it left, and talk is no work to be committed or looked at. */
function forConversation(run: RunConfig, check: string, repositoryInfo: RepositoryInfo): RunConfig {
  const config = { ...run.config, verify: [], interactive: true };
  const settings = settingsHere({ ...run.settings, checks: [check] }, config, repositoryInfo);
  return { ...run, config, settings: { ...settings, commits: false, tamperScreen: false } };
}

/** A plain word at the start of a command line; what else a shell may begin with is left to the shell. */
const firstWord = /^[A-Za-z0-9_./+-]+(?=\s|$)/;
const shellWords =
  '. : [ alias break case cd command continue do done echo elif else esac eval exec exit export false fi for if local printf pwd read return set shift test then time trap true type ulimit umask unset until wait while';

/** An agent that is not there is said before anything is written or spent (exit 7), not after three failed turns. */
function refuseMissingProgram(commandLine: string, directory: string, env: Environment): void {
  const word = firstWord.exec(commandLine)?.[0];
  if (word === undefined || shellWords.split(' ').includes(word)) return;
  const found = findProgram(word, directory, env);
  if (found.type === 'found') return;
  const why =
    found.type === 'not-executable' || word.includes('/') ? 'is not an executable file' : 'is not found on PATH';
  throw new UsageError(`The agent's program ${word} ${why}.`, 'Install it, or correct --agent-command.', 7);
}
