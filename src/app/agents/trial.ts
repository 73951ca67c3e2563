// One tiny real iteration of an agent in a scratch folder, with the user's own login: does it work at all?
import { Bug } from '../../text/errors.ts';
import type { Usage } from '../../core/event.ts';
import { type Failure, type FailureKind, failureRules } from '../../core/failure.ts';
import { makeRedactor } from '../../secrets/redactor.ts';
import { secretValues } from '../../secrets/redact-environment.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { isCliName, rowOf } from './agents.ts';
import { type AgentNeeds, buildPerformers } from './performers.ts';
import { inThrowAway } from './installed-agents.ts';

const timeMsMax = 180_000;
const messageCharsMax = 300;
const word = 'RALPH-TEST-OK';
const prompt = `This is a test of the connection. Use no tool and change no file. Answer with exactly this one line:\n${word}\n`;

/** `agents test --json` prints this. Null: it did not happen, or the agent did not say. */
export interface Trial {
  readonly agent: string;
  readonly started: boolean;
  readonly firstByteMs: number | null;
  readonly message: string;
  /** The answer was the one asked for. */
  readonly obeyed: boolean;
  readonly tokens: number | null;
  readonly costUsdMicros: number | null;
  readonly costEstimated: boolean;
  /** It ended by itself and left no process behind. */
  readonly clean: boolean;
  readonly failure: (Failure & { readonly hint: string }) | null;
}

export function tryAgent(
  spec: string,
  needs: Omit<AgentNeeds, 'settings' | 'directory'>,
  stop: AbortSignal,
): Promise<Trial> {
  return inThrowAway(async directory => {
    const settings = { performers: [spec], performersByTask: {}, performersByPhase: {} };
    const { performers } = await buildPerformers({ ...needs, settings, directory });
    const performer = performers[spec];
    if (performer === undefined) throw new Bug(`no performer was made for ${spec}`);
    const redact = makeRedactor(secretValues(needs.env));
    const shown = (text: string): string => takeCharacters(stripControls(redact(text)).trim(), messageCharsMax);
    const assignment = {
      loop: 'test',
      iteration: 1,
      task: 'TEST',
      attempt: 1,
      prompt,
      directory,
      timeMsMax,
      environment: {},
    };
    const startedAt = performance.now();
    let started = false;
    let firstByteMs: number | null = null;
    let usage: Usage | undefined;
    for await (const activity of performer.perform(assignment, stop)) {
      if (activity.type === 'spawned') started = true;
      else if (activity.type === 'usage') usage = activity.usage;
      else if (activity.type === 'ended') {
        const { failure, message, reaped = 0 } = activity;
        const hint = failure === undefined ? '' : await hintFor(spec, failure.kind);
        return {
          agent: spec,
          started,
          firstByteMs,
          message: shown(message),
          obeyed: message.includes(word),
          tokens: usage === undefined ? null : tokensOf(usage),
          costUsdMicros: usage?.costUsdMicros ?? null,
          costEstimated: usage?.estimated ?? false,
          clean: failure === undefined && reaped === 0,
          failure: failure === undefined ? null : { ...failure, detail: shown(failure.detail), hint },
        };
      }
      if (activity.type !== 'spawned') firstByteMs ??= Math.round(performance.now() - startedAt);
    }
    throw new Bug(`${spec} ended without saying how`);
  });
}

const tokensOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;

/** What to do about it; a login by the words that the agent itself wants. */
async function hintFor(spec: string, kind: FailureKind): Promise<string> {
  const { hint } = failureRules[kind];
  const name = spec.split('/')[0] ?? '';
  if (kind !== 'auth' || !isCliName(name)) return hint;
  return `${hint.replace(/\.$/, '')}: ${(await rowOf(name).load()).login.command}`;
}
