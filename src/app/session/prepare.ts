// Preparation of a loop before a byte is written: the document, the settings, the folder, the agents, the checks.
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import type { Performer } from '../../agents/performer.ts';
import type { Check } from '../../checks/check.ts';
import { flagName, keys } from '../../config/fields.ts';
import type { RunConfig } from '../../config/resolve.ts';
import type { ApprovedTerms, ModeName, Settings } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import type { ParsedDocument } from '../../documents/document.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type FoundDocument, findDocument, type Sought } from '../../modes/find-document.ts';
import type { ModeSession } from '../../modes/mode.ts';
import { modesWith, openMode, openModeSession, rulesOf } from '../../modes/registry.ts';
import { findProgram } from '../../processes/find-program.ts';
import { openFilesMax } from '../../processes/limits.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { buildActions, configInReach, reachNotice, termsNow } from '../actions.ts';
import { type Agent, buildPerformers } from '../agents/performers.ts';
import { type Environment, loopFolder, resolveRunConfig } from '../app.ts';
import { looserWords } from '../approved-terms.ts';
import { buildChecks } from '../checks.ts';
import { type DocumentPlace, readDocument } from '../documents.ts';
import { refuseProblems } from '../problems.ts';
import { closedIn, newestState } from './earlier-loop.ts';
import { inspectRepository } from './repository.ts';
import { keptValues, refuseLost, refuseUnrecorded } from './resume-rules.ts';
import { type DecidedRun, decideSettings, type Known, roundsOf } from './settings-rules.ts';

/** What a program brings along instead of naming it: performers by name, checks under the names that are recorded. */
export interface Provided {
  /** All who work, in order: provided ones and agents. */
  readonly chain: readonly string[];
  readonly performers: readonly Performer[];
  readonly checkNames: readonly string[];
  /** Each held to this time. */
  readonly checks?: (timeMsMax: number) => readonly Check[];
}

/** What somebody asks for, and where. */
export interface Draft extends Sought {
  readonly env: Environment;
  /** The document, when it was found already. */
  readonly found?: FoundDocument;
  /** Where earlier loops of the document are looked up; absent: in the ledger of `home`, where there is one. */
  readonly ledger?: Ledger | undefined;
  readonly provided?: Provided;
  /** The loop that goes on, by its id, also when it is over: absent, it is chosen by its document. */
  readonly resumes?: string;
  /** Nothing of it is done yet (the approval of a plan): whoever will do it need not be there. */
  readonly isOnlyRecorded?: boolean;
}

/** All that is known before anything is written: what was asked for, and what follows from it. */
export interface Prepared extends Omit<Draft, 'provided'>, Omit<Known, 'provided'>, DecidedRun {
  readonly provided: Provided;
  readonly notices: readonly string[];
  readonly modeSession: ModeSession;
  /** How the document is read. */
  readonly options: NonNullable<DocumentPlace['options']>;
  /** What neither an agent nor a server may change. */
  readonly readOnly: readonly string[];
  readonly performers: Readonly<Record<string, Agent>>;
  /** Of a plan: what files say now of limits and servers. */
  readonly terms: ApprovedTerms | undefined;
  /** The file of MCP servers, when agents can write it. */
  readonly serversInReach: string | undefined;
  readonly checks: readonly Check[];
}

const nothingProvided: Provided = { chain: [], performers: [], checkNames: [] };

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

/** A git, its shells, the ledger and a sandbox are open at once; each task beside it opens some more. */
const openFilesMin = 128;

/** Half-way there is no good answer to it: a program that cannot be started may be the one that saves the work. */
export function refuseFewFiles(most = openFilesMax()): void {
  if (most === undefined || most >= openFilesMin) return;
  throw new UsageError(
    `This shell lets a program open only ${most} files at once, and a loop needs ${openFilesMin}.`,
    'Type ulimit -n 1024, then the same command again.',
  );
}

/** The document that is meant, and its mode. */
export async function findHere(draft: Draft): Promise<FoundDocument> {
  checkDirectory(draft.directory, draft.env, draft.flags['force'] === true);
  return draft.found ?? findDocument(draft);
}

/** What was typed counts before everything else; who and what a program hands over counts as typed. */
async function configOf(
  { flags, env, directory, provided }: Draft,
  mode: ModeName,
  before: Settings | undefined,
): Promise<RunConfig> {
  const resolved = await resolveRunConfig(env, directory, flags, { mode, kept: keptValues(before) });
  if (!resolved.ok) refuseProblems(resolved.problems);
  const typed = new Set(resolved.typed);
  if (provided !== undefined && provided.chain.length > 0) typed.add('agent');
  if (provided !== undefined && provided.checkNames.length > 0) typed.add('verify');
  return { ...resolved, typed };
}

/** Refused with all its problems where it cannot be read. `newest`: its newest loop, over or not. */
async function documentOf(place: DocumentPlace, draft: Draft, newest: State | undefined): Promise<ParsedDocument> {
  const { path, mode, options } = place;
  const read = await readDocument(place, draft.found?.text);
  if (!read.ok) {
    const copy =
      newest?.control.ended === undefined ? join(loopFolder(draft.home, newest?.loop.id ?? ''), 'document') : '';
    const isKept = newest !== undefined && existsSync(copy);
    const hint = isKept ? [{ message: `Its last good version, as this loop read it: ${copy}` }] : [];
    refuseProblems([...read.problems, ...hint], mode.subject ?? basename(path));
  }
  const { document } = read;
  refuseSecrets(document, draft.env);
  const isDoubtful = mode.bindsText !== true && document.tasks.some(task => task.done || task.skipped);
  if (!isDoubtful || options?.acceptTicked) return document;
  const { unrecordedTicks } = await import('../../documents/damage.ts');
  return { ...document, notices: [...unrecordedTicks(document.tasks, closedIn(newest)), ...document.notices] };
}

export async function prepareLoop(asked: Draft): Promise<Prepared> {
  const { flags, env, directory, isOnlyRecorded = false, provided = nothingProvided } = asked;
  refuseFewFiles();
  const found = await findHere(asked);
  const draft = { ...asked, found, provided };
  const { path, modeName } = found;
  const inspecting = inspectRepository(directory, env);
  inspecting.catch(() => {}); // what else is wrong is said first
  const mode = await openMode(modeName);
  refuseIdleFlags(modeName, flags);
  const newest = await newestState(draft, path);
  const isOver = newest?.control.ended !== undefined && asked.resumes === undefined;
  const before = isOver || flags['new'] === true || isOnlyRecorded ? undefined : newest?.settings;
  const config = await configOf(asked, modeName, before);
  refuseLost({ ...config, flags, before });
  const options = {
    allowEmptyCriteria: flags['criteria'] === false,
    acceptTicked: flags['acceptTicked'] === true,
    rounds: roundsOf({ ...config, mode, before }) ?? undefined,
  };
  const document = await documentOf({ mode, path, directory, options }, draft, newest);
  const repositoryInfo = await inspecting;
  const approved = isOver ? undefined : newest?.document.approval?.terms;
  const known = { ...draft, ...config, path, mode, document, before, repositoryInfo, approved };
  const decided = { ...known, ...(await decideSettings(known)) };
  if (before !== undefined) refuseUnrecorded(decided);
  const unknown = unknownTasks(decided);
  if (decided.settings.performers.includes('command') && !isOnlyRecorded) refuseMissingProgram(decided);
  const modeSession = await openModeSession(modeName);
  const needs = { ...decided, readOnly: modeSession.readOnly?.(decided, decided.config) ?? [] };
  const agents = isOnlyRecorded ? {} : await buildPerformers(needs);
  const { actions, serversInReach, terms, notices: ofTerms } = await actionsOf(needs, config, isOnlyRecorded);
  const performers = { ...agents, ...actions };
  const notices = [
    ...config.notices,
    ...found.notices,
    ...repositoryInfo.notices,
    ...document.notices,
    ...((await modeSession.notices?.(path, decided.settings)) ?? []),
    ...unknown,
    ...ofTerms,
  ];
  return {
    ...needs,
    options,
    modeSession,
    performers,
    serversInReach,
    terms,
    checks: await buildChecks(needs),
    notices,
  };
}

/** Who carries out actions, and what files say of them now against what was approved. */
async function actionsOf(
  needs: Parameters<typeof buildActions>[0] & Known & DecidedRun,
  { settings: said }: RunConfig,
  isOnlyRecorded: boolean,
) {
  const { document, mode, approved, settings } = needs;
  const hasActions = document.tasks.some(task => task.performer !== undefined);
  const actions = hasActions && !isOnlyRecorded ? await buildActions(needs) : {};
  const serversInReach = hasActions ? await configInReach(needs) : undefined;
  const terms = mode.bindsText === true ? await termsNow({ ...needs, settings: said }, document.tasks) : undefined;
  const looser = terms === undefined ? [] : looserWords(approved, terms, settings);
  const notices = [
    ...looser.map(one => `not as approved, so it does not count: ${one} (ralph plan approve ${document.id ?? ''})`),
    ...(serversInReach === undefined ? [] : [reachNotice(serversInReach)]),
  ];
  return { actions, serversInReach, terms, notices };
}

/** A flag that names a task which is not there would have no effect: that is an error; a file may speak of another document. */
function unknownTasks({ settings, typed, document, mode, path }: Known): readonly string[] {
  const known = new Set(document.tasks.map(task => task.id));
  const strange = Object.keys(settings.performersByTask).filter(
    id => !known.has(id) && mode.mayFind?.(id, settings) !== true,
  );
  if (strange.length === 0) return [];
  const ids = strange.map(id => JSON.stringify(id)).join(', ');
  const sentence = `--task-agent: ${mode.subject ?? basename(path)} has no task ${ids}`;
  if (typed.has('taskAgent')) throw new UsageError(`${sentence}.`, 'Name tasks by their ids, as in US-001=codex.');
  return [`${sentence}; that setting has no effect here.`];
}

/** A flag that can do nothing here is a mistake of whoever typed it. */
function refuseIdleFlags(mode: ModeName, flags: Draft['flags']): void {
  const { flags: known = [] } = rulesOf(mode);
  const idle = keys.find(key => flags[key] !== undefined && !known.includes(key) && modesWith(key).length > 0);
  if (idle === undefined) return;
  const [only, ...others] = modesWith(idle);
  const where = others.length === 0 ? `: it belongs to the mode ${only}` : '';
  throw new UsageError(`${flagName(idle)} has no effect in the mode ${mode}.`, `Leave it out${where}.`);
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

/** A plain word at the start of a command line; what else a shell may begin with is left to the shell. */
const firstWord = /^[A-Za-z0-9_./+-]+(?=\s|$)/;
const shellWords =
  '. : [ alias break case cd command continue do done echo elif else esac eval exec exit export false fi for if local printf pwd read return set shift test then time trap true type ulimit umask unset until wait while';

/** An agent that is not there is said before anything is written or spent (exit 7), not after three failed turns. */
function refuseMissingProgram({ config, directory, env }: Known): void {
  const word = firstWord.exec(config.agentCommand ?? '')?.[0];
  if (word === undefined || shellWords.split(' ').includes(word)) return;
  const found = findProgram(word, directory, env);
  if (found.type === 'found') return;
  const why =
    found.type === 'not-executable' || word.includes('/') ? 'is not an executable file' : 'is not found on PATH';
  throw new UsageError(`The agent's program ${word} ${why}.`, 'Install it, or correct --agent-command.', 7);
}
