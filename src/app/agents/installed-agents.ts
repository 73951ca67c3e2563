// Installed agents of this machine (where, which version, with a login or not), and a smoke test of one of them.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCli, Proof } from '../../agents/agent.ts';
import type { Activity, PerformerAbilities } from '../../agents/performer.ts';
import { type CliName, cliNames, isCliName, loadCli } from '../../agents/registry.ts';
import type { AgentName } from '../../config/agents.ts';
import type { Config } from '../../config/settings.ts';
import type { Usage } from '../../core/event.ts';
import { type Failure, failureRules } from '../../core/failure.ts';
import { findProgram, packagedVersion } from '../../processes/find-program.ts';
import { makeRedactor, secretValues } from '../../secrets/redactor.ts';
import { Bug, UsageError } from '../../text/errors.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { loginOf } from './agents.ts';
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
  const { env, directory, config } = needs;
  const pathOf = (program: string): string | null => {
    const found = findProgram(program, directory, env);
    return found.type === 'found' ? found.path : null;
  };
  const cannot = { steer: false, resume: false, interactive: false };
  const other = ({ name, installed, login = unknownLogin, can, install }: OtherAgent): InstalledAgent => ({
    name,
    installed,
    version: null,
    login,
    can: { ...cannot, ...can },
    proof: 'live',
    install,
  });
  return [
    ...(await Promise.all(cliNames.map(name => installedCli(name, pathOf, env)))),
    other({
      name: 'acp',
      installed: pathOf(config.acpCommand?.[0] ?? ''),
      can: { steer: true, usage: true },
      install: "name a program that speaks ACP: --acp-command 'gemini --acp'",
    }),
    other({
      name: 'command',
      installed: config.agentCommand === undefined ? null : pathOf('sh'),
      can: { usage: false },
      install: "give a program: --agent-command 'my-agent --headless'",
    }),
    other({
      name: 'scripted',
      installed: process.execPath,
      login: { known: true, words: 'none needed', command: null },
      can: { usage: true },
      install: 'part of Ralph: ralph demo',
    }),
  ];
}

const unknownLogin = { known: false, words: 'unknown', command: null };

type OtherAgent = Pick<InstalledAgent, 'name' | 'installed' | 'install'> & {
  readonly login?: InstalledAgent['login'];
  readonly can: Pick<PerformerAbilities, 'usage'> & Partial<PerformerAbilities>;
};

async function installedCli(
  name: CliName,
  pathOf: (program: string) => string | null,
  env: Variables,
): Promise<InstalledAgent> {
  const cli = await loadCli(name);
  const path = pathOf(cli.program);
  const { known, words } = loginOf(cli, env);
  return {
    name,
    installed: path,
    version:
      path === null ? null : (packagedVersion(path) ?? (await programVersion(path, env, cli.fixedEnvironment)) ?? null),
    login: { known, words, command: cli.login.command },
    can: cli.can,
    proof: cli.proof,
    install: cli.install,
  };
}

const versionMsMax = 2_000;
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

// Smoke test: one tiny real iteration of an agent in a temporary folder, with the user's own login.

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
    const performer = (await buildPerformers({ ...needs, settings, directory }))[spec];
    if (performer === undefined) throw new Bug(`no performer was made for ${spec}`);
    const about = { loop: 'test', iteration: 1, task: 'TEST', attempt: 1 };
    const activities = performer.perform({ ...about, prompt, directory, timeMsMax, environment: {} }, stop);
    return resultOf(spec, activities, makeRedactor(secretValues(needs.env)));
  });
}

async function resultOf(
  spec: string,
  activities: AsyncIterable<Activity>,
  redact: (text: string) => string,
): Promise<SmokeTest> {
  const shown = (text: string): string => takeCharacters(stripControls(redact(text)).trim(), messageCharsMax);
  const startedAt = performance.now();
  let started = false;
  let firstByteMs: number | null = null;
  let usage: Usage | undefined;
  for await (const activity of activities) {
    if (activity.type === 'ended') {
      const { failure, message, reaped = 0 } = activity;
      return {
        agent: spec,
        started,
        firstByteMs,
        message: shown(message),
        obeyed: message.includes(word),
        ...costOf(usage),
        clean: failure === undefined && reaped === 0,
        failure: failure === undefined ? null : await withHint(spec, { ...failure, detail: shown(failure.detail) }),
      };
    }
    if (activity.type === 'usage') usage = activity.usage;
    if (activity.type === 'spawned') started = true;
    else firstByteMs ??= Math.round(performance.now() - startedAt);
  }
  throw new Bug(`${spec} ended without saying how`);
}

function costOf(usage: Usage | undefined): Pick<SmokeTest, 'tokens' | 'costUsdMicros' | 'costEstimated'> {
  if (usage === undefined) return { tokens: null, costUsdMicros: null, costEstimated: false };
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsdMicros, estimated } = usage;
  const tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  return { tokens, costUsdMicros, costEstimated: estimated };
}

/** What to do about it; a login by the words that the agent itself wants. */
async function withHint(spec: string, failure: Failure): Promise<SmokeTest['failure']> {
  const { hint } = failureRules[failure.kind];
  const name = spec.split('/')[0] ?? '';
  if (failure.kind !== 'auth' || !isCliName(name)) return { ...failure, hint };
  return { ...failure, hint: `${hint.replace(/\.$/, '')}: ${(await loadCli(name)).login.command}` };
}

/** An agent as a person names it, with its model if there is one. */
export async function readAgentName(name: string): Promise<string> {
  const { parseFlag } = await import('../../config/options.ts');
  const read = parseFlag('agent', name);
  if (!read.ok) throw new UsageError(read.problem.replace(/^--agent: /, ''), 'See them: ralph agents list');
  return read.value;
}
