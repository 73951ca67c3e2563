// Drives opencode: steps that are added up, no last word but a step that stops, and an overflow that it would repeat for ever.

import type { FailureKind } from '../../core/failure.ts';
import { tailOf } from '../../processes/streams.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import {
  type AgentCli,
  type AgentEvent,
  type Launch,
  type LaunchOrder,
  networkVariables,
  providerKeys,
  type Reader,
  type StreamProblem,
  type Tokens,
} from '../agent.ts';
import { resetOf, statusProblem } from '../failures.ts';
import { unknownEvent } from '../stream.ts';
import { openTokenTotals } from '../usage.ts';

const own = ['OPENCODE_API_KEY', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_DISABLE_MODELS_FETCH'];
/** A last layer of its configuration, as a text; lists of the layers below are kept. */
const inlineConfig = 'OPENCODE_CONFIG_CONTENT';

/** Tried with opencode 1.18.33. It takes its prompt from stdin when that is no terminal; its retries cannot be set. */
export const opencode: AgentCli = {
  name: 'opencode',
  program: 'opencode',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  statesCost: true,
  environment: [...networkVariables, ...providerKeys, ...own],
  fixedEnvironment: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_TERMINAL_TITLE: '1',
    OPENCODE_PERMISSION: JSON.stringify({ '*': 'allow' }),
  },
  login: {
    variables: [...providerKeys, 'OPENCODE_API_KEY'],
    files: ['.local/share/opencode/auth.json'],
    command: 'opencode auth login',
  },
  systemFlags: [inlineConfig],
  launch,
  reader: opencodeReader,
};

const messageCharsMax = 1_000_000;
/** It compacts and tries again after each: by then it is a loop (110 in 30 s were seen). */
const overflowsMax = 3;
/** By these its own loop goes on; after every other reason it exits. */
const goesOn: ReadonlySet<string> = new Set(['', 'tool-calls', 'unknown']);
/** An answer that is cut off is none; what it wanted to say fits into a fresh context. */
const badReasons: ReadonlyMap<string, StreamProblem> = new Map([
  ['length', { kind: 'context-too-long', text: 'it ran out of tokens in its answer' }],
  ['content-filter', { kind: 'unknown', text: 'the provider filtered its answer' }],
  ['error', { kind: 'unknown', text: 'its last step ended in an error without words' }],
]);
const nothing: readonly AgentEvent[] = Object.freeze([]);

const systemFile = 'system.md';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  if (order.openingPrompt !== undefined) {
    return { args: [...model, ...order.args, '--prompt', order.openingPrompt], input: '' };
  }
  const { system } = order;
  const place = `${order.folder}/${systemFile}`;
  return {
    args: ['run', '--format', 'json', '--print-logs', '--log-level', 'WARN', ...model, ...order.args],
    input: order.prompt,
    files: system === undefined ? undefined : { [systemFile]: system },
    environment: system === undefined ? undefined : { [inlineConfig]: JSON.stringify({ instructions: [place] }) },
  };
}

function opencodeReader(): Reader {
  const tally = openTokenTotals();
  let message = tailOf(messageCharsMax);
  let stopped = false;
  let overflows = 0;
  /** After an overflow the next step that stops is its own summary, no answer. */
  let isSummarising = false;
  let problem: StreamProblem | undefined;

  function stopStep(reason: string): void {
    if (goesOn.has(reason)) return;
    stopped = !isSummarising;
    isSummarising = false;
    // An overflow is overcome once a step stops; other errors only by a step that stops well.
    const isOvercome = problem === undefined || problem.kind === 'context-too-long' || reason === 'stop';
    if (stopped && isOvercome) problem = badReasons.get(reason);
  }

  function finishStep(part: Fields): readonly AgentEvent[] {
    const counted = tokensOf(fieldsOf(part['tokens']));
    stopStep(textOf(part['reason']));
    const usedTokens = counted.input + counted.output + counted.cacheRead + counted.cacheWrite;
    return [tally.add(counted, undefined, part['cost']), { type: 'context', usedTokens }];
  }

  function fail(event: Fields): readonly AgentEvent[] {
    problem = opencodeProblem(event);
    if (problem.kind === 'context-too-long') {
      overflows += 1;
      isSummarising = true;
    }
    return nothing;
  }

  function read(event: Fields): readonly AgentEvent[] {
    const part = fieldsOf(event['part']);
    if (event['type'] === 'text') {
      const isItsOwn = part['synthetic'] === true; // its words to the model, after a summary: its work goes on
      if (isItsOwn) stopped = false;
      const text = isItsOwn ? '' : `${textOf(part['text'])}\n`;
      if (!isSummarising) message.add(text);
      return text === '' ? nothing : [{ type: 'text', text }];
    }
    if (event['type'] === 'tool_use') {
      const tool = { name: textOf(part['tool']), detail: detailOf(fieldsOf(part['state'])['input']) };
      return [
        { type: 'tool', ...tool, phase: 'began' },
        { type: 'tool', ...tool, phase: 'ended' },
      ];
    }
    if (event['type'] === 'step_finish') return finishStep(part);
    if (event['type'] === 'error') return fail(event);
    if (event['type'] !== 'step_start') return event['type'] === 'reasoning' ? nothing : unknownEvent;
    message = tailOf(messageCharsMax);
    stopped = false;
    return [{ type: 'session', id: textOf(event['sessionID']) }];
  }

  return {
    read,
    result: () => ({
      get message() {
        return message.text().trimEnd();
      },
      finished: stopped || overflows >= overflowsMax || (problem !== undefined && problem.kind !== 'context-too-long'),
      problem,
    }),
  };
}

/** Its input is without what came from a cache. */
function tokensOf(tokens: Fields): Tokens {
  const cache = fieldsOf(tokens['cache']);
  return {
    input: countOf(tokens['input']),
    output: countOf(tokens['output']) + countOf(tokens['reasoning']),
    cacheRead: countOf(cache['read']),
    cacheWrite: countOf(cache['write']),
  };
}

// Names what opencode says went wrong: by the name of its error, then by the provider's status and headers.

const kinds: ReadonlyMap<string, FailureKind> = new Map([
  ['ContextOverflowError', 'context-too-long'],
  ['ProviderAuthError', 'auth'],
  ['ProviderModelNotFoundError', 'model'],
]);

function opencodeProblem(event: Fields): StreamProblem {
  const error = fieldsOf(event['error']);
  const data = fieldsOf(error['data']);
  const isUnreached = data['isRetryable'] === true && data['statusCode'] === undefined;
  const kind = kinds.get(textOf(error['name'])) ?? (isUnreached ? 'connection' : undefined);
  const resetAtMs = resetOf(fieldsOf(data['responseHeaders']), event['timestamp']);
  const problem = statusProblem(data['statusCode'], textOf(data['message']) || textOf(error['name']));
  return { ...problem, kind: kind ?? problem.kind, resetAtMs };
}
