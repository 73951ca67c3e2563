// Which agents this machine has: where, which version, with a login or not, and how well we know them.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentName } from '../../config/agents.ts';
import type { Config } from '../../config/settings.ts';
import type { AgentCli, Proof } from '../../agents/agent.ts';
import type { PerformerAbilities } from '../../agents/performer.ts';
import { cliNames, loginOf, rowOf } from './agents.ts';
import { findProgram } from '../../processes/find-program.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** `agents list --json` prints these. Null: not there, or not known. */
export interface Surveyed {
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

export interface SurveyNeeds {
  readonly env: Variables;
  readonly directory: string;
  readonly config: Config;
}

export async function surveyAgents(needs: SurveyNeeds): Promise<readonly Surveyed[]> {
  const clis = await Promise.all(cliNames.map(name => surveyCli(name, needs)));
  return [...clis, surveyAcp(needs), ...surveyPlain(needs)];
}

async function surveyCli(name: (typeof cliNames)[number], { env, directory }: SurveyNeeds): Promise<Surveyed> {
  const row = rowOf(name);
  const cli = await row.load();
  const found = findProgram(cli.program, directory, env);
  const path = found.type === 'found' ? found.path : null;
  const { known, words } = loginOf(cli, env);
  return {
    name,
    installed: path,
    version: path === null ? null : ((await programVersion(path, env, cli.fixed)) ?? null),
    login: { known, words, command: cli.login.command },
    can: cli.can,
    proof: cli.proof,
    install: row.install,
  };
}

const nobodysLogin = { known: false, words: 'unknown', command: null } as const;
const noLogin = { known: true, words: 'none needed', command: null } as const;

function surveyAcp({ env, directory, config }: SurveyNeeds): Surveyed {
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

function surveyPlain({ env, directory, config }: SurveyNeeds): readonly Surveyed[] {
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
export async function inThrowAway<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-look-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What `PROGRAM --version` prints as a version, with an empty home and no key; undefined when it does not say. */
function programVersion(path: string, env: Variables, fixed: AgentCli['fixed'] = {}): Promise<string | undefined> {
  return inThrowAway(async folder => {
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
