// The port to whatever does an iteration: a coding agent or an action.

import type { LimitWindow, Usage } from '../core/event.ts';
import type { Failure } from '../core/failure.ts';
import type { Order } from '../core/task.ts';
import type { ReportRefusal, ToolReport } from '../messages/tool-reports.ts';
import type { Fields } from '../text/fields.ts';

/** One iteration's work order. Everything a performer may know is in here. */
export interface Assignment {
  readonly loop: string;
  readonly iteration: number;
  readonly task: string;
  /** 1 for the task's first attempt. */
  readonly attempt: number;
  readonly prompt: string;
  readonly directory: string;
  /** Wall clock bound of this iteration. */
  readonly timeMsMax: number;
  /** Extra environment, already limited to names that the user allowed. */
  readonly environment: Readonly<Record<string, string>>;
  /** Words for the working performer, as they come. Absent, or unused when it cannot be steered. */
  readonly notes?: Notes;
  /** The performer gets the terminal; nothing is read from its screen. */
  readonly interactive?: boolean;
  /** The file whose appearance ends an interactive round, when it is not done.md in `directory`. */
  readonly doneFile?: string;
  /** The part of the prompt that belongs into the system prompt; an agent without a flag for it gets it before `prompt`. */
  readonly system?: string;
  /** It is to look and change nothing: whoever can keep it from that does. */
  readonly reads?: true;
  /** What an action is to do. */
  readonly order?: Order;
  /** The same for every attempt at the same order in the same loop: a server that takes it does the work once. */
  readonly key?: string;
  /**
   * Records durably that the effect is about to happen, before anything leaves us; false: it must not happen. Called at most
   * once, by actions with effects only. `repeatable`: doing it twice is as good as once.
   */
  readonly intend?: (repeatable: boolean) => Promise<boolean>;
  /** For a performer that `holds`: what it started may begin when this is true, and must not when it is false. */
  readonly mayBegin?: Promise<boolean>;
  /** For an agent that can call tools of ours; absent: none is wanted. */
  readonly agentTools?: AgentTools;
}

/** What an agent may ask and report while it works, beside its last message. It answers for its own iteration alone. */
export interface AgentTools {
  /** As things stand now; undefined: the iteration is over. */
  ask(about: 'task' | 'handoff' | 'budget'): Fields | undefined;
  /** Undefined: it is recorded, durably. */
  report(report: ToolReport): Promise<ReportRefusal | undefined>;
}

/** A word to a working performer: from a person, or a nudge of ours. */
export interface Note {
  readonly id: string;
  readonly text: string;
  /** It must act now: what the performer is doing may be interrupted for it. */
  readonly urgent?: true;
}

export interface Notes {
  /** For one listener; what came before it is given to it at once. */
  listen(listener: (note: Note) => void): void;
}

/** A server of tools (MCP) for one iteration, as its agent starts it; closed with the iteration. */
export interface ToolServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Which iteration it is, and the proof that it may speak for it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export type Activity =
  | { readonly type: 'spawned'; readonly pid: number; readonly startTime: string; readonly host: string }
  | { readonly type: 'text'; readonly text: string; readonly channel: 'output' | 'errors' }
  /** Once per call, when it begins. */
  | { readonly type: 'tool'; readonly name: string; readonly detail: string }
  /** Cumulative for this iteration; the engine takes the difference. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'context'; readonly usedFraction: number }
  /** A note was written to the performer. Notes without this were not. */
  | { readonly type: 'told'; readonly note: string }
  | { readonly type: 'session'; readonly id: string }
  /** It is silent because it waits for what it left at work in the background, until this is told again as over. */
  | { readonly type: 'waiting'; readonly isWaiting: boolean }
  /** The permission mode that it says it works in. */
  | { readonly type: 'permissions'; readonly mode: string }
  /** All windows of its provider's limits, as they are reported. */
  | { readonly type: 'windows'; readonly windows: readonly LimitWindow[] }
  | { readonly type: 'limit'; readonly resetAtMs: number; readonly detail: string }
  | {
      readonly type: 'ended';
      /** The performer's final message: the only text in which signals are read. */
      readonly message: string;
      readonly failure?: Failure;
      /** Descendants that we had to end after it. */
      readonly reaped?: number;
    }
  /** In place of `ended`: the work goes on outside this process, which leaves it. How it ended is told to the next run. */
  | { readonly type: 'left' };

export interface PerformerAbilities {
  readonly steer: boolean;
  readonly resume: boolean;
  readonly interactive: boolean;
  readonly usage: boolean;
  /** Its agent can call tools of ours. */
  readonly tools?: true | undefined;
}

/**
 * Contract: `perform` never throws. It yields exactly one `ended` (or `left`), as its last activity. When `stop` fires it ends
 * itself and all its descendants (TERM, ten seconds, KILL) and yields `ended` with failure kind `stopped`, unless its good
 * last word had come before: that stays a success.
 * No descendant is alive after `ended`. `spawned` comes first when a process was started.
 */
/** Why the engine stops a performer or a check: the reason of its signal. */
export interface StopReason {
  readonly kind: 'interrupt' | 'ledger' | 'limit' | 'pause' | 'handoff' | 'unwanted';
  /** For people. */
  readonly because: string;
}

/** Undefined for a signal that another one gave. */
export function stopReasonOf({ reason }: AbortSignal): StopReason | undefined {
  return typeof reason === 'object' && reason !== null && 'kind' in reason && 'because' in reason
    ? (reason as StopReason)
    : undefined;
}

export const untilAborted = (stop: AbortSignal): Promise<void> =>
  new Promise(done => {
    if (stop.aborted) done();
    else stop.addEventListener('abort', () => done(), { once: true });
  });

export interface Performer {
  readonly name: string;
  readonly can: PerformerAbilities;
  /** True: whatever it starts only waits until `mayBegin`, which comes when its `spawned` is recorded. */
  readonly holds?: () => boolean;
  perform(assignment: Assignment, stop: AbortSignal): AsyncIterable<Activity>;
}
