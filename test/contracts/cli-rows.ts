// The total table of agent CLIs under test: an adapter without a row does not compile.
//
// A row needs, in `fixtures/streams/NAME`: `greets` (says `hello` in one piece and ends well), `works` (says `working`, no
// end), `lies-done`, `rate-limited` and `overloaded`; where the agent can have them, `two-results` and `cost-goes-down`.
// A plain-text agent has the same files, with plain text in them. What a fault means is written in `faults.ts`.

import type { AgentCli } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/cli/claude.ts';
import { codex } from '../../src/agents/cli/codex.ts';
import { copilot } from '../../src/agents/cli/copilot.ts';
import { gemini } from '../../src/agents/cli/gemini.ts';
import { goose } from '../../src/agents/cli/goose.ts';
import { kiro } from '../../src/agents/cli/kiro.ts';
import { opencode } from '../../src/agents/cli/opencode.ts';
import { pi } from '../../src/agents/cli/pi.ts';
import { q } from '../../src/agents/cli/q.ts';
import { qwen } from '../../src/agents/cli/qwen.ts';
import type { CliName } from '../../src/app/agents/agents.ts';
import type { FaultSubject } from './faults.ts';

export interface CliRow extends Pick<FaultSubject, 'notHere' | 'reset' | 'twoResults'> {
  readonly cli: AgentCli;
}

/** The day on which the streams were played. */
export const playedAtMs = Date.parse('2026-11-15T12:00:00Z');

const oneTurn = 'it has one turn and one result';
const addedUp = 'its messages are counted one by one and added up';
const noCounts = 'it counts nothing';
const plainText = {
  'result-then-hangs': 'its end is its exit',
  'exits-1-after-result': 'its end is its exit',
  'cut-at-eof': 'its text has no end that could be missing',
  'garbage-lines': 'it is all text',
  'cost-goes-down': noCounts,
  'two-results': 'its end is its exit',
} as const;

export const cliRows: Readonly<Record<CliName, CliRow>> = {
  claude: {
    cli: claude,
    notHere: {},
    reset: 1_794_790_800_000,
    twoResults: { inputTokens: 5_000, outputTokens: 250, costUsdMicros: 25_000, estimated: false },
  },
  codex: {
    cli: codex,
    notHere: { 'two-results': oneTurn, 'cost-goes-down': oneTurn },
    reset: new Date(2026, 10, 16, 1, 0).getTime(),
  },
  gemini: {
    cli: gemini,
    notHere: { 'two-results': oneTurn, 'cost-goes-down': oneTurn },
    reset: 'soon',
  },
  opencode: {
    cli: opencode,
    notHere: { 'two-results': addedUp, 'cost-goes-down': addedUp },
    reset: playedAtMs + 1_800_000,
  },
  pi: { cli: pi, notHere: { 'two-results': addedUp, 'cost-goes-down': addedUp } },
  copilot: { cli: copilot, notHere: { 'two-results': oneTurn, 'cost-goes-down': noCounts } },
  goose: { cli: goose, notHere: { 'two-results': oneTurn, 'cost-goes-down': oneTurn } },
  qwen: {
    cli: qwen,
    notHere: {},
    twoResults: { inputTokens: 2_000, outputTokens: 120, cacheReadTokens: 400, estimated: true },
  },
  kiro: { cli: kiro, notHere: plainText },
  q: { cli: q, notHere: plainText },
};
