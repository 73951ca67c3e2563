// One run of an agent's process as activities, shared by all adapters: a queue in between, and nothing outlives its consumer.
import { type ProcessEvent, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { itemsOf } from '../processes/streams.ts';
import type { Activity } from './performer.ts';
import type { ParseProblems } from './stream.ts';

export type Push = (activity: Activity) => void;

export interface AgentProcess {
  readonly order: ProcessOrder;
  onEvent(event: ProcessEvent): void | Promise<void>;
  /** Ends the process: nobody listens any more. */
  halt(): void;
  /** It is over, however it ended. */
  close?(): void;
}

/** `name` is that of the adapter, for an error of our own. */
export function performProcess(
  name: string,
  start: (push: Push) => AgentProcess,
): AsyncGenerator<Activity, void, void> {
  return itemsOf<Activity>(async ({ push, room, left }) => {
    const agent = start(push);
    left.addEventListener('abort', agent.halt, { once: true });
    try {
      for await (const event of runProcess(agent.order)) {
        await agent.onEvent(event);
        await room();
        if (left.aborted) return;
      }
    } catch (error) {
      const detail = `the adapter of ${name} failed: ${(error as Error).message}`;
      push({ type: 'ended', message: '', failure: { kind: 'unknown', detail } });
    } finally {
      agent.close?.();
    }
  });
}

const textCharsMax = 8_192; // many small texts that lived longer would make the collector let the heap grow

/** What an agent says, in fewer and larger activities. */
export function gatherText(push: Push) {
  let texts: string[] = [];
  let chars = 0;
  let isLineOpen = false;

  function flush(): void {
    if (chars === 0) return;
    const text = texts.join('');
    isLineOpen = !text.endsWith('\n');
    push({ type: 'text', text, channel: 'output' });
    texts = [];
    chars = 0;
  }

  return {
    add(text: string): void {
      texts.push(text);
      chars += text.length;
      if (chars > textCharsMax) flush();
    },
    /** All that was said so far is told, without waiting for more. */
    flush,
    /** Ends a line that is still open, for whoever reads along. */
    endLine(): void {
      flush();
      if (isLineOpen) push({ type: 'text', text: '\n', channel: 'output' });
      isLineOpen = false;
    },
  };
}

/** One line for all of them: an agent that babbles must not make us babble. */
export function reportProblems(problems: Readonly<ParseProblems>, push: Push): void {
  const { notUnderstood, tooLong, unknownEvents } = problems;
  const some = (count: number, one: string, many: string): string[] =>
    count === 0 ? [] : [count === 1 ? `1 ${one}` : `${count} ${many}`];
  const words = [
    ...some(notUnderstood, 'line of the agent was not understood', 'lines of the agent were not understood'),
    ...some(tooLong, 'line was too long', 'lines were too long'),
    ...some(unknownEvents, 'event is of a kind that is new to us', 'events are of kinds that are new to us'),
  ].join(', ');
  if (words !== '') push({ type: 'text', text: `[ralph] ${words}\n`, channel: 'errors' });
}
