// What a plan did in the world is done once: neither undo nor retry repeats it, unless a person says so in as many words.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { effectsIn } from '../fixtures/mcp/tools.ts';
import { startFrom } from '../git/template.ts';
import { inScratch, pinnedNode, type Scratch } from './kit.ts';

const server = join(import.meta.dirname, '..', 'fixtures', 'mcp', 'server.ts');
const agent = 'read -r _; echo made > work.txt; echo "Task $RALPH_TASK complete"';
const vault = (place: Scratch, name: string): string => join(place.project, 'vault', name);
const mails = (place: Scratch): number =>
  effectsIn(join(place.root, 'effects')).filter(effect => effect.tool === 'send_email').length;

const mail = `(action_type: mcp_email)
  - MCP Server: email
  - Tool: send_email
  - Params: {to: "ann@acme.example", subject: "Welcome!", body: "Hello"}`;
const plan = (steps: readonly string[]): string =>
  `---\nplan_id: p\nobjective: Try it\ntotal_steps: ${steps.length}\napproval_required: false\n---\n\n${steps
    .map((step, at) => `- [ ] **Step ${at + 1}:** Do part ${at + 1} ${step}`)
    .join('\n')}\n`;

function prepared(place: Scratch, steps: readonly string[]): void {
  const folder = join(place.root, 'user', '.config', 'ralph');
  mkdirSync(folder, { recursive: true });
  const email = { command: pinnedNode, args: [server], env: { MCP_EFFECTS: join(place.root, 'effects') } };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { email } }));
  startFrom({ 'vault/Plans/p.md': plan(steps) }, place.project);
}

const run = ['plan', 'run', 'p', '--quiet', '--max-attempts', '1', '--agent-command', agent];
const ended = async (place: Scratch, code: number, words: readonly string[]): Promise<string> => {
  const told = await place.ralph(words);
  expect([told.code, told.stderr]).toEqual([code, expect.anything()]);
  return told.stderr + told.stdout;
};

it.concurrent('undo takes back what agents changed, and neither the mail nor the file of an action; retry needs --again', () =>
  inScratch(async place => {
    prepared(place, [
      '(action_type: agent)',
      `${mail}\n  - Dependencies: step_1`,
      '(action_type: create_file)\n  - File: docs/made.md\n  - Content: by the plan\n  - Dependencies: step_2',
      '(action_type: mcp_email)\n  - MCP Server: email\n  - Tool: fail\n  - Dependencies: step_3',
    ]);
    await ended(place, 5, run);
    expect([mails(place), existsSync(join(place.project, 'work.txt'))]).toEqual([1, true]);
    const undone = await ended(place, 0, ['undo', 'p', '--steps', '3', '--yes']);
    expect(undone).toMatch(/tasks +open again: step_1; p.md will show it\n/);
    expect(undone).toContain('what a plan did in the world cannot be taken back');
    expect(existsSync(join(place.project, 'work.txt'))).toBe(false);
    expect(place.read('docs/made.md')).toContain('by the plan');
    const refused = await ended(place, 2, ['task', 'retry', 'step_2', '--loop', 'p']);
    expect(refused).toContain('step_2 (Do part 2) was carried out already. To try it again would do it a second time.');
    expect(refused).toContain('ralph task retry step_2 --again --loop p');
    await ended(place, 5, run);
    expect([mails(place), place.read('work.txt')]).toEqual([1, 'made\n']);
    await ended(place, 0, ['task', 'skip', 'step_4', '--loop', 'p']);
    await ended(place, 0, run);
    expect(readdirSync(vault(place, 'Done'))).toEqual(['p.md']);
    const over = await ended(place, 2, ['undo', 'p', '--yes']);
    expect(over).toContain('Plan p is over (loop p): what it did in the world cannot be taken back.');
    expect([readdirSync(vault(place, 'Done')), mails(place), existsSync(vault(place, 'Plans/p.md'))]).toEqual([
      ['p.md'],
      1,
      false,
    ]);
  }));

it.concurrent('an agent that writes another mail into its own plan, which needed no yes, is not obeyed before somebody says it', () =>
  inScratch(async place => {
    prepared(place, ['(action_type: agent)']);
    const added = `- [ ] **Step 2:** Do part 2 ${mail.replace('ann@', 'thief@')}`;
    place.put('added.md', `${added}\n`);
    const edit = "sed -i 's/total_steps: 1/total_steps: 2/' vault/Plans/p.md; cat added.md >> vault/Plans/p.md";
    const writes = agent.replace('echo made', `${edit}; echo made`);
    const told = await ended(place, 5, ['plan', 'run', 'p', '--quiet', '--agent-command', writes]);
    expect(told).toContain('The plan was edited after it was approved');
    expect(mails(place)).toBe(0);
  }));

it.concurrent('a plan of which every step was left out is neither completed nor put away', () =>
  inScratch(async place => {
    prepared(place, [mail.replace('send_email', 'die_after')]);
    const asked = await ended(place, 5, run);
    expect(asked).toContain('Nobody knows whether step_1 happened: Do part 1');
    const again = await ended(place, 2, ['answer', 'E1', '--retry']);
    expect(again).toContain('--retry does not say whether it happened');
    await ended(place, 0, ['answer', 'E1', '--option', '3']);
    expect(await ended(place, 6, run)).toContain('Over, nothing done');
    expect(readFileSync(vault(place, 'Plans/p.md'), 'utf8')).toContain('- [-] **Step 1');
    expect(readFileSync(vault(place, 'Dashboard.md'), 'utf8')).toContain('| left_out | 0/1 |');
    expect(readFileSync(vault(place, 'Needs_Action/plan_blocked_p.md'), 'utf8')).toContain('nothing of it was done');
    expect(readFileSync(vault(place, 'In_Progress/p/state.md'), 'utf8')).toMatch(/^status: blocked$/m);
    expect(await ended(place, 6, run)).toContain('no plan runs twice');
  }));
