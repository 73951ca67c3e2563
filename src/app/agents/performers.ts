// Makes the performers that the settings name, and says what a person should know about each before it is started.
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Account, AgentCli, PriceBook, Proof } from '../../agents/agent.ts';
import type { AgentTools, Performer, ToolServer } from '../../agents/performer.ts';
import { type CliName, cliNames, isCliName, loadCli } from '../../agents/registry.ts';
import type { Check } from '../../checks/check.ts';
import { specOf } from '../../config/agents.ts';
import type { Config } from '../../config/settings.ts';
import { everyPerformer, type Settings } from '../../core/settings.ts';
import { findProgram, packagedVersion } from '../../processes/find-program.ts';
import { UsageError } from '../../text/errors.ts';
import { version } from '../../version.ts';
import { accountOf, clisFor, firstInstalled, type Login, loginOf, ownPlace } from './agents.ts';
import { namingMissing } from './missing-variable.ts';
import { environmentOf, type ProcessLimits, processLimits, timersOf } from './process-limits.ts';

type Named = Pick<Settings, 'performers' | 'performersByTask' | 'performersByPhase' | 'stronger'>;

/** What agents and checks depend on: a part of all that is prepared. */
export interface AgentNeeds {
  readonly config: Config;
  readonly settings: Named;
  readonly directory: string;
  /** RALPH_HOME: hidden from agents and checks where that is possible. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workplaces?: readonly string[];
  /** Folders that these may only read, where confinement works. */
  readonly readOnly?: readonly string[];
  /** What a program brings along: it cannot be made anew. */
  readonly provided?: {
    readonly performers: readonly Performer[];
    readonly checks?: (timeMsMax: number) => readonly Check[];
  };
}

/** What the card says about one performer. */
export interface AgentFacts {
  readonly spec: string;
  readonly agent: string;
  readonly model?: string;
  readonly version?: string;
  readonly login?: Login;
  /** Who pays, and the model that works where none was asked for. */
  readonly account?: Account;
  readonly proof?: Proof;
  /** Where the money figures come from. */
  readonly cost: 'agent' | 'estimated' | 'upper-bound' | 'none';
  /** What it asks before it begins, where it gets the terminal. */
  readonly firstQuestions?: readonly string[];
  /** It works in Ralph's own process: no program is started for it. */
  readonly isInProcess?: true;
}

/** A performer, and what is known about it unless a program brought it along or it is an action. */
export type Agent = Performer & { readonly facts?: AgentFacts };

/** Everything that can be refused is; what is left is to make it. */
interface Checked {
  readonly facts: AgentFacts;
  /** What its program gets; absent: none is started. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly make: (limits: ProcessLimits) => Performer;
}

/** Exit 7 when an agent is missing: nothing is written before this is known (F32). */
export async function buildPerformers(needs: AgentNeeds): Promise<Readonly<Record<string, Agent>>> {
  const own = Object.fromEntries(needs.provided?.performers.map(one => [one.name, one]) ?? []);
  const checked: (readonly [string, Checked])[] = [];
  for (const spec of everyPerformer(needs.settings))
    if (!Object.hasOwn(own, spec)) checked.push([spec, await checkedFor(spec, needs)]);
  const limits = processLimits(needs);
  const readOnly = withReadOnly(limits, readOnlyFor(needs));
  const agents = checked.map(([spec, { facts, make, environment }]) => {
    const twin = withReadOnlyTwin(facts, make(limits), make(readOnly));
    return [spec, environment === undefined ? twin : { facts, ...namingMissing(twin, environment, needs.env) }];
  });
  return { ...Object.fromEntries(agents), ...own };
}

/** The folder that a performer who only looks may not write to; its login must stay usable. */
export const readOnlyFor = ({ directory, env }: Pick<AgentNeeds, 'directory' | 'env'>): readonly string[] =>
  `${env['HOME'] ?? ''}/`.startsWith(`${directory}/`) ? [] : [directory];

/** The same agent twice: a task that only looks is done by the one that cannot write. */
const withReadOnlyTwin = (facts: AgentFacts, worker: Performer, reader: Performer): Agent => ({
  facts,
  name: worker.name,
  can: worker.can,
  holds: worker.holds,
  perform: (assignment, stop) => (assignment.reads === true ? reader : worker).perform(assignment, stop),
});

function withReadOnly(limits: ProcessLimits, readOnly: readonly string[]): ProcessLimits {
  const { confinement } = limits;
  if (confinement === undefined || readOnly.length === 0) return limits;
  const writable = confinement.writable.filter(path => !readOnly.includes(path));
  return { ...limits, confinement: { ...confinement, writable, readOnly: [...confinement.readOnly, ...readOnly] } };
}

async function checkedFor(spec: string, needs: AgentNeeds): Promise<Checked> {
  const read = specOf(spec);
  if (read === undefined)
    throw new UsageError(`No agent is called ${JSON.stringify(spec)}.`, 'See them: ralph agents list', 7);
  const { agent, model } = read;
  if (agent === 'command') return checkedCommand(needs);
  if (agent === 'scripted') return checkedScript(needs);
  return agent === 'acp' ? checkedAcp(spec, model, needs) : checkedCli(spec, agent, model, needs);
}

async function checkedCommand(needs: AgentNeeds): Promise<Checked> {
  const { agentCommand } = needs.config;
  if (agentCommand === undefined)
    throw new UsageError('The command agent needs a program.', "Give one: --agent-command 'my-agent --headless'", 7);
  const { commandAgent } = await import('../../agents/command.ts');
  const order = { command: agentCommand, environment: environmentOf(needs), timers: timersOf(needs.config) };
  return {
    facts: { spec: 'command', agent: 'command', cost: 'none' },
    environment: order.environment,
    make: limits => commandAgent({ ...order, ...limits }),
  };
}

async function checkedScript({ config, directory }: AgentNeeds): Promise<Checked> {
  if (config.script === undefined)
    throw new UsageError('The scripted agent needs a script.', 'Give one: --script FILE', 7);
  const { parseScript, scriptedAgent } = await import('../../agents/scripted.ts');
  const path = resolve(directory, config.script);
  const text = await readFile(path, 'utf8').catch(({ message }: Error) => {
    throw new UsageError(`The script ${path} cannot be read: ${message}.`, 'Check the path given to --script.');
  });
  const parsed = parseScript(text);
  if (!parsed.ok) throw new UsageError(`${config.script}: ${parsed.problem}`);
  const { script } = parsed;
  return {
    facts: { spec: 'scripted', agent: 'scripted', cost: 'agent', isInProcess: true },
    make: () => scriptedAgent({ script }),
  };
}

/** The program's path, or exit 7. */
function programFor(name: string, program: string, { directory, env }: AgentNeeds, install: string): string {
  const found = findProgram(program, directory, env);
  if (found.type === 'found') return found.path;
  if (found.type === 'not-executable')
    throw new UsageError(
      `The program of the agent ${name}, ${found.path}, cannot be executed.`,
      `Make it executable (chmod +x) or install it again: ${install}`,
      7,
    );
  throw new UsageError(
    `The agent ${name} is not installed: no program ${program} is found${program.includes('/') ? '' : ' on PATH'}.`,
    `Install it: ${install}; or choose another: ralph agents list`,
    7,
  );
}

/** The user's own arguments are meant for the agent that was chosen: another one would not understand them. */
function argsFor(agent: string, { config, settings }: AgentNeeds): readonly string[] {
  return specOf(settings.performers[0] ?? '')?.agent === agent ? config.agentArgs : [];
}

/** Loaded when an agent is started that takes them. */
const openTools = async (agentTools: AgentTools): Promise<ToolServer> => {
  const { openToolServer } = await import('../../mcp-server/socket.ts');
  return openToolServer(agentTools, version());
};

const prices = async (): Promise<PriceBook> => (await import('../../agents/prices.ts')).openPriceBook();

async function checkedCli(
  spec: string,
  agent: CliName,
  model: string | undefined,
  needs: AgentNeeds,
): Promise<Checked> {
  const cli = await loadCli(agent);
  const program = programFor(agent, cli.program, needs, cli.install);
  const { cliAgent } = await import('../../agents/driver.ts');
  const book = await prices();
  const version = packagedVersion(program);
  const environment = environmentOf(needs, cli);
  const args = argsFor(agent, needs);
  const account = accountOf(cli, environment, args);
  const firstQuestions = (directory: string): readonly string[] =>
    cli.firstQuestions?.(ownPlace({ ...environment, HOME: environment['HOME'] ?? needs.env['HOME'] }), directory) ?? [];
  const order = {
    name: spec,
    firstQuestions,
    openTools,
    program,
    environment,
    args,
    account,
    prices: book,
    timers: timersOf(needs.config),
    model,
  };
  const login = loginOf(cli, needs.env);
  return {
    facts: {
      spec,
      agent,
      login,
      account,
      firstQuestions: firstQuestions(needs.directory),
      proof: cli.proof,
      cost: costOf(cli, model ?? account.model?.name, book),
      model,
      version,
    },
    environment,
    make: limits => cliAgent(cli, { ...order, ...limits }),
  };
}

function costOf({ can, cost, namesModel }: AgentCli, model: string | undefined, book: PriceBook): AgentFacts['cost'] {
  if (!can.usage || cost === 'none') return 'none';
  if (cost === 'agent') return 'agent';
  const isKnown = model === undefined ? namesModel : book.knows(model);
  return isKnown ? 'estimated' : 'upper-bound';
}

/** `gemini --acp`, `claude-agent-acp`: the agent behind it needs the same keys as when it is driven without ACP. */
async function behindAcp(word: string): Promise<AgentCli | undefined> {
  const name = basename(word).replace(/(-agent)?-acp$/, '');
  return isCliName(name) ? loadCli(name) : undefined;
}

async function checkedAcp(spec: string, model: string | undefined, needs: AgentNeeds): Promise<Checked> {
  const [word, ...args] = needs.config.acpCommand ?? [];
  if (word === undefined)
    throw new UsageError('The acp agent needs a program.', "Give one: --acp-command 'gemini --acp'", 7);
  const program = programFor('acp', word, needs, 'see its manual');
  const { acpAgent } = await import('../../agents/acp/acp.ts');
  const { usualTimers } = await import('../../agents/driver.ts');
  const cli = await behindAcp(word);
  const environment = { ...environmentOf(needs, cli), ...cli?.fixedEnvironment };
  const account = cli && accountOf(cli, environment);
  const order = {
    name: spec,
    command: [program, ...args, ...argsFor('acp', needs)] as const,
    environment,
    account,
    prices: await prices(),
    permission: 'allow' as const, // as every other agent is started: nobody is there to ask
    timers: { ...usualTimers, ...timersOf(needs.config) },
    model,
  };
  return {
    environment,
    facts: { spec, agent: 'acp', cost: 'estimated', login: cli && loginOf(cli, needs.env), account, model },
    make: limits => acpAgent({ ...order, ...limits }),
  };
}

/** How to get one of the first four: a whole line for the first, the packages of the others. */
async function installWords(): Promise<string> {
  const lines: string[] = [];
  for await (const { install } of clisFor('work')) lines.push(install);
  const [first, ...others] = lines.slice(0, 4);
  return `${first}, or ${others.map(line => line.replace('npm install -g ', '')).join(', ')}`;
}

/** The first installed agent in order of preference, or one sentence that says how to get one. */
export async function defaultAgent({
  config,
  env,
  directory,
  isTalk = false,
}: Pick<AgentNeeds, 'config' | 'env' | 'directory'> & {
  /** It is to talk with a person at the terminal, which a program of one's own cannot. */
  readonly isTalk?: boolean;
}): Promise<string> {
  const name = await firstInstalled(env, directory, config.acpCommand);
  if (name === undefined) {
    const install = `Install one (${await installWords()})`;
    throw new UsageError(
      'No agent is installed and none is given.',
      isTalk
        ? `${install}; an interview needs one that can be given the terminal: ${cliNames.join(', ')}`
        : `${install}, give your own with --agent-command 'my-agent --headless', or see a loop without one: ralph demo`,
      7,
    );
  }
  return config.model === undefined ? name : `${name}/${config.model}`;
}
