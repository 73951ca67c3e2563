// Claude Code: prompt and notes as lines of JSON on its stdin, which stays open so that it can be steered and interrupted.

import type { LimitWindow } from '../../core/event.ts';
import type { FailureKind } from '../../core/failure.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type {
  Account,
  AgentCli,
  AgentEvent,
  Cloud,
  Launch,
  LaunchOrder,
  OwnPlace,
  Reader,
  StreamProblem,
  ToolOrder,
} from '../agent.ts';
import { anthropicKinds } from '../failures.ts';
import {
  anthropicVariables,
  bedrockVariables,
  foundryVariables,
  modelArgs,
  named,
  networkVariables,
  systemFile,
  vertexVariables,
} from '../launch.ts';
import {
  nothing,
  openMessage,
  openPermissions,
  type PermissionRules,
  readBlocks,
  readByType,
  sessionOpened,
  toolBegan,
  toolEnded,
} from '../reader.ts';
import { trackMessages } from '../usage.ts';

const clouds: readonly Cloud[] = [
  { switch: 'CLAUDE_CODE_USE_BEDROCK', variables: bedrockVariables },
  { switch: 'CLAUDE_CODE_USE_VERTEX', variables: vertexVariables },
  { switch: 'CLAUDE_CODE_USE_FOUNDRY', variables: foundryVariables },
];

/** Tried with claude 2.1.325. */
export const claude: AgentCli = {
  name: 'claude',
  program: 'claude',
  proof: 'live',
  can: { steer: true, resume: false, interactive: true, usage: true },
  install: 'npm install -g @anthropic-ai/claude-code',
  cost: 'agent',
  namesModel: true,
  vendor: 'anthropic',
  chosenFor: ['work', 'judge'],
  beware:
    'An `ANTHROPIC_API_KEY` in your environment is billed instead of your subscription: the card says which login is used. Its tools run in sessions of their own, so a plain kill leaves them; Ralph ends them too. It may give several results in one run; the last one counts.',
  environment: [
    ...networkVariables,
    ...anthropicVariables,
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
  ],
  clouds,
  fixedEnvironment: {
    CLAUDE_CODE_MAX_RETRIES: '1', // it tries ten times by default, for minutes
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  },
  login: {
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
    command: 'claude /login',
  },
  account,
  firstQuestions,
  systemFlags: ['--append-system-prompt', '--system-prompt'],
  launch,
  withTools,
  reader: claudeReader,
  steering: { say: userLine, interrupt: () => interruptLine },
  hooks: {
    file: { path: '.claude/settings.json', folderVariable: 'CLAUDE_CONFIG_DIR', inFolder: 'settings.json' },
    projectFile: '.claude/settings.json',
    events: ['Stop', 'StopFailure'],
    timeoutUnitMs: 1_000,
    takesArguments: true,
    sessionVariable: 'CLAUDE_CODE_SESSION_ID',
    cap: { turns: 8, variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP' },
  },
};

/** Each is billed instead of a subscription that is logged in; the first that is set wins. */
const payingVariables = [...clouds.map(cloud => cloud.switch), 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** Its settings may set variables, too. On a Mac the login is in the keychain: then the stream tells. */
function account({ environment, json }: OwnPlace): Account {
  const folder = environment['CLAUDE_CONFIG_DIR'] || '.claude';
  const settings = json(`${folder}/settings.json`, []);
  const set: Fields = { ...environment, ...fieldsOf(settings['env']), apiKeyHelper: settings['apiKeyHelper'] };
  const isSet = (name: string): boolean => (set[name] ?? '') !== '';
  const paying = [...payingVariables, 'apiKeyHelper'].find(isSet);
  const { claudeAiOauth } = json(`${folder}/.credentials.json`, []);
  const isLoggedIn = isSet('CLAUDE_CODE_OAUTH_TOKEN') || fieldsOf(claudeAiOauth)['accessToken'] !== undefined;
  if (paying !== undefined) return { billing: 'paid', billedInstead: isLoggedIn ? paying : undefined };
  return { billing: isLoggedIn ? 'subscription' : undefined };
}

/** Seen with 2.1.325. Where it is only to print, it asks none of them. */
function firstQuestions({ environment, json }: OwnPlace, directory: string): readonly string[] {
  const folder = environment['CLAUDE_CONFIG_DIR'];
  const known = json(`${folder ? `${folder}/` : ''}.claude.json`, []);
  const isTrusted = (path: string): boolean =>
    fieldsOf(fieldsOf(known['projects'])[path])['hasTrustDialogAccepted'] === true;
  const above = directory.split('/').map((_name, at, names) => names.slice(0, at + 1).join('/') || '/');
  const approved = listOf(fieldsOf(known['customApiKeyResponses'])['approved']);
  const { skipDangerousModePermissionPrompt: isWarned } = json(`${folder || '.claude'}/settings.json`, []);
  const asked: readonly (readonly [boolean, string])[] = [
    [
      known['hasCompletedOnboarding'] !== true,
      'It is set up for the first time (colors, login), which needs the network.',
    ],
    [
      !above.some(isTrusted),
      'Whether you trust this folder: "No, exit" is selected; choose "Yes, I trust this folder".',
    ],
    [
      (environment['ANTHROPIC_API_KEY'] ?? '') !== '' && approved.length === 0,
      'Whether to use ANTHROPIC_API_KEY: choose "Yes" to have it billed.',
    ],
    [
      isWarned !== true,
      'Whether you accept bypassing its permissions: "No, exit" is selected; choose "Yes, I accept".',
    ],
  ];
  return asked.flatMap(([isDue, words]) => (isDue ? [words] : []));
}

const interruptLine = `${JSON.stringify({
  type: 'control_request',
  request_id: 'ralph-interrupt',
  request: { subtype: 'interrupt' },
})}\n`;

function launch(order: LaunchOrder): Launch {
  const always = ['--dangerously-skip-permissions', ...modelArgs(order)];
  const environment: Record<string, string> = order.isRoot ? { IS_SANDBOX: '1' } : {}; // as root it refuses that flag otherwise
  if (order.openingPrompt !== undefined) {
    return { args: [...always, ...order.args, order.openingPrompt], input: '', environment };
  }
  const headless = ['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  const system = systemFile(order);
  const more = system === undefined ? [] : ['--append-system-prompt-file', system.path];
  const args = [...headless, '--include-partial-messages', ...always, ...more, ...order.args];
  return { args, input: userLine(order.prompt), files: system?.files, environment };
}

/** Servers of this file come beside those of its user's own settings (`--strict-mcp-config` would take those away). */
function withTools(launch: Launch, { command, args, folder, ...order }: ToolOrder): Launch {
  // Never behind its search for tools: an agent that has to look for the tools would not know of them.
  const ralph = { command, args, env: named(order, name => `\${${name}}`), alwaysLoad: true };
  const files = { ...launch.files, 'mcp.json': JSON.stringify({ mcpServers: { ralph } }) };
  const more = ['--mcp-config', `${folder}/mcp.json`, '--allowedTools', 'mcp__ralph']; // beside what its user allows, in every mode
  return { ...launch, args: [...more, ...launch.args], files };
}

function userLine(text: string): string {
  const message = { role: 'user', content: [{ type: 'text', text }] };
  return `${JSON.stringify({ type: 'user', message, parent_tool_use_id: null, session_id: '' })}\n`;
}

// The reader of stream-json: what is said, done and used, and why it ended.

const noTrouble: Trouble = {};
const deltaStart = '{"type":"stream_event","event":{"type":"content_block_delta"';
const deltaType = '"delta":{"type":"';

/** Of the many pieces of a message only those of its text are read. */
function skips(line: string): boolean {
  if (!line.startsWith(deltaStart)) return false;
  const at = line.indexOf(deltaType, deltaStart.length);
  return at >= 0 && !line.startsWith('text_delta"', at + deltaType.length);
}

const isMain = (event: Fields): boolean => event['parent_tool_use_id'] == null;

function toolsEnded(event: Fields): readonly AgentEvent[] {
  const { content } = fieldsOf(event['message']);
  return readBlocks(content, ({ type }) => (type === 'tool_result' ? toolEnded : nothing));
}

/**
 * What it left at work in the background. When a subagent ends or a monitor sees something, it hears of it and speaks again:
 * its last word is yet to come. A shell that it began may be a server, for whose end nobody waits.
 */
function trackBackground() {
  let tasks: readonly Fields[] = [];
  const monitorCalls = new Set<unknown>();
  const monitors = new Set<unknown>();
  const isShell = (task: Fields): boolean => task['task_type'] === 'local_bash' && !monitors.has(task['task_id']);
  return {
    called(event: Fields): void {
      for (const block of listOf(fieldsOf(event['message'])['content'])) {
        const { name, id } = fieldsOf(block);
        if (name === 'Monitor') monitorCalls.add(id);
      }
    },
    started(event: Fields): void {
      if (monitorCalls.has(event['tool_use_id'])) monitors.add(event['task_id']);
    },
    changed(event: Fields): void {
      tasks = listOf(event['tasks']).map(fieldsOf);
    },
    waits: (): boolean => tasks.some(task => !isShell(task)),
    leaves: (): boolean => tasks.some(isShell),
  };
}

/** After a result it may begin a turn by itself, for a note that came late or a task that ended: that was not its last. */
function trackTurns() {
  let trouble = noTrouble;
  let result: Fields | undefined;
  let hasBegun = false;
  let isByKey = false;
  /** A message comes: what was in its way is so no longer, but for a limit. */
  function goesOn(byMain: boolean): void {
    trouble = trouble.rejected === undefined ? noTrouble : { rejected: trouble.rejected };
    if (byMain) result = undefined;
  }
  return {
    goesOn,
    /** `init`: one comes before each turn. "none" is said of a gateway's token, too: only limits show a subscription. */
    began(keySource: string): readonly AgentEvent[] {
      if (hasBegun) goesOn(true);
      hasBegun = true;
      isByKey = keySource !== '' && keySource !== 'none';
      return isByKey ? [{ type: 'billing', by: 'paid' }] : nothing;
    },
    hadTrouble(more: Trouble) {
      trouble = { ...trouble, ...more };
    },
    ended(event: Fields) {
      result = event;
    },
    /** Only a limit that is reached: the reset of a window that still allows work says nothing about a later refusal. */
    readLimit(info: Fields): readonly AgentEvent[] {
      const facts = accountFacts(info, isByKey);
      if (info['status'] !== 'rejected') return facts;
      trouble = { ...trouble, rejected: info };
      const resetAtMs = resetOf(info);
      const detail = `${textOf(info['rateLimitType']) || 'limit'}: used up`;
      return resetAtMs === undefined ? facts : [...facts, { type: 'limit', resetAtMs, detail }];
    },
    /** That of the last turn, while no other has begun. */
    result: () => result,
    problem: () => claudeProblem(result, trouble),
  };
}

const permissionRules: PermissionRules = {
  asking: ['default', 'manual', 'dontAsk'],
  never: ['plan'],
  allowing: ['--allowedTools', '--allowed-tools', '--permission-prompt-tool', '--settings'],
  hint: "Its settings forbid bypassPermissions (permissions.disableBypassPermissionsMode): type --agent-args '--permission-mode acceptEdits', or --agent-args '--allowedTools Edit,Write,Bash'.",
};

export function claudeReader({ args }: Pick<LaunchOrder, 'args'> = { args: [] }): Reader {
  const permissions = openPermissions(permissionRules, args);
  const usage = trackMessages();
  const words = trackText();
  const turns = trackTurns();
  const background = trackBackground();

  function readPiece(event: Fields): readonly AgentEvent[] {
    const piece = fieldsOf(event['event']);
    if (piece['type'] === 'message_start') turns.goesOn(isMain(event));
    const counted = usage.read(event, piece);
    if (counted !== undefined) return counted;
    return isMain(event) ? words.readPiece(event['api_message_id'] ?? usage.mainId(), piece) : nothing;
  }

  /** Where the model could not answer, claude writes a message itself. */
  function readMessage(event: Fields): readonly AgentEvent[] {
    const isOwn = fieldsOf(event['message'])['model'] === '<synthetic>' || event['is_api_error_message'] === true;
    if (isOwn) turns.hadTrouble({ failed: event });
    else turns.goesOn(isMain(event));
    background.called(event);
    return words.readWhole(event, isOwn);
  }

  function readSystem(event: Fields): readonly AgentEvent[] | undefined {
    if (event['subtype'] === 'init') {
      const paid = turns.began(textOf(event['apiKeySource']));
      return [...sessionOpened(event['session_id']), ...paid, ...permissions(event['permissionMode'])];
    }
    if (event['subtype'] === 'status') return permissions(event['permissionMode']);
    if (event['subtype'] === 'background_tasks_changed') background.changed(event);
    if (event['subtype'] === 'task_started') background.started(event);
    if (event['subtype'] === 'api_retry') turns.hadTrouble({ retried: event });
    return undefined;
  }

  return {
    skips,
    read: readByType({
      stream_event: readPiece,
      assistant: readMessage,
      user: toolsEnded,
      system: readSystem,
      result(event) {
        turns.ended(event);
        return usage.readResult(event);
      },
      rate_limit_event: event => turns.readLimit(fieldsOf(event['rate_limit_info'])),
      control_response: () => undefined,
    }),
    result() {
      const result = turns.result();
      const problem = turns.problem();
      const message = (): string => (problem === undefined && textOf(result?.['result'])) || words.last();
      const waits = result !== undefined && background.waits();
      return { finished: result !== undefined && !waits, waits, leaves: background.leaves(), problem, message };
    },
  };
}

// What went wrong: its codes name it first, the HTTP status next, words never.

/** What is known of a failure before the result. */
interface Trouble {
  /** The message that claude wrote in the model's place. */
  readonly failed?: Fields;
  /** Its last attempt to try again by itself. */
  readonly retried?: Fields;
  /** What the provider said about a limit that is used up. */
  readonly rejected?: Fields;
}

function claudeProblem(result: Fields | undefined, trouble: Trouble): StreamProblem | undefined {
  if (result === undefined) {
    const last = trouble.failed ?? trouble.retried;
    return last === undefined ? undefined : problemOf(last, {}, trouble);
  }
  const isError = result['is_error'] === true || textOf(result['subtype']).startsWith('error');
  return isError ? problemOf(result, trouble.failed ?? {}, trouble) : undefined;
}

function problemOf(main: Fields, failed: Fields, { rejected, retried }: Trouble): StreamProblem {
  // In this order: the first that is known names it.
  const codes = [
    main['terminal_reason'],
    main['api_error'],
    failed['api_error'],
    failed['error'],
    main['error'],
    main['api_error_type'],
  ];
  const status = [main, failed, { api_error_status: retried?.['error_status'] }]
    .map(each => each['api_error_status'])
    .find(value => typeof value === 'number');
  const named = codes.map(code => anthropicKinds.get(code)).find(kind => kind !== undefined);
  const kind = named ?? (status === undefined ? unnamed(codes, main) : undefined);
  const resetAtMs = kind === 'rate-limit' ? resetOf(rejected) : undefined;
  return { kind, status, resetAtMs, text: wordsOf(main, failed) };
}

/** Neither a code that we know nor a status: no answer came, or it was claude itself that gave up. */
function unnamed(codes: readonly unknown[], main: Fields): FailureKind | undefined {
  if (codes.includes('server_error')) return 'connection';
  return textOf(main['subtype']).startsWith('error') ? 'process' : undefined;
}

function wordsOf(main: Fields, failed: Fields): string {
  const content = listOf(fieldsOf(failed['message'] ?? main['message'])['content']);
  const written = content.map(block => textOf(fieldsOf(block)['text'])).join(' ');
  const errors = listOf(main['errors']).filter(each => typeof each === 'string');
  const code = textOf(main['error']) || textOf(main['subtype']) || 'no reason given';
  return textOf(main['result']) || errors.join('; ') || written || `ended with an error: ${code}`;
}

/** Work goes on when the last of the windows that are used up is reset. */
function resetOf(info: Fields | undefined): number | undefined {
  const used = windowsOf(info ?? {}).filter(one => one.isUsedUp);
  const resets = [timeOf(info?.['resetsAt']), ...used.map(one => one.resetAtMs)].filter(at => at !== undefined);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

/** Given in seconds since 1970. */
const timeOf = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1_000 : undefined;

/** As many as the provider reports, under its own names: some plans have none. */
function windowsOf(info: Fields): readonly LimitWindow[] {
  return Object.entries(fieldsOf(info['unifiedWindows'])).map(([name, value]) => {
    const { utilization, resetsAt, status } = fieldsOf(value);
    const usedFraction = typeof utilization === 'number' && utilization >= 0 ? utilization : undefined;
    return { name, usedFraction, resetAtMs: timeOf(resetsAt), isUsedUp: status === 'rejected' };
  });
}

/** Told of a subscription alone (seen with 2.1.325: neither with a key nor with a gateway's token); beyond it, it is billed. */
function accountFacts(info: Fields, isByKey: boolean): readonly AgentEvent[] {
  const by = isByKey || info['isUsingOverage'] === true ? 'paid' : 'subscription';
  return [
    { type: 'billing', by },
    { type: 'windows', windows: windowsOf(info) },
  ];
}

/** Its text, once, although it comes in pieces and then whole; and only that of the main thread. */
function trackText() {
  const message = openMessage();
  let messageId: unknown;
  /** The message whose text came in pieces: it comes whole once more. */
  let idInPieces: unknown;
  let isTextOpen = false;

  function add(id: unknown, text: string): void {
    if (id !== messageId) message.begin();
    messageId = id;
    message.add(text);
  }

  function readBlock(block: Fields, id: unknown, isOwn: boolean): readonly AgentEvent[] {
    const text = `${textOf(block['text'])}\n`;
    if (!isOwn) add(id ?? block, text);
    return [{ type: 'text', text }];
  }

  return {
    /** The last message that has text. */
    last: () => message.text().trimEnd(),
    /** A part of a message that is being written. */
    readPiece(id: unknown, piece: Fields): readonly AgentEvent[] {
      const text = piece['type'] === 'content_block_delta' ? textOf(fieldsOf(piece['delta'])['text']) : '';
      if (text !== '') {
        idInPieces = id;
        isTextOpen = !text.endsWith('\n');
        add(id, text);
        return [{ type: 'text', text }];
      }
      if (!isTextOpen || piece['type'] !== 'content_block_stop') return nothing;
      isTextOpen = false;
      message.add('\n');
      return [{ type: 'text', text: '\n' }];
    },
    /** A whole block: text that did not come in pieces, and tools. */
    readWhole(event: Fields, isOwn: boolean): readonly AgentEvent[] {
      const { id, content } = fieldsOf(event['message']);
      const isNew = isMain(event) && (id === undefined || id !== idInPieces);
      return readBlocks(content, block => {
        if (block['type'] === 'tool_use') return toolBegan(block['name'], block['input']);
        return block['type'] === 'text' && isNew ? readBlock(block, id, isOwn) : nothing;
      });
    },
  };
}
