// Learnings across runs: what one loop found out stands in a file that people change, and in the prompts of the next loop.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inScratch, isInstalled, prd, type Scratch } from '../kit.ts';
import { ok } from '../repository.ts';

const secret = `ghp_${'aB3'.repeat(12)}`;
const report = `<report>{"completed": [], "decisions": ["Prices are integers because of rounding; token ${secret}"], "obstacles": [{"message": "port 5432 is taken", "resolved": true}]}</report>`;

/** One story; the agent keeps its prompt, and reports when it is told to. */
async function run(place: Scratch, cwd = place.project): Promise<string> {
  const seen = join(place.root, 'prompt');
  const words = join(place.root, 'words');
  writeFileSync(words, `${report}\nTask US-001 complete\n<promise>DONE</promise>\n`);
  const agent = `cat > ${seen}; echo more >> made; cat ${words}`;
  writeFileSync(join(cwd, 'PRD.json'), prd());
  const manner = { cwd };
  await ok(
    place.ralph(['run', 'PRD.json', '--agent-command', agent, '--verify', 'file:PRD.json', '--new', '--yes'], manner),
  );
  return execFileSync('cat', [seen], { encoding: 'utf8' });
}
const show = async (place: Scratch) =>
  (await place.json(['notes', 'show', '--json'])) as { path: string; on: boolean; text: string };

describe('given a loop that found something out', () => {
  it('when another begins in the same repository, then its prompt quotes that, without the secret, also from a worktree', async () => {
    if (!isInstalled('git')) return;
    await inScratch(async place => {
      const git = (...words: string[]) => execFileSync('git', words, { cwd: place.project, env: place.env });
      git('init', '-q');
      git('config', 'user.email', 'a@b');
      git('config', 'user.name', 'a');
      git('commit', '-q', '--allow-empty', '-m', 'first');
      expect(await run(place)).not.toContain('earlier loops in this repository');
      const { text } = await show(place);
      expect(text).toContain('- Decision: Prices are integers because of rounding; token');
      expect(text).toContain('- Obstacle (resolved): port 5432 is taken (US-001)');
      expect(text).toContain('- Check that passed: file:PRD.json');
      expect(text).not.toContain(secret);
      const tree = join(place.root, 'other');
      git('worktree', 'add', '-q', tree);
      const prompt = await run(place, tree);
      expect(prompt).toMatch(
        /What earlier loops in this repository found out \(notes, not instructions\)\n\n> ## \S+, /,
      );
      expect(prompt).toContain('> - Obstacle (resolved): port 5432 is taken (US-001)');
    });
  });

  it('when the file is changed, then the next prompt has the change; when notes are off, none, and nothing is added', async () => {
    await inScratch(async place => {
      await run(place);
      const { path } = await show(place);
      writeFileSync(path, 'Write tests in Dutch.\n');
      const prompt = await run(place);
      expect(prompt).toContain('> Write tests in Dutch.');
      expect(prompt).not.toContain('> - Decision: Prices');
      const off = await ok(place.ralph(['notes', 'off']));
      expect(off.stderr).toContain('On again: ralph notes on');
      expect(await run(place)).not.toContain('Dutch');
      const kept = await show(place);
      expect(kept.on).toBe(false);
      expect(kept.text.match(/^## /gm)).toHaveLength(1);
      await ok(place.ralph(['notes', 'on']));
      expect(await run(place)).toContain('> Write tests in Dutch.');
    });
  });
});

const tasksOf = (id: string) =>
  JSON.stringify({
    project_name: 'shop',
    version: 1,
    tasks: [{ id, title: id, description: id, status: 'pending', dependencies: [], attempts: 0, max_attempts: 3 }],
  });
const planOf =
  '---\nplan_id: a\nobjective: o\ntotal_steps: 1\napproval_required: false\n---\n\n- [ ] **Step 1:** One (action_type: agent)\n';
const modes: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>])[] = [
  ['prompt', ['run', 'PROMPT.md'], { 'PROMPT.md': '# Do it\n' }],
  ['goal', ['run', 'reach it'], {}],
  ['list', ['run', 'fix_plan.md'], { 'fix_plan.md': '- [ ] T1: One\n' }],
  [
    'project',
    ['execute', 'shop'],
    { '.artefacts/shop/spec.md': '# shop\n', '.artefacts/shop/tasks.json': tasksOf('T1') },
  ],
  ['plan', ['plan', 'run', 'a'], { 'vault/Plans/a.md': planOf }],
  ['review', ['review', 'spec.md', '--rounds', '1'], { 'spec.md': '# shop\n' }],
];

describe('in every mode', () => {
  it.concurrent.each(modes)(
    '%s: a prompt quotes the notes of earlier loops, and the loop adds its own',
    (_mode, words, files) =>
      inScratch(async place => {
        await run(place);
        for (const [path, text] of Object.entries(files)) {
          mkdirSync(dirname(join(place.project, path)), { recursive: true });
          writeFileSync(join(place.project, path), text);
        }
        const own = '<report>{"completed": [], "decisions": ["The shop opens at nine"]}</report>';
        const done = ['Task $RALPH_TASK complete', '<promise>DONE</promise>', '<promise>LOOP_COMPLETE</promise>'];
        const review = '<review>{"confidence": 99, "issues": []}</review>';
        const says = [...done.map(line => `echo "${line}"`), `echo '${own}'`, `echo '${review}'`].join('; ');
        const agent = `cat >>../prompts; ${says}`;
        const told = await place.ralph([...words, '--agent-command', agent, '--max-iterations', '3', '--no-input']);
        expect([0, 3], told.stderr).toContain(told.code);
        expect(place.read('../prompts')).toContain('> - Obstacle (resolved): port 5432 is taken (US-001)');
        expect((await show(place)).text).toContain('- Decision: The shop opens at nine');
      }),
  );
});

describe('given no notes', () => {
  it('show says so, and edit without an editor or a terminal names the file', () =>
    inScratch(async place => {
      const shown = await ok(place.ralph(['notes', 'show']));
      expect(shown.stderr).toContain('There are no notes yet');
      const { path } = await show(place);
      for (const env of [{}, { EDITOR: 'true' }]) {
        const told = await place.ralph(['notes', 'edit'], { env });
        expect(told.code).toBe(2);
        expect(told.stderr).toContain(`Edit the file yourself: ${path}`);
      }
    }));
});
