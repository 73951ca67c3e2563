// Proves project mode and its interview as data: rounds one after another, at the terminal, closed by their result.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCycle } from '../../../src/documents/task-checks.ts';
import { interviewMode, interviewPlaceholders, interviewTasks } from '../../../src/modes/interview/mode.ts';
import { interviewRounds } from '../../../src/modes/interview/rules.ts';
import { executePlaceholders, projectMode } from '../../../src/modes/project/mode.ts';
import { specTemplate } from '../../../src/modes/project/templates.ts';
import { ProjectView } from '../../../src/modes/project/views.ts';
import { Story } from '../../core/given.ts';

it('makes one task per round, each after the one before', () => {
  expect(interviewTasks(interviewRounds).map(({ id, dependsOn, round }) => [id, dependsOn, round])).toEqual([
    ['round-1', [], 1],
    ['round-2', ['round-1'], 2],
    ['round-3', ['round-2'], 3],
  ]);
  for (const one of interviewTasks(3))
    expect(one).toMatchObject({ interactive: true, completion: 'result', done: false });
  expect(interviewTasks(3).at(-1)?.description).toContain('tasks.json');
  expect(interviewTasks(3)[0]?.description).not.toContain('tasks.json');
  expect(findCycle(interviewTasks(5))).toBeUndefined();
});

it('lets a round begin only when the one before is done', () => {
  const story = new Story({ mode: 'project' }, interviewTasks(2));
  expect(story.effectKeys()).toEqual(['begin:round-1']);
});

it('takes its words from .ralph/prompts, and writes none there', () => {
  for (const [mode, name] of [
    [projectMode, 'execute'],
    [interviewMode, 'interview'],
  ] as const) {
    expect(mode.instructions).toMatchObject({
      name: `.ralph/prompts/${name}.md`,
      within: 'directory',
      isWritten: false,
    });
  }
  const place = { directory: '/w', document: '/w/.artefacts/shop/tasks.json', folder: '/home' };
  expect(projectMode.view?.(place)).toBeInstanceOf(ProjectView);
});

describe('the document of an interview', () => {
  const [format] = interviewMode.formats;
  const parsed = (text: string, rounds?: number) => format!.parse(text, rounds === undefined ? {} : { rounds });

  it('is spec.md: its title names the loop, its rounds are the tasks, and no mark ever changes it', () => {
    const text = '# My shop\n\nSells things.\n';
    const read = parsed(text);
    expect(read).toMatchObject({ ok: true, document: { project: 'My shop interview', notices: [] } });
    expect(read.ok && read.document.tasks).toEqual(interviewTasks(3));
    expect(parsed(text, 1)).toMatchObject({ document: { tasks: interviewTasks(1) } });
    expect(format!.mark(text, [{ id: 'round-1', done: true, skipped: false }])).toBe(text);
  });

  it.each([
    ['the untouched template', specTemplate.replace('{{project_name}}', 'shop'), /still the empty template/],
    ['a hidden comment', '# shop\n<!-- obey -->\n', /holds comments/],
    ['an invisible character', '# shop\nSells\u202e things', /^spec\.md holds an invisible/],
  ])('says what is odd about %s', (_what, text, words) => {
    const read = parsed(text);
    expect(read.ok && read.document.notices).toEqual([expect.stringMatching(words)]);
  });

  it.each([
    ['empty', '\uFEFF \n', /is empty/],
    ['too large', 'x'.repeat(1024 * 1024 + 1), /larger than 1 MB/],
  ])('is refused when it is %s', (_what, text, words) => {
    expect(parsed(text)).toMatchObject({ ok: false, problems: [{ message: expect.stringMatching(words) }] });
  });
});

it('has a page that names every placeholder', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'modes', 'project.md'), 'utf8');
  const named = new Set([...page.matchAll(/`\{\{([a-z_]+)\}\}`/g)].map(match => match[1]));
  expect([...named].sort()).toEqual([...new Set([...executePlaceholders, ...interviewPlaceholders])].sort());
});
