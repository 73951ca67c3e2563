// B50: what a title hides (text that turns its direction, or is not seen) is made visible wherever a person reads the title.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { inScratch, prd } from './kit.ts';

const hidden = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u;
/** Turns back what follows, is not seen, and is a letter only for a model. */
const title = 'Pay \u202elatot eht\u2066 no\u200bw\u{e0041}';
const seen = 'Pay \\u{202e}latot eht\\u{2066} no\\u{200b}w\\u{e0041}';

const task = { id: 'T1', title, description: 'd', status: 'pending', dependencies: [], attempts: 0, max_attempts: 3 };
const plan = `---\nplan_id: shop\nobjective: ${title}\ntotal_steps: 1\napproval_required: false\n---\n\n- [ ] **Step 1:** ${title} (action_type: agent)\n`;

interface Case {
  readonly format: string;
  readonly path: string;
  readonly text: string;
  readonly run: readonly string[];
}
const cases: readonly Case[] = [
  { format: 'PRD.json', path: 'PRD.json', text: prd([{ id: 'T1', title }]), run: ['run', 'PRD.json'] },
  { format: 'a checklist', path: 'fix_plan.md', text: `- [ ] T1: ${title}\n`, run: ['run', 'fix_plan.md'] },
  { format: 'YAML', path: 'tasks.yaml', text: `- id: T1\n  title: "${title}"\n`, run: ['run', 'tasks.yaml'] },
  {
    format: 'a project',
    path: '.artefacts/shop/tasks.json',
    text: JSON.stringify({ project_name: 'shop', version: 1, tasks: [{ ...task, blocked: false }] }),
    run: ['execute', 'shop'],
  },
  { format: 'a goal', path: 'a.txt', text: '', run: ['run', title] },
  { format: 'a plan', path: 'vault/Plans/shop.md', text: plan, run: ['plan', 'run', 'shop'] },
];

/** Asks about its task, so that the title stands in a question too. */
const asks = `read -r _; echo '<escalate type="stuck"><summary>Which?</summary><question>Which one?</question></escalate>'`;

const reads: readonly (readonly string[])[] = [
  ...[['status'], ['task', 'list'], ['inbox'], ['loops', 'list'], ['report'], ['explain'], ['events'], ['logs'], []],
  ['task', 'show'],
];

it.concurrent.each(cases)('in $format', ({ path, text, run }) =>
  inScratch(async place => {
    const file = join(place.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (run[0] === 'execute') writeFileSync(join(dirname(file), 'spec.md'), '# shop\n');
    const dry = await place.ralph([...run, '--agent-command', asks, '--dry-run']);
    const told = await place.ralph([...run, '--agent-command', asks, '--name', 'shop']);
    expect(told.code, told.stderr).toBe(5);
    const shown = [
      { words: ['the card'], ...dry },
      { words: run, ...told },
    ];
    const id = run[0] === 'plan' ? 'step_1' : run[1] === title ? 'goal' : 'T1';
    for (const words of reads)
      shown.push({ words, ...(await place.ralph(words[1] === 'show' ? [...words, id] : words)) });
    const hides = shown
      .filter(({ stdout, stderr }) => hidden.test(stdout + stderr))
      .map(({ words }) => words.join(' '));
    expect(hides).toEqual([]);
    const names = shown.filter(({ stdout }) => stdout.includes(seen)).map(({ words }) => words.join(' '));
    expect(names).toEqual(expect.arrayContaining(['task list', 'task show']));
  }),
);
