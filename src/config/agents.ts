// Agent names, and how a performer is named: AGENT or AGENT/MODEL.
import { nearest } from '../text/similarity.ts';
import { good, goodAll, type Reading, refuse, shown } from './reading.ts';

export const agentNames = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'pi',
  'kiro',
  'q',
  'copilot',
  'goose',
  'qwen',
  'acp',
  'command',
  'scripted',
] as const;

export type AgentName = (typeof agentNames)[number];

export interface AgentSpec {
  readonly agent: AgentName;
  readonly model?: string;
}

/** These have no model that we could name to them. */
export const modelless: ReadonlySet<string> = new Set<AgentName>(['command', 'scripted']);

const isAgentName = (word: string): word is AgentName => (agentNames as readonly string[]).includes(word);

const modelCharactersMax = 128;

/** A model is one word, and no option: it is handed on as an argument. */
export function readModel(label: string, text: string): Reading<string> {
  const trimmed = text.trim();
  if (/^[\p{L}\p{N}][^\s\p{C}]*$/u.test(trimmed) && trimmed.length <= modelCharactersMax) return good(trimmed);
  return refuse(
    `${label}: ${shown(text)} is not the name of a model; give one word that begins with a letter or digit, like claude-sonnet-4-5.`,
  );
}

/** `claude`, `opencode/anthropic/claude-x`: what stands after the first slash is the model. */
export function readAgent(label: string, text: string): Reading<string> {
  const trimmed = text.trim();
  const slash = trimmed.indexOf('/');
  const name = slash === -1 ? trimmed : trimmed.slice(0, slash);
  if (!isAgentName(name)) {
    const meant = nearest(name, agentNames);
    const fix = meant === undefined ? `use one of ${agentNames.join(', ')}.` : `did you mean ${meant}?`;
    return refuse(`${label}: ${shown(name)} is not an agent; ${fix}`);
  }
  if (slash === -1) return good(name);
  if (modelless.has(name)) return refuse(`${label}: the ${name} agent takes no model; write just ${name}.`);
  const model = readModel(label, trimmed.slice(slash + 1));
  return model.ok ? good(`${name}/${model.value}`) : model;
}

/** A spec that was read before; of another one (a ledger of another version) undefined. */
export function specOf(text: string): AgentSpec | undefined {
  const read = readAgent('', text);
  if (!read.ok) return undefined;
  const slash = read.value.indexOf('/');
  if (slash === -1) return { agent: read.value as AgentName };
  return { agent: read.value.slice(0, slash) as AgentName, model: read.value.slice(slash + 1) };
}

const agentsMax = 20;

/** A chain of agents, separated by commas or white space. */
export function readAgents(label: string, text: string): Reading<readonly string[]> {
  const words = text.split(/[\s,]+/).filter(word => word !== '');
  if (words.length === 0) return refuse(`${label}: "" names no agent; give at least one, like codex.`);
  if (words.length > agentsMax)
    return refuse(`${label}: ${words.length} agents are more than ${agentsMax}; give fewer.`);
  const readings = goodAll(words.map(word => readAgent(label, word)));
  return readings.ok ? good([...new Set(readings.value)]) : readings;
}

/** `NAME=AGENT[/MODEL]`, several separated by commas or line ends; `known` are the only names, where there is a list. */
export function readPairs(label: string, text: string, known?: readonly string[]): Reading<readonly string[]> {
  const entries = text.split(/[,\r\n]+/).filter(entry => entry.trim() !== '');
  if (entries.length === 0) return refuse(`${label}: "" assigns nothing; write it like NAME=codex.`);
  return goodAll(entries.map(entry => readPair(label, entry.trim(), known)));
}

function readPair(label: string, entry: string, known?: readonly string[]): Reading<string> {
  const equals = entry.indexOf('=');
  const name = entry.slice(0, Math.max(equals, 0)).trim();
  if (name === '' || name.length > 200 || /\p{C}/u.test(name))
    return refuse(`${label}: ${shown(entry)} is not NAME=AGENT; write it like ${known?.[0] ?? 'US-001'}=codex.`);
  if (known !== undefined && !known.includes(name)) {
    const meant = nearest(name, known);
    const fix = meant === undefined ? `use one of ${known.join(', ')}.` : `did you mean ${meant}?`;
    return refuse(`${label}: ${shown(name)} is not known; ${fix}`);
  }
  const agent = readAgent(label, entry.slice(equals + 1));
  return agent.ok ? good(`${name}=${agent.value}`) : agent;
}

/** What `readPairs` gave, as a table; of a name given twice the last one counts. */
export function pairsOf(entries: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
