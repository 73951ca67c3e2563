// Proves what is said about a goal whose last loop is over: reached and left out are not the same.
import { expect, it } from 'vitest';
import { goalOverWords } from '../../../src/app/session/earlier-loop.ts';
import { claims, Story, spec } from '../../core/given.ts';

it('given a goal that was reached or one that a person left out, then it says which, and how to pursue it again', () => {
  const begun = (): Story => new Story({ mode: 'goal' }, [spec('goal')]);
  const reached = begun();
  reached.iteration('goal', claims('goal'));
  expect(goalOverWords(reached.state)).toMatch(/this goal was reached before; .*--new$/);
  const skipped = begun();
  skipped.command({ type: 'task', act: 'skip', task: 'goal' });
  expect(goalOverWords(skipped.state)).toMatch(/this goal was left out \(ralph task skip\); .*--new$/);
});
