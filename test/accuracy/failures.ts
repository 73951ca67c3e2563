// Accuracy of failures: the kind of each end of a run, what Ralph does about it, and the reset that it waits for.
import type { AgentCli } from '../../src/agents/agent.ts';
import { endOfCommand } from '../../src/agents/command.ts';
import { failureOf } from '../../src/agents/failures.ts';
import { cliNames, loadCli } from '../../src/agents/registry.ts';
import { type Failure, type FailureKind, failureRules } from '../../src/core/failure.ts';
import type { ProcessExit } from '../../src/processes/spawn.ts';
import { type Detector, share } from './figure.ts';

type Reaction = 'rest' | 'person' | 'count' | 'nothing';

export interface FailureRow {
  readonly id: string;
  readonly agent: string;
  readonly where: 'stream' | 'stderr' | 'stdout';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly text: string;
  readonly changedTree: boolean;
  readonly kind: FailureKind;
  readonly reaction: Reaction;
  readonly resetInMs: number | null;
}

type ProseRow = Pick<FailureRow, 'id' | 'text'> & { readonly exitCode: number };

const now = Date.parse('2026-11-18T12:00:00Z');
process.env['TZ'] = 'UTC'; // some CLIs tell a reset in local time

/** How each CLI wraps the words of an error. */
const streams: Readonly<Record<string, (text: string) => readonly object[]>> = {
  claude: text => [{ type: 'result', subtype: 'success', is_error: true, terminal_reason: 'api_error', result: text }],
  codex: text => [{ type: 'turn.started' }, { type: 'turn.failed', error: { message: text } }],
  gemini: text => [{ type: 'result', status: 'error', error: { type: 'Error', message: text } }],
  opencode: text => [{ type: 'error', error: { name: 'UnknownError', data: { message: text } } }],
  pi: text => [
    {
      type: 'message_end',
      message: { role: 'assistant', content: [], stopReason: 'error', errorMessage: text, usage: {} },
    },
    { type: 'agent_end', willRetry: false },
    { type: 'agent_settled' },
  ],
  qwen: text => [{ type: 'result', is_error: true, subtype: 'error', error: { message: `[API Error: ${text}]` } }],
  goose: text => [{ type: 'error', error: text }],
  copilot: text => [
    { type: 'session.error', data: { message: text } },
    { type: 'result', exitCode: 1, sessionId: 's' },
  ],
};

const exitOf = ({ exitCode, signal }: Pick<FailureRow, 'exitCode' | 'signal'>): ProcessExit =>
  ({ type: 'exited', code: exitCode, signal, timedOut: false, stoppedByUs: false, reaped: 0 }) as ProcessExit;

function endOfCli(cli: AgentCli, row: FailureRow): Failure | undefined {
  const order = { folder: '', args: [], prompt: '', isRoot: false };
  const reader = cli.reader({ ...order, model: undefined, system: undefined, openingPrompt: undefined } as never);
  const isStream = row.where === 'stream';
  if (isStream) for (const event of streams[cli.name]?.(row.text) ?? []) reader.read(event as never);
  return failureOf({
    exit: exitOf(row),
    result: reader.result(),
    isPlain: reader.readPlain !== undefined,
    stopped: false,
    loginMissing: cli.login.missing ?? [],
    loginMissingCode: cli.login.missingCode,
    errors: row.where === 'stderr' ? row.text : '',
    strayLines: row.where === 'stdout' ? row.text : '',
    silenceMs: 1,
    firstByteMs: 1,
    timeMsMax: 1,
    nowMs: now,
  });
}

const clis = new Map<string, AgentCli>();
for (const name of cliNames) clis.set(name, await loadCli(name));

export function endOf(row: FailureRow): Failure | undefined {
  const cli = clis.get(row.agent);
  if (cli !== undefined) return endOfCli(cli, row);
  const [message, errors] = row.where === 'stdout' ? [row.text, ''] : ['', row.text];
  return endOfCommand(exitOf(row), { message, errors, nowMs: now }).failure;
}

/** What the loop makes of it; what says nothing but an error it does not know rests at first, when nothing was changed. */
export function reactionTo(failure: Failure | undefined, changedTree: boolean): Reaction {
  if (failure === undefined || failure.kind === 'stopped') return 'nothing';
  const { retryable, counts } = failureRules[failure.kind];
  if (!retryable) return 'person';
  return counts && (failure.kind !== 'unknown' || changedTree) ? 'count' : 'rest';
}

const isNear = (one: number | undefined, other: number): boolean =>
  one !== undefined && Math.abs(one - now - other) <= 60_000;

const blamed: ReadonlySet<FailureKind> = new Set([
  ...([
    'auth',
    'billing',
    'rate-limit',
    'overloaded',
    'connection',
    'model',
    'context-too-long',
    'permission',
  ] as const),
]);

export const failures: Detector = {
  name: 'failures',
  measure(rows) {
    const all = rows<FailureRow>('failures.jsonl');
    const prose = rows<ProseRow>('prose.jsonl').map(row => ({
      ...({ agent: 'command', where: 'stdout', signal: null, changedTree: true } as const),
      ...row,
    })) as unknown as readonly FailureRow[];
    return [
      share('kind', all, { atLeast: 0.95 }, row => endOf(row)?.kind === row.kind),
      share('reaction', all, { atLeast: 0.97 }, row => reactionTo(endOf(row), row.changedTree) === row.reaction),
      share(
        'stated reset is waited for',
        all.filter(row => row.resetInMs !== null),
        { atLeast: 0.95 },
        row => isNear(endOf(row)?.resetAtMs, row.resetInMs!),
      ),
      share('innocent prose blamed', prose, { atMost: 0.03 }, row => blamed.has(endOf(row)?.kind ?? 'process')),
    ];
  },
};
