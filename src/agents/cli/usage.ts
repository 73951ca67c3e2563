// Counts Claude Code's tokens: live from each message's own count, at the end from modelUsage, which is the truth.
import type { Heard, Tokens } from '../agent.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';

export interface LiveUsage {
  /** Undefined when the piece does not concern it. */
  read(event: Fields, piece: Fields): readonly Heard[] | undefined;
  /** The id of the message that the main thread is writing. */
  mainId(): unknown;
  /**
   * The totals that a result states; what is counted from now on is added to them. Gives the names under which something
   * was counted that the result has under another: it is in there too, so they begin anew.
   */
  settle(stated: ReadonlyMap<string, Tokens>): readonly string[];
}

interface OpenMessage {
  readonly id: unknown;
  readonly model: string;
  counted: Tokens;
}

const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Each thread (the main one, each subagent) writes one message at a time. */
export function liveUsage(): LiveUsage {
  const open = new Map<unknown, OpenMessage>();
  const totals = new Map<string, Tokens>();

  function count(event: Fields, piece: Fields): readonly Heard[] {
    const thread = event['parent_tool_use_id'] ?? null;
    const current = open.get(thread);
    if (current === undefined) return [];
    const now = higher(current.counted, tokensOf(fieldsOf(piece['usage'])));
    const total = combine(totals.get(current.model) ?? noTokens, now, current.counted);
    current.counted = now;
    totals.set(current.model, total);
    const model = current.model || undefined;
    const heard: Heard[] = [{ type: 'usage', tokens: total, model }];
    const usedTokens = now.input + now.cacheRead + now.cacheWrite + now.output;
    if (thread === null) heard.push({ type: 'context', usedTokens, model });
    return heard;
  }

  return {
    settle(stated) {
      const renamed = [...totals.keys()].filter(model => !stated.has(model));
      totals.clear();
      for (const [model, tokens] of stated) totals.set(model, tokens);
      return renamed;
    },
    mainId: () => open.get(null)?.id,
    read(event, piece) {
      if (piece['type'] === 'message_delta') return count(event, piece);
      if (piece['type'] !== 'message_start') return undefined;
      const message = fieldsOf(piece['message']);
      const model = textOf(message['model']);
      open.set(event['parent_tool_use_id'] ?? null, { id: message['id'], model, counted: noTokens });
      return undefined;
    },
  };
}

/**
 * The last result's modelUsage holds all calls of all threads since the start; `usage` and the sum of results do not. What
 * was counted live under another name for the same model stands in there too, so that name counts for nothing until then.
 */
export function resultUsage(result: Fields, live: LiveUsage): readonly Heard[] {
  const byModel = Object.entries(fieldsOf(result['modelUsage'])).map(([model, usage]) => {
    const fields = fieldsOf(usage);
    return { model, tokens: statedTokens(fields), costUsd: fields['costUSD'] };
  });
  if (byModel.length === 0) return [];
  const renamed = live.settle(new Map(byModel.map(({ model, tokens }) => [model, tokens])));
  const cleared = renamed.map((model): Heard => ({ type: 'usage', tokens: noTokens, model: model || undefined }));
  return [...cleared, ...byModel.map((stated): Heard => ({ type: 'usage', ...stated }))];
}

function statedTokens(usage: Fields): Tokens {
  return {
    input: countOf(usage['inputTokens']),
    output: countOf(usage['outputTokens']),
    cacheRead: countOf(usage['cacheReadInputTokens']),
    cacheWrite: countOf(usage['cacheCreationInputTokens']),
  };
}

function tokensOf(usage: Fields): Tokens {
  return {
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cacheRead: countOf(usage['cache_read_input_tokens']),
    cacheWrite: countOf(usage['cache_creation_input_tokens']),
  };
}

function higher(a: Tokens, b: Tokens): Tokens {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
  };
}

function combine(total: Tokens, plus: Tokens, minus: Tokens): Tokens {
  return {
    input: total.input + plus.input - minus.input,
    output: total.output + plus.output - minus.output,
    cacheRead: total.cacheRead + plus.cacheRead - minus.cacheRead,
    cacheWrite: total.cacheWrite + plus.cacheWrite - minus.cacheWrite,
  };
}
