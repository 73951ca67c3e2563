// Plans from end to end: the real command line, a real MCP server that counts its effects, and everything that may go wrong.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { effectsIn } from '../fixtures/mcp/tools.ts';
import { eventually, inScratch, pinnedNode, type Scratch, type Told } from './kit.ts';

const server = join(import.meta.dirname, '..', 'fixtures', 'mcp', 'server.ts');
const effectsFile = (place: Scratch): string => join(place.root, 'effects');
const toolsCalled = (place: Scratch): readonly string[] => effectsIn(effectsFile(place)).map(effect => effect.tool);
const vault = (place: Scratch, name: string): string => join(place.project, 'vault', name);
const filesOf = (place: Scratch, name: string): readonly string[] =>
  existsSync(vault(place, name)) ? readdirSync(vault(place, name)).sort() : [];
const note = (place: Scratch, name: string): string => readFileSync(vault(place, `Needs_Action/${name}.md`), 'utf8');

function withServers(place: Scratch): void {
  const folder = join(place.root, 'user', '.config', 'ralph');
  mkdirSync(folder, { recursive: true });
  const one = { command: pinnedNode, args: [server], env: { MCP_EFFECTS: effectsFile(place) } };
  const mcpServers = { 'email-mcp': one, 'linkedin-mcp': one };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }));
}

/** Seed 004's own plan. */
const onboarding = `<!-- vault/Plans/PLAN_client_onboarding_001.md -->
---
plan_id: plan_client_onboarding_001
objective: "Onboard new client - draft intro email, create calendar invite, post LinkedIn announcement"
total_steps: 3
completed_steps: 0
status: awaiting_approval
approval_required: true
iterations_used: 0
max_iterations: 10
---

# Plan: Client Onboarding - Acme Corp

**Objective:** Complete new client onboarding for Acme Corp

## Steps

- [ ] **Step 1:** Draft intro email to client (action_type: mcp_email)
  - Dependencies: none
  - MCP Server: email-mcp
  - Tool: send_email
  - Params: {to: "client@acme.com", subject: "Welcome!", body: "..."}

- [ ] **Step 2:** Create calendar invite for kickoff meeting (action_type: create_file)
  - Dependencies: step_1
  - File: vault/Pending_Approval/Calendar/kickoff_invite.md

- [ ] **Step 3:** Post LinkedIn announcement (action_type: mcp_linkedin)
  - Dependencies: step_1, step_2
  - MCP Server: linkedin-mcp
  - Tool: create_post
  - Params: {text: "Excited to welcome Acme Corp..."}
`;

/** Steps of which none waits for another, and no approval is asked for. */
function plan(id: string, steps: readonly string[]): string {
  const lines = steps.map((step, at) => `- [ ] **Step ${at + 1}:** Do part ${at + 1} ${step}`);
  return `---\nplan_id: ${id}\nobjective: Try it\ntotal_steps: ${steps.length}\napproval_required: false\n---\n\n${lines.join('\n')}\n`;
}
const tool = (name: string): string => `(action_type: mcp_email)\n  - MCP Server: email-mcp\n  - Tool: ${name}`;
const tells = '(action_type: notify_human)\n  - Message: Look at it.';

async function runOnce(place: Scratch, code: number, ...more: readonly string[]): Promise<Told> {
  const told = await place.ralph(['plan', 'run', 'p', '--quiet', ...more]);
  expect([told.code, told.stderr + told.stdout]).toEqual([code, expect.anything()]);
  return told;
}

it.concurrent("the seed's example waits for its approval, is carried out once, and is put away", () =>
  inScratch(async place => {
    withServers(place);
    const name = 'PLAN_client_onboarding_001.md';
    mkdirSync(vault(place, 'Plans'), { recursive: true });
    place.put(`vault/Plans/${name}`, onboarding);
    const id = 'plan_client_onboarding_001';
    const waiting = place.start(['plan', 'run', id, '--on-approval', 'wait']);
    await waiting.says(`Waiting for: ralph plan approve ${id}`);
    expect((await place.ralph(['plan', 'approve', id, '--yes'])).code).toBe(0);
    const { code, stdout, stderr } = await waiting.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Done: 3 of 3 tasks done, 3 iterations/)]);
    expect(stderr).not.toContain('had a record');
    expect(effectsIn(effectsFile(place)).map(one => [one.tool, one.arguments])).toEqual([
      ['send_email', { to: 'client@acme.com', subject: 'Welcome!', body: '...' }],
      ['create_post', { text: 'Excited to welcome Acme Corp...' }],
    ]);
    expect(readFileSync(vault(place, `Done/${name}`), 'utf8')).toBe(
      onboarding
        .replaceAll('- [ ]', '- [x]')
        .replace('completed_steps: 0', 'completed_steps: 3')
        .replace('status: awaiting_approval', 'status: completed')
        .replace('iterations_used: 0', 'iterations_used: 3'),
    );
    expect(filesOf(place, 'Pending_Approval/Calendar')).toEqual(['kickoff_invite.md']);
    expect([filesOf(place, 'Approved/Plans'), filesOf(place, 'In_Progress'), filesOf(place, 'Needs_Action')]).toEqual([
      [],
      [],
      [],
    ]);
    expect(readFileSync(vault(place, 'Dashboard.md'), 'utf8')).toContain(`| completed | 3/3 | 3 |`);
    const again = await place.ralph(['plan', 'run', id]);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('no plan runs twice')]);
    expect(toolsCalled(place)).toEqual(['send_email', 'create_post']);
  }));

it.concurrent('a step that fails is given up, a lost reply is asked about, the others go on (F62, F63), and an answer after the end is kept without effect (F67)', () =>
  inScratch(async place => {
    withServers(place);
    mkdirSync(vault(place, 'Plans'), { recursive: true });
    place.put('vault/Plans/p.md', plan('p', [tool('fail'), tool('die_after'), tells]));
    const { stderr } = await runOnce(place, 5, '--max-attempts', '1');
    expect(stderr).toMatch(/ralph answer p\/E1 --option 1 {3}# or 2, 3,/);
    const marked = place.read('vault/Plans/p.md');
    expect(marked).toMatch(/^- \[!\] \*\*Step 1:\*\* \(FAILED\) Do part 1/m);
    expect(marked).toMatch(/^- \[ \] \*\*Step 2/m);
    expect(marked).toMatch(/^- \[x\] \*\*Step 3/m);
    expect(note(place, 'plan_blocked_p')).toMatch(
      /1 attempt failed, 1 allowed \(--max-attempts\); the last error: no such/,
    );
    expect(note(place, 'plan_blocked_p')).toMatch(/Nobody knows whether step\\?_2 happened/);
    expect((await place.ralph(['stop', 'p'])).code).toBe(0);
    const late = await place.ralph(['answer', 'p/E1', '--option', '2']);
    expect([late.code, late.stderr]).toEqual([0, expect.stringContaining('kept as late')]);
    expect((await place.ralph(['resume', 'p'])).code).toBe(5);
    expect((await place.ralph(['answer', 'p/E1', '--option', '1'])).code).toBe(0);
    expect(toolsCalled(place)).toEqual(['die_after']);
    expect(note(place, 'plan_blocked_p')).not.toContain('Nobody knows');
  }));

it.concurrent('a plan whose iterations are used up is escalated, and goes on with its counters when it may', () =>
  inScratch(async place => {
    mkdirSync(vault(place, 'Plans'), { recursive: true });
    place.put('vault/Plans/p.md', plan('p', [tells, tells]));
    const { stderr } = await runOnce(place, 3, '--max-iterations', '1');
    expect(stderr).toContain('ralph resume p --max-iterations 2');
    expect(note(place, 'plan_escalated_p')).toMatch(/^max_iterations_reached: true$/m);
    expect(readFileSync(vault(place, 'In_Progress/p/state.md'), 'utf8')).toMatch(
      /^current_step: 2\niterations_remaining: 0\n(.*\n)*status: escalated$/m,
    );
    expect((await place.ralph(['resume', 'p', '--max-iterations', '2'])).code).toBe(0);
    expect(filesOf(place, 'Needs_Action')).toEqual(['plan_notification_p_step_1.md', 'plan_notification_p_step_2.md']);
  }));

it.concurrent('killed in the middle of a call, it asks instead of calling again, and goes on as it is told', () =>
  inScratch(async place => {
    withServers(place);
    mkdirSync(vault(place, 'Plans'), { recursive: true });
    place.put('vault/Plans/p.md', plan('p', [tool('slow'), tells]));
    const live = place.start(['plan', 'run', 'p']);
    await eventually('the effect has happened', () => toolsCalled(place).length > 0);
    live.child.kill('SIGKILL');
    await live.ended;
    await runOnce(place, 5);
    expect(note(place, 'plan_blocked_p')).toContain('1: It happened: count it as done');
    expect((await place.ralph(['answer', 'E1', '--option', '1'])).code).toBe(0);
    expect(filesOf(place, 'Needs_Action')).toEqual(['plan_notification_p_step_2.md']);
    await runOnce(place, 0);
    expect(toolsCalled(place)).toEqual(['slow']);
  }));

it.concurrent('boxes that nobody has a record of are refused (B48), and so is a plan with all its problems at once (B44, B45, B47)', () =>
  inScratch(async place => {
    mkdirSync(vault(place, 'Plans'), { recursive: true });
    const ticked = plan('p', [tells, tells]).replace('- [ ] **Step 1', '- [X] **Step 1');
    place.put('vault/Plans/p.md', ticked);
    const refused = await place.ralph(['plan', 'approve', 'p', '--yes']);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toMatch(
      /^ralph: step_1 is marked in the plan as done.*no record of that\.\n.*--accept-ticked\n$/,
    );
    expect([place.read('vault/Plans/p.md'), filesOf(place, 'Approved')]).toEqual([ticked, []]);
    expect((await place.ralph(['plan', 'approve', 'p', '--yes', '--accept-ticked'])).code).toBe(0);
    const approved = place.read('vault/Approved/Plans/p.md');
    place.put('vault/Approved/Plans/p.md', approved.replace('- [ ] **Step 2', '- [x] **Step 2')); // nobody's record
    await runOnce(place, 0);
    expect(filesOf(place, 'Needs_Action')).toEqual(['plan_notification_p_step_2.md']);
    const deep = `${'{a: '.repeat(60)}1${'}'.repeat(60)}`;
    place.put(
      'bad.md',
      `---\nplan_id: bad\nobjective: x\ntotal_steps: 3\n---\n- [ ] **Step 2:** A (action_type: mcp_../../x)\n- [ ] **Step 2:** B ${tool('send')}\n  - Params: ${deep}\n  - Dependencies: none, step_1\n`,
    );
    const { code, stdout } = await place.ralph(['plan', 'lint', 'bad.md']);
    expect(code).toBe(2);
    for (const wanted of [
      'total_steps is 3',
      'step 1 should',
      'stands twice',
      'mcp_../../x',
      'deeper than 20',
      'says none and more',
    ])
      expect(stdout).toContain(wanted);
  }));
