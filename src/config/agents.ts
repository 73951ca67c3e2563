// Agent names, and how a performer is named: AGENT or AGENT/MODEL.
import { type CliName, cliNames } from '../agents/registry.ts';
import { nearest } from '../text/similarity.ts';
import { type Given, good, goodAll, type Reading, refuse, wrong } from './reading.ts';

/** Those that are no CLI of somebody: any ACP agent, any program, a script. */
const others = ['acp', 'command', 'scripted'] as const;

export type AgentName = CliName | (typeof others)[number];

export const agentNames: readonly AgentName[] = [...cliNames, ...others];

export interface AgentSpec {
  readonly agent: AgentName;
  readonly model?: string;
}

/** These have no model that we could name to them. */
export const modelless: ReadonlySet<string> = new Set<AgentName>(['command', 'scripted']);

const isAgentName = (word: string): word is AgentName => (agentNames as readonly string[]).includes(word);

const modelCharactersMax = 128;

/** A model is one word, and no option: it is handed on as an argument. */
export function readModel(given: Given): Reading<string> {
  const trimmed = given.text.trim();
  if (/^[\p{L}\p{N}][^\s\p{C}]*$/u.test(trimmed) && trimmed.length <= modelCharactersMax) return good(trimmed);
  const fix = 'give one word that begins with a letter or digit, like claude-sonnet-4-5.';
  return wrong(given, `is not the name of a model; ${fix}`);
}

/** `what` it is not, and the word that was probably meant. */
function unknown(given: Given, what: string, known: readonly string[]): Reading<never> {
  const meant = nearest(given.text, known);
  return wrong(
    given,
    `is not ${what}; ${meant === undefined ? `use one of ${known.join(', ')}.` : `did you mean ${meant}?`}`,
  );
}

/** `claude`, `opencode/anthropic/claude-x`: what stands after the first slash is the model. */
export function readAgent({ label, text }: Given): Reading<string> {
  const trimmed = text.trim();
  const slash = trimmed.indexOf('/');
  const name = slash === -1 ? trimmed : trimmed.slice(0, slash);
  if (!isAgentName(name)) return unknown({ label, text: name }, 'an agent', agentNames);
  if (slash === -1) return good(name);
  if (modelless.has(name)) return refuse(`${label}: the ${name} agent takes no model; write just ${name}.`);
  const model = readModel({ label, text: trimmed.slice(slash + 1) });
  return model.ok ? good(`${name}/${model.value}`) : model;
}

/** A spec that was read before; of another one (a ledger of another version) undefined. */
export function specOf(text: string): AgentSpec | undefined {
  const read = readAgent({ label: '', text });
  if (!read.ok) return undefined;
  const slash = read.value.indexOf('/');
  if (slash === -1) return { agent: read.value as AgentName };
  return { agent: read.value.slice(0, slash) as AgentName, model: read.value.slice(slash + 1) };
}

const agentsMax = 20;

/** A chain of agents, separated by commas or white space. */
export function readAgents({ label, text }: Given): Reading<readonly string[]> {
  const words = text.split(/[\s,]+/).filter(word => word !== '');
  if (words.length === 0) return refuse(`${label}: "" names no agent; give at least one, like codex.`);
  if (words.length > agentsMax)
    return refuse(`${label}: ${words.length} agents are more than ${agentsMax}; give fewer.`);
  const readings = goodAll(words.map(word => readAgent({ label, text: word })));
  return readings.ok ? good([...new Set(readings.value)]) : readings;
}

/** `NAME=AGENT[/MODEL]`, several separated by commas or line ends; `known` are the only names, where there is a list. */
export function readPairs({ label, text }: Given, known?: readonly string[]): Reading<readonly string[]> {
  const entries = text.split(/[,\r\n]+/).filter(entry => entry.trim() !== '');
  if (entries.length === 0) return refuse(`${label}: "" assigns nothing; write it like NAME=codex.`);
  return goodAll(entries.map(entry => readPair({ label, text: entry.trim() }, known)));
}

function readPair(given: Given, known?: readonly string[]): Reading<string> {
  const { label, text } = given;
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(equals, 0)).trim();
  if (name === '' || name.length > 200 || /\p{C}/u.test(name))
    return wrong(given, `is not NAME=AGENT; write it like ${known?.[0] ?? 'US-001'}=codex.`);
  if (known !== undefined && !known.includes(name)) return unknown({ label, text: name }, 'known', known);
  const agent = readAgent({ label, text: text.slice(equals + 1) });
  return agent.ok ? good(`${name}=${agent.value}`) : agent;
}

/** What `readPairs` gave, as a table; of a name given twice the last one counts. */
export function pairsOf(entries: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
