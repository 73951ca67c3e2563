// Which agents this machine has: where, which version, with a login or not, and how well we know them.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCli, Proof } from '../../agents/agent.ts';
import type { PerformerAbilities } from '../../agents/performer.ts';
import type { AgentName } from '../../config/agents.ts';
import type { Config } from '../../config/settings.ts';
import type { Usage } from '../../core/event.ts';
import { type Failure, type FailureKind, failureRules } from '../../core/failure.ts';
import { findProgram } from '../../processes/find-program.ts';
import { makeRedactor, secretValues } from '../../secrets/redactor.ts';
import { Bug } from '../../text/errors.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { cliNames, isCliName, loginOf, rowOf } from './agents.ts';
import { type AgentNeeds, buildPerformers } from './performers.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** `agents list --json` prints these. Null: not there, or not known. */
export interface InstalledAgent {
  readonly name: AgentName;
  /** The path of its program. */
  readonly installed: string | null;
  readonly version: string | null;
  readonly login: { readonly known: boolean; readonly words: string; readonly command: string | null };
  readonly can: PerformerAbilities;
  readonly proof: Proof;
  /** What a person types to get it. */
  readonly install: string;
}

export interface MachineNeeds {
  readonly env: Variables;
  readonly directory: string;
  readonly config: Config;
}

export async function installedAgents(needs: MachineNeeds): Promise<readonly InstalledAgent[]> {
  const clis = await Promise.all(cliNames.map(name => surveyCli(name, needs)));
  return [...clis, surveyAcp(needs), ...surveyPlain(needs)];
}

async function surveyCli(name: (typeof cliNames)[number], { env, directory }: MachineNeeds): Promise<InstalledAgent> {
  const row = rowOf(name);
  const cli = await row.load();
  const found = findProgram(cli.program, directory, env);
  const path = found.type === 'found' ? found.path : null;
  const { known, words } = loginOf(cli, env);
  return {
    name,
    installed: path,
    version: path === null ? null : ((await programVersion(path, env, cli.fixedEnvironment)) ?? null),
    login: { known, words, command: cli.login.command },
    can: cli.can,
    proof: cli.proof,
    install: row.install,
  };
}

const nobodysLogin = { known: false, words: 'unknown', command: null } as const;
const noLogin = { known: true, words: 'none needed', command: null } as const;

function surveyAcp({ env, directory, config }: MachineNeeds): InstalledAgent {
  const found = findProgram(config.acpCommand?.[0] ?? '', directory, env);
  return {
    name: 'acp',
    installed: found.type === 'found' ? found.path : null,
    version: null,
    login: nobodysLogin,
    can: { steer: true, resume: false, interactive: false, usage: true },
    proof: 'live',
    install: "name a program that speaks ACP: --acp-command 'gemini --acp'",
  };
}

function surveyPlain({ env, directory, config }: MachineNeeds): readonly InstalledAgent[] {
  const shell = findProgram('sh', directory, env);
  const can = { steer: false, resume: false, interactive: false };
  return [
    {
      name: 'command',
      installed: config.agentCommand === undefined || shell.type !== 'found' ? null : shell.path,
      version: null,
      login: nobodysLogin,
      can: { ...can, usage: false },
      proof: 'live',
      install: "give a program: --agent-command 'my-agent --headless'",
    },
    {
      name: 'scripted',
      installed: process.execPath,
      version: null,
      login: noLogin,
      can: { ...can, usage: true },
      proof: 'live',
      install: 'part of Ralph: ralph demo',
    },
  ];
}

const versionMsMax = 5_000;
const versionCharsMax = 4_000;

/** A folder of its own, gone afterwards: nothing of the user's is read or written. */
export async function inTempFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-look-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What `PROGRAM --version` prints as a version, with an empty home and no key; undefined when it does not say. */
function programVersion(
  path: string,
  env: Variables,
  fixed: AgentCli['fixedEnvironment'] = {},
): Promise<string | undefined> {
  return inTempFolder(async folder => {
    const said = await outputOf(path, ['--version'], folder, { ...fixed, PATH: env['PATH'] ?? '', HOME: folder });
    return /(?<![\w.])v?(\d+\.\d+(?:\.\d+)?[\w.+-]{0,40})/.exec(said)?.[1];
  });
}

/** The start of what it prints on standard output; empty when it fails or does not end in time. */
export async function outputOf(
  command: string,
  args: readonly string[],
  directory: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const { runProcess } = await import('../../processes/spawn.ts');
  const stop = new AbortController().signal;
  const order = { command, args, directory, environment, input: '', timeMsMax: versionMsMax, graceMs: 500, stop };
  let said = '';
  for await (const event of runProcess(order)) {
    if (event.type === 'output' && event.channel === 'output' && said.length < versionCharsMax) said += event.text;
    if (event.type === 'exited' && (event.code !== 0 || event.timedOut)) return '';
  }
  return said.slice(0, versionCharsMax);
}

// One tiny real iteration of an agent in a scratch folder, with the user's own login: does it work at all?

const timeMsMax = 180_000;
const messageCharsMax = 300;
const word = 'RALPH-TEST-OK';
const prompt = `This is a test of the connection. Use no tool and change no file. Answer with exactly this one line:\n${word}\n`;

/** `agents test --json` prints this. Null: it did not happen, or the agent did not say. */
export interface SmokeTest {
  readonly agent: string;
  readonly started: boolean;
  readonly firstByteMs: number | null;
  readonly message: string;
  /** The answer was the one asked for. */
  readonly obeyed: boolean;
  readonly tokens: number | null;
  readonly costUsdMicros: number | null;
  readonly costEstimated: boolean;
  /** It ended by itself and left no process behind. */
  readonly clean: boolean;
  readonly failure: (Failure & { readonly hint: string }) | null;
}

export function smokeTest(
  spec: string,
  needs: Omit<AgentNeeds, 'settings' | 'directory'>,
  stop: AbortSignal,
): Promise<SmokeTest> {
  return inTempFolder(async directory => {
    const settings = { performers: [spec], performersByTask: {}, performersByPhase: {} };
    const { byName: performers } = await buildPerformers({ ...needs, settings, directory });
    const performer = performers[spec];
    if (performer === undefined) throw new Bug(`no performer was made for ${spec}`);
    const redact = makeRedactor(secretValues(needs.env));
    const shown = (text: string): string => takeCharacters(stripControls(redact(text)).trim(), messageCharsMax);
    const assignment = {
      loop: 'test',
      iteration: 1,
      task: 'TEST',
      attempt: 1,
      prompt,
      directory,
      timeMsMax,
      environment: {},
    };
    const startedAt = performance.now();
    let started = false;
    let firstByteMs: number | null = null;
    let usage: Usage | undefined;
    for await (const activity of performer.perform(assignment, stop)) {
      if (activity.type === 'spawned') started = true;
      else if (activity.type === 'usage') usage = activity.usage;
      else if (activity.type === 'ended') {
        const { failure, message, reaped = 0 } = activity;
        const hint = failure === undefined ? '' : await hintFor(spec, failure.kind);
        return {
          agent: spec,
          started,
          firstByteMs,
          message: shown(message),
          obeyed: message.includes(word),
          tokens: usage === undefined ? null : tokensOf(usage),
          costUsdMicros: usage?.costUsdMicros ?? null,
          costEstimated: usage?.estimated ?? false,
          clean: failure === undefined && reaped === 0,
          failure: failure === undefined ? null : { ...failure, detail: shown(failure.detail), hint },
        };
      }
      if (activity.type !== 'spawned') firstByteMs ??= Math.round(performance.now() - startedAt);
    }
    throw new Bug(`${spec} ended without saying how`);
  });
}

const tokensOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;

/** What to do about it; a login by the words that the agent itself wants. */
async function hintFor(spec: string, kind: FailureKind): Promise<string> {
  const { hint } = failureRules[kind];
  const name = spec.split('/')[0] ?? '';
  if (kind !== 'auth' || !isCliName(name)) return hint;
  return `${hint.replace(/\.$/, '')}: ${(await rowOf(name).load()).login.command}`;
}
