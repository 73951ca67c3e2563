// Keeps the format pages true: every example in them is read by its format, and gives what the page says.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { checklist } from '../../../src/documents/formats/checklist.ts';
import { prd } from '../../../src/documents/formats/prd.ts';
import { prompt } from '../../../src/documents/formats/prompt.ts';
import { ralphLoop } from '../../../src/documents/formats/ralph-loop.ts';
import { sectionedPlan } from '../../../src/documents/formats/sectioned-plan.ts';
import { yamlTasks } from '../../../src/documents/formats/yaml-tasks.ts';

/** In the order in which a document is offered to them. */
const formats = [prd, yamlTasks, ralphLoop, prompt, sectionedPlan, checklist];

interface Example {
  readonly fileName: string;
  readonly text: string;
  readonly says?: string;
}

/** A block whose first line names a file, and the `text read` block behind it. */
function examplesOf(page: string): readonly Example[] {
  const source = readFileSync(new URL(`../../../docs/formats/${page}`, import.meta.url), 'utf8');
  const blocks = [...source.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)].map(([, kind, name, text]) => ({
    kind,
    name,
    text,
  }));
  return blocks.flatMap(({ kind, name, text }, row) => {
    if (kind === 'text') return [];
    const next = blocks[row + 1];
    return [{ fileName: name!, text: text!, ...(next?.kind === 'text' ? { says: next.text! } : {}) }];
  });
}

function shown({ tasks, defaults }: ParsedDocument): readonly string[] {
  const lines = tasks.map(task => `${task.id} ${task.done ? 'done' : task.skipped ? 'skipped' : 'open'} ${task.title}`);
  return defaults === undefined ? lines : [...lines, `defaults ${JSON.stringify(defaults)}`];
}

describe.each([
  ['prd.md', ['prd', 'prd']],
  ['prompt.md', ['prompt', 'prompt', 'ralph-loop']],
  ['checklist.md', ['checklist', 'sectioned-plan']],
  ['yaml-tasks.md', ['yaml-tasks', 'yaml-tasks']],
])('the examples in docs/formats/%s', (page, expected) => {
  const examples = examplesOf(page);
  it('are recognised by their formats', () => {
    expect(examples.map(({ fileName, text }) => formats.find(each => each.recognises(fileName, text))?.name)).toEqual(
      expected,
    );
  });

  it('are read as the page says', () => {
    for (const [row, { text, says }] of examples.entries()) {
      const parsed = formats.find(format => format.name === expected[row])!.parse(text);
      expect(parsed).toMatchObject({ ok: true });
      if (!parsed.ok || says === undefined) continue;
      expect(shown(parsed.document)).toEqual(
        says
          .trim()
          .split('\n')
          .map(line => line.replace(/ +/g, ' ')),
      );
    }
    expect(examples.filter(example => example.says !== undefined).length).toBeGreaterThan(0);
  });
});
