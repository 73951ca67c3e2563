// One process that reads a stream from a file several times, as the driver does or as a bare loop, and says what that took.
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { openConnection } from '../../src/agents/acp/connection.ts';
import { openSessionListener } from '../../src/agents/acp/listener.ts';
import type { AgentCli, LaunchOrder, PriceBook } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/cli/claude.ts';
import { codex } from '../../src/agents/cli/codex.ts';
import { copilot } from '../../src/agents/cli/copilot.ts';
import { gemini } from '../../src/agents/cli/gemini.ts';
import { goose } from '../../src/agents/cli/goose.ts';
import { opencode } from '../../src/agents/cli/opencode.ts';
import { pi } from '../../src/agents/cli/pi.ts';
import { qwen } from '../../src/agents/cli/qwen.ts';
import { openListener } from '../../src/agents/driver.ts';
import type { Activity } from '../../src/agents/performer.ts';
import { openPriceBook } from '../../src/agents/prices.ts';
import { readJsonLines } from '../../src/agents/stream.ts';
import { boundedText } from '../../src/processes/streams.ts';
import type { FormatName } from './streams.ts';

export const clis: Readonly<Record<Exclude<FormatName, 'acp'>, AgentCli>> = {
  ...{ claude, codex, gemini, opencode, pi, copilot, goose, qwen },
};

/** What was understood, so that no parser is fast by not reading. */
export interface Pass {
  readonly ms: number;
  /** What all its threads worked, wherever the machine let them wait. */
  readonly cpuMs: number;
  /** Above what the process had before, after every chunk. */
  readonly growthBytes: number;
  readonly lines: number;
  readonly chars: number;
  readonly tools: number;
  readonly odd: number;
}

type Role = 'floor' | 'parser' | 'memory';
type Counts = Omit<Pass, 'ms' | 'cpuMs' | 'growthBytes'>;

/** Takes one chunk after another; the counts when there are no more. */
interface Subject {
  push(bytes: Buffer): void;
  end(): Counts;
}

const chunkBytes = 65_536; // what a pipe gives at once
const lineBytesMax = 1_000_000;
const order: LaunchOrder = { prompt: '', args: [], folder: '', isRoot: false };

export function bareLoop(): Subject {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let lines = 0;
  return {
    push(bytes) {
      const text = decoder.write(bytes);
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        const line = text.slice(from, at);
        const event = JSON.parse(rest === '' ? line : rest + line) as object;
        if (event !== null) lines += 1;
        rest = '';
        from = at + 1;
      }
      rest += text.slice(from);
    },
    end: () => ({ lines, chars: 0, tools: 0, odd: 0 }),
  };
}

function counting(): { readonly counts: { chars: number; tools: number }; tell(activity: Activity): void } {
  const counts = { chars: 0, tools: 0 };
  return {
    counts,
    tell(activity) {
      if (activity.type === 'text') counts.chars += activity.text.length;
      else if (activity.type === 'tool') counts.tools += 1;
    },
  };
}

/** All that stands between the bytes of a pipe and the activities of an iteration. */
function driver(cli: AgentCli, prices: PriceBook): Subject {
  const { counts, tell } = counting();
  const bounded = boundedText(lineBytesMax);
  const reader = cli.reader(order);
  const ear = openListener({ cli, prices, launchOrder: order, now: Date.now }, reader, tell, () => {});
  const lines = readJsonLines(reader, lineBytesMax, ear.onEvent);
  let finished = 0;
  return {
    push(bytes) {
      lines.push(bounded.push(bytes));
      ear.flush();
      if (reader.result().finished) finished += 1;
    },
    end() {
      lines.push(bounded.end());
      lines.end();
      ear.end();
      const { notUnderstood, tooLong, unknownEvents } = lines.problems;
      return { ...counts, lines: 0, odd: notUnderstood + tooLong + unknownEvents + finished };
    },
  };
}

function acpDriver(prices: PriceBook): Subject {
  const { counts, tell } = counting();
  const bounded = boundedText(lineBytesMax);
  const ear = openSessionListener(prices, tell, () => {});
  let odd = 0;
  const noise = (): void => {
    odd += 1;
  };
  const wire = openConnection({ write: noise, onUpdate: ear.update, onNoise: noise });
  return {
    push: bytes => wire.push(bounded.push(bytes)),
    end() {
      wire.close();
      const { notUnderstood, tooLong, unknownEvents } = wire.problems;
      return { ...counts, lines: 0, odd: odd + notUnderstood + tooLong + unknownEvents };
    },
  };
}

function pass(path: string, subject: Subject, samples: boolean): Pass {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const file = openSync(path, 'r');
  let growthBytes = 0;
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const begin = performance.now();
  const cpu = process.cpuUsage();
  for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) {
    subject.push(buffer.subarray(0, length));
    if (samples) growthBytes = Math.max(growthBytes, process.memoryUsage.rss() - before);
  }
  const counts = subject.end();
  const ms = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpu);
  closeSync(file);
  return { ms, cpuMs: (user + system) / 1_000, growthBytes, ...counts };
}

if (process.argv[1] === import.meta.filename) {
  const [role, name, path, passes] = process.argv.slice(2) as [Role, FormatName, string, string];
  const prices = await openPriceBook();
  const subject = (): Subject =>
    role === 'floor' ? bareLoop() : name === 'acp' ? acpDriver(prices) : driver(clis[name], prices);
  const results: Pass[] = [];
  for (let at = 0; at < Number(passes); at += 1) results.push(pass(path, subject(), role === 'memory'));
  process.stdout.write(JSON.stringify(results));
}
