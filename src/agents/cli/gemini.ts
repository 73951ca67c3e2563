// Gemini CLI: one headless turn with the prompt on stdin; its text comes in pieces and its exit code says nothing.

import { troubleIn } from '../../messages/provider-words.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem, Tokens, ToolOrder } from '../agent.ts';
import { resetIn } from '../failures.ts';
import { modelArgs, named, networkVariables } from '../launch.ts';
import { openAnswer, readByType, sessionOpened } from '../reader.ts';

/** Tried with gemini 0.61.0. */
export const gemini: AgentCli = {
  name: 'gemini',
  program: 'gemini',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g @google/gemini-cli',
  cost: 'tokens',
  namesModel: true,
  vendor: 'google',
  chosenFor: ['work', 'judge'],
  beware:
    'Its text comes in pieces, which are joined before anything is read from them. Its exit code is an HTTP status cut short and means nothing. Ralph sets its retries to one, unless your own settings say otherwise. For the tools of Ralph it gets a home in which all is linked to yours (`GEMINI_CLI_HOME`), since it takes servers from nowhere else: a file that it makes anew at the top of `~/.gemini` in a run is gone after it.',
  environment: [
    ...networkVariables,
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GEMINI_BASE_URL',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GEMINI_CLI_HOME',
    'GEMINI_MODEL',
  ],
  fixedEnvironment: {
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true', // its wrapper does not pass on a TERM
  },
  login: {
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    files: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json'],
    command: 'gemini',
    missing: ['Please set an Auth method', 'Invalid auth method selected'],
    missingCode: 41,
  },
  launch,
  withTools,
  reader: geminiReader,
  hooks: {
    file: { path: '.gemini/settings.json', folderVariable: 'GEMINI_CLI_HOME', inFolder: '.gemini/settings.json' },
    projectFile: '.gemini/settings.json',
    events: ['AfterAgent'],
    timeoutUnitMs: 1,
    alsoNeeds: { hooksConfig: { enabled: true } },
    sessionVariable: 'GEMINI_SESSION_ID',
  },
};

/**
 * Its retries cannot be set from here: it reads settings only from HOME, the project, and files of root's below folders of
 * root's. It tells of them on stderr alone, so they are counted there (`onErrorLine`).
 */
function launch(order: LaunchOrder): Launch {
  const always = ['--yolo', ...modelArgs(order), ...order.args];
  if (order.openingPrompt !== undefined) {
    return { args: [...always, '--prompt-interactive', order.openingPrompt], input: '' };
  }
  return { args: ['--output-format', 'stream-json', ...always], input: order.prompt };
}

/**
 * It takes servers from settings and extensions alone, and both from its home: so it gets one in which all is linked to its
 * user's own, and one extension more. (Files for a whole system it reads only where nobody but root can write.)
 */
function withTools(launch: Launch, { command, args, folder, visible, ...order }: ToolOrder): Launch {
  const home = visible['GEMINI_CLI_HOME'] || visible['HOME'];
  if (home === undefined) return launch;
  const [own, extensions] = ['home/.gemini', 'home/.gemini/extensions'];
  const ralph = { command, args, env: named(order, name => `$${name}`) };
  const extension = { name: 'ralph', version: '1.0.0', mcpServers: { ralph } };
  return {
    ...launch,
    files: { ...launch.files, [`${extensions}/ralph/gemini-extension.json`]: JSON.stringify(extension) },
    linked: { home, [own]: `${home}/.gemini`, [extensions]: `${home}/.gemini/extensions` },
    environment: { ...launch.environment, GEMINI_CLI_HOME: `${folder}/home` },
  };
}

export function geminiReader(): Reader {
  const answer = openAnswer();
  let isMessageOver = false;

  function readMessage(event: Fields): readonly AgentEvent[] | undefined {
    const text = textOf(event['content']);
    if (event['role'] !== 'assistant') isMessageOver = true;
    if (event['role'] !== 'assistant' || text === '') return undefined;
    if (isMessageOver || event['delta'] !== true) answer.begin();
    isMessageOver = event['delta'] !== true;
    answer.add(text);
    return [{ type: 'text', text: isMessageOver ? `${text}\n` : text }];
  }

  function readTool(event: Fields, phase: 'began' | 'ended'): readonly AgentEvent[] {
    isMessageOver = true;
    return [{ type: 'tool', name: textOf(event['tool_name']), detail: detailOf(event['parameters']), phase }];
  }

  return {
    read: readByType({
      message: readMessage,
      tool_use: event => readTool(event, 'began'),
      tool_result: event => readTool(event, 'ended'),
      init: event => sessionOpened(event['session_id']),
      error: () => undefined,
      result(event) {
        answer.finished = true;
        answer.problem = event['status'] === 'success' ? undefined : geminiProblem(fieldsOf(event['error']));
        return readStats(fieldsOf(event['stats']));
      },
    }),
    onErrorLine(line) {
      if (answer.finished) return;
      answer.problem = retriesInVain(line);
      answer.finished = answer.problem !== undefined;
    },
    result: answer.result,
  };
}

function readStats(stats: Fields): readonly AgentEvent[] {
  const byModel = Object.entries(fieldsOf(stats['models']));
  if (byModel.length === 0) return [{ type: 'usage', tokens: tokensOf(stats) }];
  return byModel.map(([model, counts]) => ({ type: 'usage', tokens: tokensOf(fieldsOf(counts)), model }));
}

/** `input_tokens` includes what came from a cache; the total includes thoughts, which the output does not. */
function tokensOf(counts: Fields): Tokens {
  const cacheRead = countOf(counts['cached']);
  const all = countOf(counts['input_tokens']);
  const output = Math.max(countOf(counts['output_tokens']), countOf(counts['total_tokens']) - all);
  return { input: Math.max(0, all - cacheRead), output, cacheRead, cacheWrite: 0 };
}

// Names what Gemini CLI says went wrong: the code in the provider's answer where it is there, else the CLI's own words.

const wordsMax = 4_000;

function geminiProblem(error: Fields): StreamProblem {
  const text = textOf(error['message']).slice(0, wordsMax);
  const answer = answerIn(text);
  const code = answer['code'] ?? error['code'];
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined;
  return { status, text: textOf(answer['message']) || text || 'ended with an error', full: text };
}

const attemptsMax = 3; // with its own waits in between that is about a quarter of a minute
const waitMsMax = 60_000; // a longer wait is ours, not a silent agent's

/** `Attempt 3 failed with status 503. Retrying with backoff…`, `Attempt 3 failed. Retrying … fetch failed` */
function retriesInVain(line: string): StreamProblem | undefined {
  const found = /^Attempt (\d{1,3}) failed(?: with status (\d{3}))?/.exec(line);
  if (found === null) return undefined;
  const status = found[2] === undefined ? undefined : Number(found[2]);
  const said = geminiProblem({ message: line.slice(0, wordsMax), type: '' });
  const isLong = (resetIn(line, 0) ?? 0) > waitMsMax;
  if (Number(found[1]) < attemptsMax && !isLong) return undefined;
  const text = `gave up after attempt ${found[1]}: ${said.text.slice(0, 300)}`;
  const kind = status === undefined && troubleIn(said.text) === undefined ? 'connection' : undefined;
  return { ...said, kind, status: status ?? said.status, text };
}

/** `[API Error: {"error":{"code":401,…}}]` */
function answerIn(text: string): Fields {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return {};
  try {
    return fieldsOf(fieldsOf(JSON.parse(text.slice(from, to + 1)))['error']);
  } catch {
    return {};
  }
}
