// Codex: one turn of `codex exec --json` with the prompt on stdin; it names no model and no cost, and errors are words.

import { detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type {
  Account,
  AgentCli,
  AgentEvent,
  Launch,
  LaunchOrder,
  OwnPlace,
  Reader,
  StreamProblem,
  ToolOrder,
} from '../agent.ts';
import { modelArgs, networkVariables } from '../launch.ts';
import { openAnswer, readByType, sessionOpened } from '../reader.ts';
import { tokensIn, withoutCache } from '../usage.ts';

/** Tried with codex 0.166.0. */
export const codex: AgentCli = {
  name: 'codex',
  program: 'codex',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g @openai/codex',
  cost: 'tokens',
  namesModel: false,
  vendor: 'openai',
  chosenFor: ['work', 'judge'],
  beware:
    'It names neither its model nor a cost: its tokens are priced by `--model`, else by the model in its `config.toml`, else by its default; the card says which. Where that has no known price they are counted at an upper bound. Errors come as words only. Without a network it reconnects for ever; Ralph ends it after two minutes of that.',
  environment: [
    ...networkVariables,
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_ORGANIZATION',
    'OPENAI_PROJECT',
    'CODEX_API_KEY',
    'CODEX_HOME',
  ],
  fixedEnvironment: {},
  login: {
    variables: ['CODEX_API_KEY'], // OPENAI_API_KEY counts only where a provider of the user's own names it
    files: ['.codex/auth.json'],
    command: 'codex login',
  },
  account,
  launch,
  withTools,
  reader: () => codexReader(),
  hooks: {
    file: { path: '.codex/hooks.json', folderVariable: 'CODEX_HOME', inFolder: 'hooks.json' },
    projectFile: '.codex/hooks.json',
    events: ['Stop'],
    timeoutUnitMs: 1_000,
    sessionVariable: 'CODEX_THREAD_ID',
    beware:
      'Codex calls a hook only after you have trusted it: start codex once and say yes when it asks about its hooks; until then it is not called, and nothing says so.',
  },
};

/** What it takes where nobody names a model (seen with 0.166.0). */
const defaultModel = 'gpt-6.1-sol';

/** By its arguments, its profile, its settings. A provider of the user's own may be paid in any way. */
function account({ environment, args, text, json }: OwnPlace): Account {
  const folder = environment['CODEX_HOME'] || '.codex';
  const settings = tomlTexts(text(`${folder}/config.toml`) ?? '');
  const overrides = tomlTexts(valuesOf(args, '-c', '--config').join('\n'));
  const profile = valuesOf(args, '-p', '--profile').at(-1) ?? settings.get('profile') ?? '';
  const found = (key: string): string | undefined =>
    overrides.get(key) ?? settings.get(`profiles.${profile}.${key}`) ?? settings.get(key);
  const typed = valuesOf(args, '-m', '--model').at(-1) ?? overrides.get('model');
  const written = found('model');
  const from = typed === undefined ? (written === undefined ? 'its default' : 'its config.toml') : '--agent-args';
  const model = { name: typed ?? written ?? defaultModel, from };
  const isOwnProvider = !['openai', undefined].includes(found('model_provider'));
  if (isOwnProvider) return { model };
  return { model, ...billingOf(environment, json(`${folder}/auth.json`, ['auth_mode'])) };
}

/** A key in the environment goes before the login; a login by key is billed, one by ChatGPT is not. */
function billingOf(environment: OwnPlace['environment'], login: Fields): Pick<Account, 'billing' | 'billedInstead'> {
  const mode = textOf(login['auth_mode']) || (login['OPENAI_API_KEY'] == null ? '' : 'apikey');
  const isChatGpt = mode.startsWith('chatgpt') || (mode === '' && login['tokens'] !== undefined);
  if ((environment['CODEX_API_KEY'] ?? '') !== '')
    return { billing: 'paid', billedInstead: isChatGpt ? 'CODEX_API_KEY' : undefined };
  if (isChatGpt) return { billing: 'subscription' };
  return { billing: mode === '' ? undefined : 'paid' };
}

/** `-m x`, `--model x` and `--model=x`. */
function valuesOf(args: readonly string[], ...names: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => {
    const name = names.find(one => word === one || word.startsWith(`${one}=`));
    if (name === undefined) return [];
    return word === name ? (args[at + 1] ?? []) : word.slice(name.length + 1);
  });
}

const tableLine = /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/;
const textLine = /^\s*([\w."'-]+)\s*=\s*(?:"([^"\\]*)"|'([^']*)'|([\w.:/-]+))\s*(?:#.*)?$/;
const bareKey = (key: string): string => key.replaceAll(/["'\s]/g, '');

/** The short texts of a TOML file by their dotted keys; what it says in several lines is passed over. */
export function tomlTexts(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let table = '';
  let isInside = false;
  for (const line of text.split(/\r?\n/)) {
    const fences = line.split(/"{3}|'{3}/).length - 1;
    if (fences % 2 === 1) isInside = !isInside;
    if (isInside || fences > 0) continue;
    const opened = tableLine.exec(line);
    if (opened !== null) table = `${bareKey(opened[1] ?? '')}.`;
    const [, key, basic, literal, bare] = textLine.exec(line) ?? [];
    const value = basic ?? literal ?? bare;
    if (key !== undefined && value !== undefined) found.set(`${table}${bareKey(key)}`, value);
  }
  return found;
}

/**
 * Its retries cannot be set: it refuses to start when the settings of a built-in provider are changed. It has no `systemFlags`:
 * `developer_instructions` would take the place of what the user has set there (seen with 0.166.0).
 */
function launch(order: LaunchOrder): Launch {
  const always = ['--dangerously-bypass-approvals-and-sandbox', '-c', 'analytics.enabled=false', ...modelArgs(order)];
  if (order.openingPrompt !== undefined) return { args: [...always, ...order.args, order.openingPrompt], input: '' };
  const args = ['exec', '--json', '--skip-git-repo-check', ...always, '-', ...order.args];
  return { args, input: order.prompt };
}

/** One table of its settings, for this run; `env_vars` are passed on, which it does with nothing else of ours. */
function withTools(launch: Launch, { command, args, environment }: ToolOrder): Launch {
  const [program, words, names] = [command, args, Object.keys(environment)].map(one => JSON.stringify(one));
  const table = `mcp_servers.ralph={command=${program},args=${words},env_vars=${names}}`;
  return { ...launch, args: ['-c', table, ...launch.args] };
}

const reconnectMsMax = 120_000;
const ignored = new Set(['turn.started', 'item.updated']);
/** Items that are words, not work. */
const wordy = new Set(['agent_message', 'reasoning', 'error', 'todo_list']);
const countNames = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cached_input_tokens',
  cacheWrite: 'cache_write_input_tokens',
};

export function codexReader(now: () => number = Date.now): Reader {
  const answer = openAnswer();
  let reconnectingSince: number | undefined;

  /** Without a network it says that it reconnects for ever: after a while that is its last word. */
  function readError(event: Fields): undefined {
    const words = textOf(event['message']);
    if (!words.startsWith('Reconnecting')) return;
    reconnectingSince ??= now();
    answer.problem = codexProblem(words);
    answer.finished = now() - reconnectingSince >= reconnectMsMax;
  }

  function readItem(item: Fields, phase: 'began' | 'ended'): readonly AgentEvent[] | undefined {
    const type = textOf(item['type']);
    if (type === 'agent_message' && phase === 'ended') {
      const text = textOf(item['text']);
      answer.begin(text);
      return [{ type: 'text', text: `${text}\n` }];
    }
    if (wordy.has(type)) return undefined;
    const detail = detailOf(item) || detailOf(item['arguments']);
    return [{ type: 'tool', name: textOf(item['tool']) || type, detail, phase }];
  }

  function finish(problem: StreamProblem | undefined): undefined {
    answer.finished = true;
    answer.problem = problem;
  }

  const read = readByType(
    {
      error: readError,
      'thread.started': event => sessionOpened(event['thread_id']),
      'item.started': event => readItem(fieldsOf(event['item']), 'began'),
      'item.completed': event => readItem(fieldsOf(event['item']), 'ended'),
      'turn.completed'(event) {
        finish(undefined);
        return [{ type: 'usage', tokens: withoutCache(tokensIn(fieldsOf(event['usage']), countNames)) }];
      },
      'turn.failed': event => finish(codexProblem(textOf(fieldsOf(event['error'])['message']))),
    },
    type => ignored.has(type),
  );

  return {
    read(event) {
      if (event['type'] !== 'error') {
        if (!answer.finished) answer.problem = undefined;
        reconnectingSince = undefined;
      }
      return read(event);
    },
    result: answer.result,
  };
}

// Names what Codex says went wrong. It has only words for it, but they are its own: no model and no file wrote them.

const wordsMax = 4_000;

function codexProblem(words: string): StreamProblem {
  const text = words.slice(0, wordsMax);
  const status = /\bstatus:? (\d{3})\b/.exec(text)?.[1];
  return { status: status === undefined ? undefined : Number(status), text: readable(text) || 'the turn failed' };
}

/** Some errors are the raw body of the answer. */
function readable(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    return textOf(fieldsOf(fieldsOf(JSON.parse(text))['error'])['message']) || text;
  } catch {
    return text;
  }
}
