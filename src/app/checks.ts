// Makes the checks that the settings name: commands, files, the judge; and says which files prove the work.
import { basename } from 'node:path';
import { isCliName, loadCli } from '../agents/registry.ts';
import type { Check, CheckResult, Judge } from '../checks/check.ts';
import { checkScripts, pythonModules, unknownScripts } from '../checks/tamper/command-line.ts';
import { isTestFile, languageOf } from '../checks/tamper/source-files.ts';
import { specOf } from '../config/agents.ts';
import type { Config } from '../config/settings.ts';
import { findProgram } from '../processes/find-program.ts';
import { UsageError } from '../text/errors.ts';
import { clisFor } from './agents/agents.ts';
import { type AgentNeeds, buildPerformers, readOnlyFor } from './agents/performers.ts';
import { checkEnvironmentOf, processLimits } from './agents/process-limits.ts';

type CheckNeeds = Omit<AgentNeeds, 'settings'>;

export async function buildChecks(needs: CheckNeeds): Promise<readonly Check[]> {
  const { config } = needs;
  const provided = needs.provided?.checks?.(config.verifyTimeout) ?? [];
  if (config.verify.length === 0) return provided;
  const { fileCheck, fileProofOf } = await import('../checks/file.ts');
  const read = config.verify.map(text => ({ text, proof: fileProofOf(text) }));
  const wrong = read.find(({ proof }) => proof?.ok === false)?.proof;
  if (wrong?.ok === false)
    throw new UsageError(
      `--verify: ${wrong.problem}.`,
      "Write it like 'file:docs/guide.md' or 'file:CHANGELOG.md contains 1.2.0'.",
    );
  const { commandCheck } = await import('../checks/command.ts');
  const [needed = 1, most = 1] = config.verifyRuns.split('/').map(Number);
  const limits = read.some(({ proof }) => proof === undefined) ? processLimits(needs) : undefined;
  const order = { ...checkEnvironmentOf(needs), timeMsMax: config.verifyTimeout, runs: { needed, most }, ...limits };
  const checks = read.map(({ text, proof }) =>
    proof?.ok ? fileCheck(text, proof.proof) : commandCheck({ command: text, ...order }),
  );
  return [...checks, ...provided];
}

/** All of them once, before anybody worked, also after one that failed: a person wants to see the whole picture. */
export async function redStart(
  checks: readonly Check[],
  directory: string,
  stop: AbortSignal,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    if (stop.aborted) break;
    results.push(await check.run(directory, stop));
  }
  return results;
}

interface FilesToProtect {
  /** Those that are there; some are patterns. */
  readonly candidates: readonly string[];
  readonly wanted: readonly string[];
  /** Not one of the candidates after all. */
  readonly isOpen: (path: string) => boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

const commandsIn = (verify: readonly string[]): readonly string[] => verify.filter(text => !text.startsWith('file:'));

/**
 * What is to be protected: the scripts that commands run, and what a person named, unless a person lifted it (`!PATH`).
 * A test that a command runs directly stays open, because tests are added to; the tamper screen looks at those.
 */
export function filesToProtect(
  { verify, protect }: Pick<Config, 'verify' | 'protect'>,
  environment: Variables = {},
): FilesToProtect {
  const lifted = new Set(protect.filter(path => path.startsWith('!')).map(path => path.slice(1).replace(/^\.\//, '')));
  const isOpen = (path: string): boolean =>
    lifted.has(path) || (languageOf(path) !== 'shell' && isTestFile(basename(path)));
  const found = commandsIn(verify).flatMap(line => [
    ...checkScripts(line, environment),
    ...pythonModules(line).flatMap(module => [`${module}.py`, `${module}/__main__.py`]),
  ]);
  return {
    candidates: [...new Set(found)].filter(path => !isOpen(path)),
    wanted: protect.filter(path => !path.startsWith('!')),
    isOpen,
  };
}

/** A check whose script only shows when it runs cannot be held against an agent, unless a person says what it is (B95). */
export function refuseUnknownScripts({ verify, protect }: Pick<Config, 'verify' | 'protect'>, env: Variables): void {
  if (protect.length > 0) return;
  for (const line of commandsIn(verify)) {
    const [unknown] = unknownScripts(line, env);
    if (unknown === undefined) continue;
    throw new UsageError(
      `The check ${JSON.stringify(line)} runs a script that only shows when it runs (${unknown}), so nobody could keep it as it is.`,
      'Write the path of the script (sh check.sh; for t in tests/*.sh; do sh "$t" || exit 1; done), or name what it runs: --protect PATH.',
    );
  }
}

const vendorNamed = async (name = ''): Promise<string | undefined> =>
  isCliName(name) ? (await loadCli(name)).vendor : undefined;

/** The vendor of the model that is named, else of the agent's own; vendors call their CLI as they call their models. */
async function vendorOf(spec: string): Promise<string> {
  const { agent = '', model = '' } = specOf(spec) ?? {};
  const byPath = /^(anthropic|openai|google|alibaba)\//.exec(model)?.[1];
  const family = /^[a-z]+/.exec(model)?.[0];
  return byPath ?? (await vendorNamed(family)) ?? (await vendorNamed(agent)) ?? agent;
}

/** `auto`: the first installed agent of another vendor than the loop's first one, else that one. */
export async function judgeSpec({
  config,
  settings,
  directory,
  env,
}: Pick<AgentNeeds, 'config' | 'settings' | 'directory' | 'env'>): Promise<string | undefined> {
  if (config.judge !== 'auto') return config.judge;
  const worker = settings.performers[0];
  const vendorAtWork = worker === undefined ? undefined : await vendorOf(worker);
  for await (const { name, program, vendor } of clisFor('judge')) {
    if (vendor === vendorAtWork) continue;
    if (findProgram(program, directory, env).type === 'found') return name;
  }
  return worker;
}

/** As it stands among the checks of a loop. */
export const judgeName = (spec: string): string => `judge: ${spec}`;

/** The agent behind such a name; undefined for every other check. */
export const judgeNamed = (check: string): string | undefined => /^judge: (.+)$/.exec(check)?.[1];

/** Undefined when no judge is wanted. Exit 7 when it is not installed. */
export async function buildJudge(
  needs: AgentNeeds & { readonly redact?: (text: string) => string },
): Promise<Judge | undefined> {
  const { config, settings } = needs;
  const spec = await judgeSpec(needs);
  if (spec === undefined) return undefined;
  const isWorker = specOf(spec)?.agent === specOf(settings.performers[0] ?? '')?.agent;
  const made = await buildPerformers({
    ...needs,
    provided: undefined,
    config: { ...config, agentArgs: isWorker ? config.agentArgs : [] }, // meant for the one who works
    settings: { performers: [spec], performersByTask: {}, performersByPhase: {} },
    readOnly: readOnlyFor(needs),
  });
  const performer = made[spec];
  if (performer === undefined) return undefined;
  const { judgeCheck } = await import('../checks/judge.ts');
  return judgeCheck({ performer, timeMsMax: config.verifyTimeout, redact: needs.redact });
}
