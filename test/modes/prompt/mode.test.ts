// Proves that the mode prompt is data that fits together: the documents it knows, its prompt, its promise, its files.
import { expect, it } from 'vitest';
import { promptMode } from '../../../src/modes/prompt/mode.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';
import { Story } from '../../core/given.ts';

const formatOf = (name: string, text: string) => promptMode.formats.find(format => format.recognises(name, text));
const place = { directory: '/project', document: '/project/PROMPT.md', folder: '/home/loops/1' };

it('knows PROMPT.md and the state file of the stop hook, each as one task of the same name', () => {
  const state = '---\nactive: true\niteration: 1\nmax_iterations: 50\ncompletion_promise: "DONE"\n---\n\nBuild it.\n';
  const documents: readonly (readonly [string, string, string])[] = [
    ['PROMPT.md', '# Build it\n', 'prompt'],
    ['.claude/ralph-loop.local.md', state, 'ralph-loop'],
  ];
  for (const [name, text, format] of documents) {
    expect(formatOf(name, text)?.name).toBe(format);
    expect(formatOf(name, text)?.parse(text, {})).toMatchObject({ ok: true, document: { tasks: [{ id: 'prompt' }] } });
  }
});

it('has the limits and the promise of its seed', () => {
  const { limits, policy, commitEvery } = defaultSettings('prompt');
  expect(limits).toMatchObject({
    iterationsMax: 100,
    costUsdMicrosMax: 10_000_000,
    durationMsMax: 4 * 3_600_000,
    consecutiveErrorsMax: 5,
  });
  expect([policy.tasks, commitEvery, defaultSettings('prompt').promise]).toEqual(['one', 10, 'LOOP_COMPLETE']);
});

it('given a live iteration, then its prompt begins with the text of PROMPT.md, and the box is no part of it', () => {
  const text = '# Build it\n\nWith care.\n\n- [ ] TASK_COMPLETE\n';
  const parsed = formatOf('PROMPT.md', text)?.parse(text, {});
  const story = new Story({ mode: 'prompt' }, parsed?.ok === true ? parsed.document.tasks : []);
  story.begin('prompt');
  const made = promptMode.prompt(story.state, story.state.live[0]!, '', { scratchpad: 'half of it is done' });
  expect(made.text.startsWith('# Build it\n\nWith care.\n\n---\n')).toBe(true);
  expect(made.text).toContain('> half of it is done');
});

it('shows metrics and a log in the folder of work', () => {
  const story = new Story({ mode: 'prompt' });
  const files = promptMode.view?.(place).files(story.state) ?? [];
  expect(files.map(({ path }) => path.split('/').slice(0, 4).join('/'))).toEqual([
    '/project/.agent/.gitignore',
    '/project/.agent/metrics',
    '/project/.agent/logs',
    '/project/.agent/logs',
  ]);
});
