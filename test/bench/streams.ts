// Makes long streams in the format of each agent: what it says in small pieces, tool calls, and results of 1 to 50 kB.
import { closeSync, openSync, writeSync } from 'node:fs';
import { random } from '../simulate/random.ts';

/** What happens in one turn of any agent; a format puts it into its own events. */
interface Turn {
  readonly at: number;
  /** The words of the agent, as they come. */
  readonly pieces: readonly string[];
  readonly words: string;
  /** Thoughts, in pieces too. */
  readonly thoughts: readonly string[];
  readonly command: string;
  readonly result: string;
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
}

export interface Expected {
  readonly bytes: number;
  readonly lines: number;
  readonly turns: number;
  /** Characters that the agent said, without the line ends that an adapter may add. */
  readonly chars: number;
  /** Of all bytes, those in lines of more than 1 kB. */
  readonly longShare: number;
}

type Format = (turn: Turn) => readonly unknown[];

const session = '5e551000-0000-4000-8000-000000000001';
const stamp = '2026-11-15T07:25:44.300Z';
const uuid = (turn: Turn, part: number): string =>
  `${String(turn.at).padStart(8, '0')}-${String(part).padStart(4, '0')}-4000-8000-000000000000`;

const claude: Format = turn => {
  const id = `msg_${turn.at}`;
  const { input, output, cached } = turn.usage;
  let part = 0;
  const piece = (event: unknown): unknown => {
    part += 1;
    const rest = { session_id: session, parent_tool_use_id: null, uuid: uuid(turn, part), api_message_id: id };
    return { type: 'stream_event', event, ...rest };
  };
  const delta = (index: number, of: unknown): unknown => piece({ type: 'content_block_delta', index, delta: of });
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: 1,
  };
  const message = { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: null, usage };
  const whole = (block: unknown): unknown => ({
    type: 'assistant',
    message: { ...message, content: [block], context_management: null },
    parent_tool_use_id: null,
    session_id: session,
    uuid: uuid(turn, 9_000),
  });
  const call = { type: 'tool_use', id: `toolu_${turn.at}`, name: 'Bash', input: { command: turn.command } };
  const said = JSON.stringify(call.input);
  const middle = said.length >> 1;
  return [
    piece({ type: 'message_start', message: { ...message, content: [] } }),
    piece({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } }),
    ...turn.thoughts.map(thinking => delta(0, { type: 'thinking_delta', thinking })),
    piece({ type: 'content_block_stop', index: 0 }),
    piece({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
    ...turn.pieces.map(text => delta(1, { type: 'text_delta', text })),
    whole({ type: 'text', text: turn.words }),
    piece({ type: 'content_block_stop', index: 1 }),
    piece({ type: 'content_block_start', index: 2, content_block: { ...call, input: {} } }),
    delta(2, { type: 'input_json_delta', partial_json: said.slice(0, middle) }),
    delta(2, { type: 'input_json_delta', partial_json: said.slice(middle) }),
    whole(call),
    piece({ type: 'content_block_stop', index: 2 }),
    piece({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { ...usage, output_tokens: output },
    }),
    piece({ type: 'message_stop' }),
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ tool_use_id: call.id, type: 'tool_result', content: turn.result, is_error: false }],
      },
      parent_tool_use_id: null,
      session_id: session,
      uuid: uuid(turn, 9_001),
      timestamp: stamp,
      tool_use_result: { stdout: turn.result, stderr: '', interrupted: false, isImage: false, noOutputExpected: false },
    },
  ];
};

const codex: Format = turn => {
  const item = (part: number, fields: object): object => ({ id: `item_${turn.at}_${part}`, ...fields });
  const command = { type: 'command_execution', command: `/bin/bash -lc '${turn.command}'` };
  const list = turn.thoughts.map(text => ({ text, completed: false }));
  return [
    ...turn.thoughts.map((text, at) => ({ type: 'item.completed', item: item(at, { type: 'reasoning', text }) })),
    { type: 'item.updated', item: item(90, { type: 'todo_list', items: list }) },
    { type: 'item.completed', item: item(91, { type: 'agent_message', text: turn.words }) },
    {
      type: 'item.started',
      item: item(92, { ...command, aggregated_output: '', exit_code: null, status: 'in_progress' }),
    },
    {
      type: 'item.completed',
      item: item(92, { ...command, aggregated_output: turn.result, exit_code: 0, status: 'completed' }),
    },
  ];
};

const gemini: Format = turn => [
  ...turn.pieces.map(content => ({ type: 'message', timestamp: stamp, role: 'assistant', content, delta: true })),
  {
    type: 'tool_use',
    timestamp: stamp,
    tool_name: 'run_shell_command',
    tool_id: `run_shell_command_${turn.at}`,
    parameters: { command: turn.command, description: 'what it is for' },
  },
  {
    type: 'tool_result',
    timestamp: stamp,
    tool_id: `run_shell_command_${turn.at}`,
    status: 'success',
    output: turn.result,
  },
];

const opencode: Format = turn => {
  const places = { id: `prt_${turn.at}`, messageID: `msg_${turn.at}`, sessionID: session };
  const event = (type: string, part: object): object => ({
    type,
    timestamp: 1_794_727_922_858 + turn.at,
    sessionID: session,
    part: { ...places, ...part },
  });
  const { input, output, cached } = turn.usage;
  const tokens = {
    total: input + output + cached,
    input,
    output,
    reasoning: 20,
    cache: { write: 0, read: cached },
  };
  return [
    event('step_start', { snapshot: '4b825dc642cb6eb9a060e54bf8d69288fbee4904', type: 'step-start' }),
    ...turn.thoughts.map(text => event('reasoning', { type: 'reasoning', text })),
    event('text', { type: 'text', text: turn.words, time: { start: 1_794_727_922_824, end: 1_794_727_922_854 } }),
    event('tool_use', {
      type: 'tool',
      tool: 'bash',
      callID: `call_${turn.at}`,
      state: {
        status: 'completed',
        input: { command: turn.command },
        output: turn.result,
        metadata: { output: turn.result, exit: 0, truncated: false },
        title: turn.command,
        time: { start: 1_794_727_922_845, end: 1_794_727_922_975 },
      },
    }),
    event('step_finish', { type: 'step-finish', reason: 'tool-calls', tokens, cost: 0.003_96 }),
  ];
};

const pi: Format = turn => {
  const { input, output, cached } = turn.usage;
  const cost = { input: 0.003, output: 0.000_9, cacheRead: 0.000_06, cacheWrite: 0, total: 0.003_96 };
  const usage = { input, output, cacheRead: cached, cacheWrite: 0, reasoning: 20, totalTokens: input + output, cost };
  const update = (event: object): object => ({ type: 'message_update', usage, assistantMessageEvent: event });
  const call = { type: 'toolCall', id: `call_${turn.at}`, name: 'bash', arguments: { command: turn.command } };
  const about = { toolCallId: call.id, toolName: 'bash' };
  const content = [{ type: 'text', text: turn.result }];
  const result = { role: 'toolResult', ...about, content, isError: false, timestamp: 1_794_728_097_611 };
  const message = {
    role: 'assistant',
    content: [{ type: 'text', text: turn.words }, call],
    api: 'openai-completions',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    usage,
    stopReason: 'toolUse',
    timestamp: 1_794_728_097_603,
  };
  return [
    { type: 'turn_start' },
    { type: 'message_start', message: { ...message, content: [] } },
    ...turn.pieces.map(delta => update({ type: 'text_delta', contentIndex: 0, delta })),
    update({ type: 'text_end', contentIndex: 0, content: turn.words }),
    { type: 'message_end', message },
    { type: 'tool_execution_start', ...about, args: { command: turn.command } },
    { type: 'tool_execution_end', ...about, result: { content }, isError: false },
    { type: 'message_start', message: result },
    { type: 'message_end', message: result },
    { type: 'turn_end', message, toolResults: [result] },
  ];
};

const copilot: Format = turn => {
  let part = 0;
  const event = (type: string, data: object, ephemeral = false): object => {
    part += 1;
    const about = { id: uuid(turn, part), timestamp: stamp, parentId: uuid(turn, part - 1) };
    return { type, data, ...(ephemeral ? { ephemeral } : {}), ...about };
  };
  const messageId = uuid(turn, 9_000);
  const call = { toolCallId: `call_${turn.at}`, arguments: { command: turn.command, description: 'what it is for' } };
  const shown = `${turn.result}\n<shellId: 0 completed with exit code 0>`;
  return [
    event('assistant.turn_start', { turnId: String(turn.at) }),
    event('model.call_start', { turnId: String(turn.at), model: 'gpt-5.4' }, true),
    ...turn.thoughts.map(deltaContent => event('assistant.reasoning_delta', { messageId, deltaContent }, true)),
    ...turn.pieces.map(deltaContent => event('assistant.message_delta', { messageId, deltaContent }, true)),
    event('assistant.message', {
      messageId,
      model: 'gpt-5.4',
      content: turn.words,
      toolRequests: [{ ...call, name: 'bash', type: 'function' }],
    }),
    event('tool.execution_start', { ...call, toolName: 'bash', model: 'gpt-5.4', toolTitle: 'Running command' }),
    event('tool.shell_output', { toolCallId: call.toolCallId, stream: 'stdout', text: turn.result }, true),
    event('tool.execution_complete', {
      toolCallId: call.toolCallId,
      model: 'gpt-5.4',
      success: true,
      result: { content: shown, detailedContent: shown },
      toolTelemetry: { metrics: { context_token_limit: 922_000, context_current_tokens: turn.usage.input } },
    }),
    event('assistant.turn_end', { turnId: String(turn.at) }),
  ];
};

const goose: Format = turn => {
  const message = (id: string, role: string, block: object): object => ({
    type: 'message',
    message: {
      id,
      role,
      created: 1_794_728_196,
      content: [block],
      metadata: { userVisible: true, agentVisible: true },
    },
  });
  const id = `chatcmpl-${turn.at}`;
  const value = { name: 'shell', arguments: { command: turn.command } };
  const content = [{ type: 'text', text: turn.result, annotations: { priority: 0 } }];
  const structuredContent = { stdout: turn.result, stderr: '', exit_code: 0 };
  return [
    ...turn.pieces.map(text => message(id, 'assistant', { type: 'text', text })),
    message(id, 'assistant', { type: 'toolRequest', id: `call_${turn.at}`, toolCall: { status: 'success', value } }),
    message(`msg_${turn.at}`, 'user', {
      type: 'toolResponse',
      id: `call_${turn.at}`,
      toolResult: { status: 'success', value: { content, structuredContent, isError: false } },
    }),
  ];
};

const qwen: Format = turn => {
  const { input, output, cached } = turn.usage;
  const usage = { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached };
  const event = (part: number, type: string, message: object): object => ({
    type,
    uuid: uuid(turn, part),
    session_id: session,
    parent_tool_use_id: null,
    message,
  });
  const said = (part: number, block: object, used: object): object =>
    event(part, 'assistant', {
      id: uuid(turn, part),
      type: 'message',
      role: 'assistant',
      model: 'qwen3-coder-plus',
      content: [block],
      stop_reason: null,
      usage: used,
    });
  const call = { type: 'tool_use', id: `call_${turn.at}`, name: 'run_shell_command', input: { command: turn.command } };
  const none = { input_tokens: 0, output_tokens: 0 };
  return [
    ...turn.thoughts.map((thinking, at) => said(at, { type: 'thinking', thinking, signature: '' }, none)),
    said(90, { type: 'text', text: turn.words }, none),
    said(91, call, usage),
    event(92, 'user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call.id, is_error: false, content: turn.result }],
    }),
  ];
};

/** The updates of an ACP session, as opencode sends them. */
const acp: Format = turn => {
  const update = (sessionUpdate: string, fields: object): object => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: session, update: { sessionUpdate, ...fields } },
  });
  const says = (kind: string) => (text: string) =>
    update(kind, { messageId: `msg_${turn.at}`, content: { type: 'text', text } });
  const call = { toolCallId: `call_${turn.at}`, kind: 'execute', title: turn.command };
  const content = [{ type: 'content', content: { type: 'text', text: turn.result } }];
  return [
    ...turn.thoughts.map(says('agent_thought_chunk')),
    ...turn.pieces.map(says('agent_message_chunk')),
    update('tool_call', { ...call, status: 'pending', locations: [], rawInput: { command: turn.command } }),
    update('tool_call_update', { ...call, status: 'in_progress', rawInput: { command: turn.command } }),
    update('tool_call_update', { ...call, status: 'completed', content, rawOutput: { output: turn.result } }),
    update('usage_update', { used: turn.usage.input, size: 200_000, cost: { amount: turn.at, currency: 'USD' } }),
  ];
};

export const formats = { claude, codex, gemini, opencode, pi, copilot, goose, qwen, acp } as const;
export type FormatName = keyof typeof formats;

const plainWords =
  'the parser reads every line once and const keeps what = matters; "quoted" parts, a path/like/this.ts:42 and some\n  indented return value === undefined ? null : tests.map(each => each.name) passed'.split(
    ' ',
  );
const markedWords = [...plainWords, '—', '✓'];

/** The same turns in every run; one in three has characters outside ASCII. */
function turnsOf(count: number): readonly Turn[] {
  const { whole, pick } = random(7);
  const wordsOf = (chars: number, words: readonly string[]): string => {
    let text = '';
    while (text.length < chars) text += `${pick(words)} `;
    return text.slice(0, chars);
  };
  return Array.from({ length: count }, (_, at) => {
    const words = at % 3 === 0 ? markedWords : plainWords;
    const pieces = Array.from({ length: whole(10, 60) }, () => wordsOf(whole(5, 60), words));
    return {
      at,
      pieces,
      words: pieces.join(''),
      thoughts: Array.from({ length: whole(5, 25) }, () => wordsOf(whole(20, 80), words)),
      command: `grep -rn ${wordsOf(30, plainWords)} src | head -${at}`,
      result: wordsOf(Math.round(1_000 * 50 ** (whole(0, 1_000) / 1_000)), words), // as many of 1-7 kB as of 7-50 kB
      usage: { input: 1_000 + at, output: whole(50, 2_000), cached: 10_000 + at },
    };
  });
}

/** Writes at least so many bytes. The same turns come again and again, under new names. */
export function writeStream(name: FormatName, path: string, bytesMin: number): Expected {
  const turns = turnsOf(150);
  const file = openSync(path, 'w');
  let [bytes, longBytes, lines, times] = [0, 0, 0, 0];
  for (; bytes < bytesMin; times += 1) {
    const texts = turns.flatMap(turn =>
      formats[name]({ ...turn, at: times * turns.length + turn.at }).map(event => `${JSON.stringify(event)}\n`),
    );
    lines += texts.length;
    bytes += writeSync(file, texts.join(''));
    longBytes += texts.reduce((sum, text) => sum + (text.length > 1_000 ? Buffer.byteLength(text) : 0), 0);
  }
  closeSync(file);
  const chars = times * turns.reduce((sum, turn) => sum + turn.words.length, 0);
  return { bytes, lines, turns: times * turns.length, chars, longShare: longBytes / bytes };
}
