// Proves that the texts of status.json and report.json are those of the values, and that only what changed is written out.
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { LoopFold } from '../../src/views/fold.ts';
import { MetricsView } from '../../src/views/metrics.ts';
import { ViewText } from '../../src/views/view-text.ts';
import { claims, failed, Story, spec } from '../core/given.ts';

const pretty = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

function expectTexts(fold: LoopFold): void {
  expect(fold.reportText()).toBe(pretty(fold.report()));
  expect(fold.statusText({ holder: null })).toBe(pretty({ ...fold.status(), holder: null }));
}

it('the texts are those of the values after every event, with lines and quotes in what agents say', () => {
  const story = new Story({}, [spec('A', { title: 'a "quoted"\ntitle' }), spec('B'), spec('C')]);
  story.iteration('A', claims('A'));
  story.iteration('B', failed('process', 'exit code 3\n"here"'));
  story.iteration('B', claims('B'));
  const fold = new LoopFold();
  for (const event of story.events) {
    fold.add(event);
    expectTexts(fold);
  }
  expect(fold.state.tasks.counts.done).toBe(2);
});

it('of a thousand tasks those are written out again that stand beside the one that changed', () => {
  const story = new Story(
    {},
    Array.from({ length: 1_000 }, (_, at) => spec(`T${at}`)),
  );
  const fold = new LoopFold();
  const text = new ViewText();
  const add = (events: readonly Event[]): void => {
    for (const event of events) fold.add(event);
  };
  const writeBoth = (): number => {
    const before = text.written;
    text.status(fold.state, fold.history(), {});
    text.report(fold.state, fold.history(), new MetricsView().metrics());
    return text.written - before;
  };
  add(story.events);
  expect(writeBoth()).toBe(1_000);
  expect(writeBoth()).toBe(0);
  const told = story.events.length;
  story.iteration('T0', claims('T0'));
  add(story.events.slice(told));
  expect(writeBoth()).toBe(64 + 1); // the chunk of the table, and the iteration
});
