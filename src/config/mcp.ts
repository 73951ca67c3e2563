// MCP servers of a person, read from a file in the form that other clients use; values are never shown (secrets).
import { basename, dirname } from 'node:path';
import type { McpServer } from '../actions/mcp/server.ts';
import type { Problem } from '../documents/document.ts';
import { positionsIn } from '../documents/problems.ts';
import { idPattern } from '../documents/task-checks.ts';
import { canonical } from '../text/canonical.ts';
import { type Fields, fieldsOf, isFields } from '../text/fields.ts';
import { nearest } from '../text/similarity.ts';
import { readTextFile } from './files.ts';
import { readCommentedJson } from './json.ts';
import { shown } from './reading.ts';
import { readTime } from './values.ts';

export interface ReadMcpServers {
  /** False: there is no such file, which is a problem only for whoever named it. */
  readonly isThere: boolean;
  /** None when there is a problem: half a configuration runs half a plan. */
  readonly servers: readonly McpServer[];
  /** By name, as the file has it: all that decides which program or address a server is, no variable filled in. */
  readonly written: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

type Variables = Readonly<Record<string, string | undefined>>;
type Complain = (message: string) => void;

const serverKeys = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'timeout', 'idempotent'];
const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const headerPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const serversMax = 100;

/** `environment`: only variables that the file names as `${NAME}` are read from it. */
export async function readMcpServers(path: string, environment: Variables): Promise<ReadMcpServers> {
  const label = basename(path);
  const file = await readTextFile(dirname(path), label, false);
  if (file.type === 'missing') return { isThere: false, servers: [], written: {}, problems: [] };
  if (file.type !== 'text') return { isThere: true, servers: [], written: {}, problems: [file.problem] };
  return { isThere: true, ...readServers(file.text, label, environment) };
}

function readServers(text: string, label: string, environment: Variables): Omit<ReadMcpServers, 'isThere'> {
  const problems: Problem[] = [];
  const complainAt =
    (offset: number): Complain =>
    message =>
      problems.push({ message: `${label}: ${message}.`, ...positionsIn(text)(offset) });
  const json = readCommentedJson(text);
  if (!json.ok) {
    complainAt(json.offset)(json.message);
    return { servers: [], written: {}, problems };
  }
  const placeOf = (path: string): number => json.places.get(path) ?? 0;
  const top = fieldsOf(json.value);
  for (const key of Object.keys(top).filter(each => each !== 'mcpServers' && each !== '$schema'))
    complainAt(placeOf(key))(unknownKey(key, ['mcpServers']));
  const given = top['mcpServers'];
  if (!isFields(given)) complainAt(placeOf('mcpServers'))('it needs an object "mcpServers" with a server per name');
  const entries = Object.entries(fieldsOf(given));
  if (entries.length > serversMax) complainAt(0)(`${entries.length} servers are more than ${serversMax}`);
  const servers = entries
    .slice(0, serversMax)
    .map(([name, value]) => readServer(name, value, environment, complainAt(placeOf(`mcpServers.${name}`))));
  const written = entries.map(([name, value]) => [name, identityOf(value)]);
  const good = problems.length === 0 ? servers.filter(each => each !== undefined) : [];
  return { servers: good, written: Object.fromEntries(written), problems };
}

/** How long a call may take, and what may be called again, is no part of who is called. */
function identityOf(value: unknown): string {
  const { timeout: _timeout, idempotent: _idempotent, ...identity } = fieldsOf(value);
  return canonical(identity);
}

function readServer(name: string, value: unknown, environment: Variables, say: Complain): McpServer | undefined {
  const complain: Complain = message => say(`the server ${shown(name)}: ${message}`);
  if (!idPattern.test(name)) complain('its name may hold letters, digits, ".", "_" and "-", and at most 64 of them');
  if (!isFields(value)) {
    complain('it must be an object');
    return undefined;
  }
  for (const key of Object.keys(value).filter(each => !serverKeys.includes(each)))
    complain(unknownKey(key, serverKeys));
  const kind = kindOf(value, complain);
  const foreign = kind === 'http' ? ['command', 'args', 'env', 'cwd'] : ['url', 'headers'];
  for (const key of foreign.filter(each => kind !== undefined && value[each] !== undefined))
    complain(`"${key}" does not belong to a server of the type ${kind}`);
  const texts = expanded(environment, complain);
  const common = {
    name,
    idempotent: texts.list(value['idempotent'], 'idempotent'),
    timeMsMax: timeOf(value['timeout'], complain),
  };
  if (kind === 'http') {
    const headers = texts.table(value['headers'], 'headers', headerPattern);
    return { ...common, type: 'http', url: urlOf(texts.one(value['url'], 'url'), complain), headers };
  }
  return {
    ...common,
    type: 'stdio',
    command: texts.one(value['command'], 'command'),
    args: texts.list(value['args'], 'args'),
    environment: texts.table(value['env'], 'env', variablePattern),
    directory: value['cwd'] === undefined ? undefined : texts.one(value['cwd'], 'cwd'),
  };
}

/** Undefined after a complaint. */
function kindOf({ type, command, url }: Fields, complain: Complain): 'stdio' | 'http' | undefined {
  if (command !== undefined && url !== undefined) complain('it has both "command" and "url"; keep one');
  else if (command === undefined && url === undefined) complain('it needs "command" (a program) or "url" (HTTP)');
  else if (type === 'sse') complain('"type": "sse" is the transport of 2024, which is gone; use "http"');
  else if (type !== undefined && type !== 'stdio' && type !== 'http' && type !== 'streamable-http')
    complain('"type" must be "stdio" or "http"');
  else if (type !== undefined && (type === 'stdio') !== (command !== undefined))
    complain(`"type" does not fit "${command === undefined ? 'url' : 'command'}"`);
  else return command === undefined ? 'http' : 'stdio';
  return undefined;
}

function timeOf(value: unknown, complain: Complain): number | undefined {
  if (value === undefined) return undefined;
  const reading = readTime('timeout', String(value));
  if (reading.ok) return reading.value;
  complain('"timeout" must be a time with its unit, like "30s" or "2m"');
  return undefined;
}

function urlOf(text: string, complain: Complain): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text === '') return ''; // it was complained about
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') complain('"url" must begin with http:// or https://');
  else if (url.username !== '' || url.password !== '') complain('"url" holds a login; put it into "headers"');
  return text;
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `${shown(key)} is not known here${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

const charsMax = 10_000;
const countMax = 1_000;
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Readers of a server's texts: each complains about what is wrong and gives something harmless back. `${NAME}` is the
 * variable's value, `${NAME:-words}` has words for when it is not set. Everything else stays as it is.
 */
function expanded(environment: Variables, complain: Complain) {
  const missing = new Set<string>();

  function fill(text: string): string {
    return text.replace(reference, (_, name: string, otherwise: string | undefined) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value !== undefined || otherwise !== undefined) return value ?? otherwise ?? '';
      if (!missing.has(name)) complain(`the variable ${name.slice(0, 100)} is not set; set it or remove it here`);
      missing.add(name);
      return '';
    });
  }

  function text(value: unknown, where: string): string {
    if (typeof value !== 'string') complain(`${where} must be text`);
    else if (value.length > charsMax) complain(`${where} is longer than ${charsMax} characters`);
    else {
      const filled = fill(value);
      if (!/[\p{Cc}]/u.test(filled)) return filled;
      complain(`${where} holds a line break or control character`);
    }
    return '';
  }

  return {
    one(value: unknown, key: string): string {
      if (value === undefined) return ''; // that it is missing was said before
      if (typeof value === 'string' && value.trim() === '') complain(`"${key}" is empty`);
      return text(value, `"${key}"`);
    },
    list(value: unknown, key: string): readonly string[] {
      if (value === undefined) return [];
      if (Array.isArray(value) && value.length <= countMax)
        return value.map((each, index) => text(each, `"${key}[${index}]"`));
      complain(`"${key}" must be a list of texts`);
      return [];
    },
    table(value: unknown, key: string, names: RegExp): Readonly<Record<string, string>> {
      if (value === undefined) return {};
      if (!isFields(value)) {
        complain(`"${key}" must be an object of names and texts`);
        return {};
      }
      const entries = Object.entries(value).filter(([name]) => {
        if (!names.test(name)) complain(`"${key}" holds a name that cannot be one`);
        return names.test(name);
      });
      return Object.fromEntries(entries.map(([name, each]) => [name, text(each, `"${key}.${name.slice(0, 100)}"`)]));
    },
  };
}
