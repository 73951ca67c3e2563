// Proves the files of `.agent`: the seed's metrics by name and value, why iterations started, and a log that stays small.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import { initialState, type State } from '../../../src/core/state.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { AgentFolderView } from '../../../src/modes/prompt/agent-folder.ts';
import { failed, hour, Story, says, spec, t0 } from '../../core/given.ts';

function shown(events: readonly Event[]): { readonly files: Readonly<Record<string, string | null>>; state: State } {
  const view = new AgentFolderView('/project');
  let state = initialState;
  for (const event of events) {
    state = evolve(state, event);
    view.add(event, state);
  }
  return { files: Object.fromEntries(view.files(state).map(({ path, text }) => [path, text])), state };
}

const stamp = '20270115_080000'; // t0, in UTC
const metricsPath = `/project/.agent/metrics/metrics_${stamp}.json`;
const logPath = '/project/.agent/logs/ralph.log';
const metricsOf = (events: readonly Event[]) => JSON.parse(shown(events).files[metricsPath] ?? 'null');
const promptStory = (): Story => new Story({ mode: 'prompt', checkpoints: true }, [spec('prompt')]);

describe('the metrics of a loop', () => {
  it('have the seed’s fields and what the ledger says', () => {
    const story = promptStory();
    story.iteration('prompt', says('The parser is written.'));
    story.checkpointed('cp-1');
    story.after(hour);
    story.iteration('prompt', failed('process', 'exit code 3'));
    expect(metricsOf(story.events)).toMatchObject({
      iterations: 2,
      successes: 1,
      failures: 1,
      errors: 1,
      checkpoints: 2,
      rollbacks: 0,
      success_rate: 0.5,
      elapsed_hours: expect.closeTo(1, 2),
      loop_id: 'loop-0001',
      termination_reason: '',
      end_trigger: '',
    });
  });

  it('say why each iteration started, and what ended the loop', () => {
    const story = promptStory();
    story.iteration('prompt', says('The parser is written.'));
    story.checkpointed('cp-1');
    story.iteration('prompt', failed('process', 'exit code 3'));
    story.checkpointed('cp-2');
    story.iteration('prompt', says('Mended.'));
    const told = metricsOf(story.events);
    expect(told.triggers).toEqual([
      { iteration: 1, reason: 'initial' },
      { iteration: 2, reason: 'previous_success' },
      { iteration: 3, reason: 'recovery' },
    ]);
    expect(told.trigger_counts).toEqual({ initial: 1, previous_success: 1, recovery: 1 });
    const ended: Event = { type: 'loop.ended', at: story.now, reason: 'max_iterations', because: '3 of 3 iterations' };
    expect(metricsOf([...story.events, ended])).toMatchObject({
      termination_reason: 'max_iterations',
      end_trigger: 'safety_limit',
    });
  });

  it('keep the newest 200 reasons and count them all', () => {
    const begun = promptStory().events;
    const starts = Array.from({ length: 250 }, (_, at): readonly Event[] => {
      const common = { at: t0 + at, iteration: at + 1, task: 'prompt', performer: 'agent' };
      const rest = { attempt: 1, because: 'ready' };
      return [{ type: 'iteration.started', ...common, ...rest, holder: 'h', again: false } as Event];
    });
    const told = metricsOf([...begun, ...starts.flat()]);
    expect(told.triggers).toHaveLength(200);
    expect(told.triggers.at(-1).iteration).toBe(250);
    expect(told.trigger_counts).toEqual({ initial: 250 });
  });

  it('count an iteration that is started again after a crash once', () => {
    const story = promptStory();
    story.begin('prompt');
    const started = story.events.at(-1);
    expect(started?.type).toBe('iteration.started');
    const told = metricsOf([...story.events, { ...started, again: true } as Event]);
    expect([told.iterations, told.trigger_counts]).toEqual([1, { initial: 1 }]);
  });

  it('are named after the moment at which the loop started, whatever came later', () => {
    const story = promptStory();
    story.after(5 * hour);
    story.iteration('prompt', says('Late.'));
    expect(Object.keys(shown(story.events).files)).toContain(metricsPath);
  });
});

/** Sentences that are ours to count. */
const told = (count: number, from = 0): readonly Event[] =>
  Array.from({ length: count }, (_, at) => ({
    type: 'command.refused',
    at: t0 + from + at,
    by: 'ada',
    command: `number ${from + at}`,
    because: 'of a test',
  }));

describe('the log', () => {
  it('has a line per deciding event, with its time, and none for a sign of life', () => {
    const story = promptStory();
    story.iteration('prompt', says('Done something.'));
    const heard: Event = { type: 'iteration.heartbeat', at: story.now, iteration: 1, quietMs: 5 };
    const { files } = shown([...story.events, heard]);
    const lines = (files[logPath] ?? '').trimEnd().split('\n');
    expect(lines[0]).toBe('2027-01-15T08:00:00.000Z loop shop started by ada: a shop');
    expect(lines.every(line => /^2027-\d\d-\d\dT[\d:.]+Z \S/.test(line))).toBe(true);
    expect(lines.join('\n')).not.toContain('is alive');
  });

  it('rotates after a thousand lines and forgets what is older than the file before', () => {
    const once = shown(told(1_000)).files;
    expect(once).toEqual({}); // without a loop there is nothing to show
    const started = promptStory().events;
    const used = started.length;
    const full = shown([...started, ...told(1_000 - used)]).files;
    expect((full[logPath] ?? '').split('\n')).toHaveLength(1_001);
    expect(full[`${logPath}.1`]).toBeNull();
    const rotated = shown([...started, ...told(1_001 - used)]).files;
    expect(rotated[logPath]?.trimEnd().split('\n')).toHaveLength(1);
    expect(rotated[`${logPath}.1`]).toBe(full[logPath]);
    const later = shown([...started, ...told(2_001 - used)]).files;
    expect(later[`${logPath}.1`]).not.toContain('started by ada');
    expect(later[`${logPath}.1`]?.trimEnd().split('\n')).toHaveLength(1_000);
  });

  it('holds an event to one line of a bounded length, without anything that a terminal obeys', () => {
    const nasty = `\u001b[2J${'x'.repeat(5_000)}\nsecond\u2028third`;
    const [event] = told(1);
    const { files } = shown([...promptStory().events, { ...event!, command: nasty } as Event]);
    const line = (files[logPath] ?? '').trimEnd().split('\n').at(-1) ?? '';
    expect(line.length).toBeLessThanOrEqual(1_000);
    expect(line).not.toMatch(/[\u0000-\u001f\u2028]/);
  });
});

it('given the same ledger twice, then the same files', () => {
  const story = promptStory();
  story.iteration('prompt', says('One.'));
  expect(shown(story.events).files).toEqual(shown(story.events).files);
});

it('keeps all of it out of git, unless the user has said otherwise there', () => {
  const ignoring = new AgentFolderView('/project').files(promptStory().state)[0];
  expect(ignoring).toEqual({
    path: '/project/.agent/.gitignore',
    text: '.gitignore\nlogs/\nmetrics/\nprompts/\nscratchpad.md\n',
    once: true,
  });
});
