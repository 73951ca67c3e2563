// Every command that changes something, doing its work in every manner of being looked at, in the order of a person's day.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { asks, inScratch, type Manner, type Scratch } from './kit.ts';
import { expectJson, expectReadable, manners } from './manners.ts';
import { git, makeRepository } from './repository.ts';

const step = (id: string, file: string): string => `- [ ] **Step ${id}:** Write ${file} (action_type: create_file)
  - Dependencies: none
  - File: vault/Pending_Approval/${file}
  - Content: Monday at ten`;

const planOf = (id: string, approval: boolean): string => `---
plan_id: ${id}
objective: "Invite"
total_steps: 1
completed_steps: 0
status: ${approval ? 'awaiting_approval' : 'ready'}
approval_required: ${approval}
iterations_used: 0
max_iterations: 10
---

# Plan

${step('1', `${id}.md`)}
`;

const reviewer = `read -r _; printf '<review>\\n{"confidence": 99, "issues": []}\\n</review>\\n'`;
const task = { id: 'T1', title: 'Say hello', description: 'd', status: 'pending', dependencies: [], attempts: 0 };

/** A backlog of three, of which the second is asked about; a project, two plans, a list, and a config to be trusted. */
function given(place: Scratch): void {
  makeRepository(place, ['US-001', 'US-002', 'US-003']);
  const turns = [
    { task: 'US-002', attempt: 1, steps: [asks] },
    { task: 'US-003', steps: [asks] },
    { steps: [{ append: 'made.txt', text: 'x' }, { claim: true }] },
  ];
  place.put('script.json', JSON.stringify({ turns }));
  place.put('shop.md', '# Shop\n\nIt sells.\n');
  place.put('ralph.config.json', JSON.stringify({ agentCommand: 'cat' }));
  for (const folder of ['.artefacts/ready', 'vault/Plans']) mkdirSync(join(place.project, folder), { recursive: true });
  place.put('.artefacts/ready/spec.md', '# ready\n\nIt sells.\n');
  place.put('.artefacts/ready/tasks.json', JSON.stringify({ project_name: 'ready', version: 1, tasks: [task] }));
  for (const [id, approval] of [
    ['plan_a', true],
    ['plan_b', false],
    ['plan_c', false],
  ] as const)
    place.put(`vault/Plans/${id}.md`, planOf(id, approval));
  git(place, 'add', '.');
  git(place, 'commit', '-qm', 'all');
}

/** Command, its other words, and its exit code where that is not 0. */
const day: readonly (readonly [string, readonly string[], number?])[] = [
  ['config trust', ['--yes']],
  ['run', ['PRD.json', '--script', 'script.json', '--verify', 'true', '--name', 'shop', '--yes'], 5],
  ['answer', ['E1', '--option', '1']],
  ['tell', ['shop', 'keep it small']],
  ['pause', ['shop']],
  ['task skip', ['US-003', '--loop', 'shop']],
  ['task retry', ['US-003', '--loop', 'shop']],
  ['task done', ['US-003', '--loop', 'shop']],
  ['task retry', ['US-003', '--loop', 'shop']],
  ['task add', ['Paint it', '--criterion', 'it is green']],
  ['checkpoint create', ['shop', '--label', 'before I edit']],
  ['checkpoint restore', ['1', 'shop', '--yes']],
  ['undo', ['shop', '--yes']],
  ['checkpoint prune', ['shop', '--keep', '1', '--confirm', 'shop']],
  ['resume', ['shop', '--max-iterations', '3'], 3],
  ['notes off', []],
  ['notes on', []],
  ['resume', ['shop', '--max-iterations', '9'], 5],
  ['stop', ['shop']],
  ['loops rm', ['shop', '--confirm', 'shop']],
  ['task import', ['PRD.json', '--to', 'list.md']],
  ['init', ['new-project']],
  ['execute', ['ready', '--script', 'script.json', '--verify', 'true', '--yes']],
  ['review', ['shop.md', '--agent-command', reviewer, '--yes', '--rounds', '1']],
  ['plan approve', ['plan_a', '--yes']],
  ['plan run', ['plan_a', '--yes']],
  ['plan run', ['plan_b', '--yes']],
  ['plan watch', ['--once']],
  ['demo', ['--fast']],
  ['mcp serve', []],
  ['hook install', ['claude', '--yes']],
  ['hook start', ['Draw the house', '--agent', 'claude', '--session', 's1']],
  ['hook uninstall', ['claude', '--yes']],
];

/** They hand the terminal to another program: interview.test.ts and notes.test.ts in test/cli/commands. */
const elsewhere = ['interview', 'notes edit'];

it('every command that changes something has its hour', () => {
  const changing = commands.filter(row => row.changes === true).map(row => nameOf(row).join(' '));
  expect(changing.filter(name => !elsewhere.includes(name) && !day.some(([one]) => one === name))).toEqual([]);
});

const json: Manner = {};

/** Words and colors at 80 columns are the same sentences in the same folds: output-table.test.ts has them at all widths. */
const told = manners.filter(([name]) => ['60 columns', 'a pipe'].includes(name));

it.concurrent.each([...told, ['--json', json] as const])('does its work at %s', (_name, manner) =>
  inScratch(async place => {
    given(place);
    for (const [name, words, code = 0] of day) {
      const isJson = manner === json && commands.some(row => nameOf(row).join(' ') === name && !row.printsNoJson);
      const told = await place.ralph([...name.split(' '), ...words, ...(isJson ? ['--json'] : [])], manner);
      expect([name, told.code, told.code === code ? '' : told.stderr + told.stdout]).toEqual([name, code, '']);
      if (isJson) expectJson(name, told, false);
      else expectReadable(name, told, manner);
    }
  }),
);
