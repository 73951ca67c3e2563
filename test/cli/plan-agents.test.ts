// An agent step that reaches for more than its step: it approves a plan of its own and edits the file of servers.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { confinementKind } from '../../src/processes/confine.ts';
import { inScratch, pinnedNode, type Scratch } from './kit.ts';

const plan = (id: string): string => `---
plan_id: ${id}
objective: Try it
total_steps: 2
approval_required: true
---

- [ ] **Step 1:** Think (action_type: agent)

- [ ] **Step 2:** Call (action_type: mcp_test)
  - Dependencies: step_1
  - MCP Server: test
  - Tool: greet
`;
const agent = `read -r _
cp evil.md vault/Approved/Plans/evil.md
echo >>mcp.json
echo 'Task step_1 complete'
`;
const tiny = join(import.meta.dirname, '..', 'fixtures', 'mcp', 'tiny.mjs');
const servers = JSON.stringify({ mcpServers: { test: { command: pinnedNode, args: [tiny] } } });

async function watch(place: Scratch, sandbox: string, ...more: readonly string[]) {
  const agents = ['--agent', 'command', '--agent-command', 'sh agent.sh', '--mcp-config', 'mcp.json'];
  return place.ralph(['plan', 'watch', '--once', '--sandbox', sandbox, ...agents, ...more]);
}

function stage(place: Scratch): void {
  mkdirSync(join(place.project, 'vault/Approved/Plans'), { recursive: true });
  for (const [name, text] of [
    ['agent.sh', agent],
    ['evil.md', plan('plan_evil')],
    ['mcp.json', servers],
    ['vault/Approved/Plans/a.md', plan('plan_a')],
  ] as const)
    place.put(name, text);
}

it.concurrent('given no confinement, then its plan waits for a person, and no edited server is started', () =>
  inScratch(async place => {
    stage(place);
    const first = await watch(place, 'none', '--max-iterations', '1');
    expect([first.code, first.stderr]).toEqual([3, expect.stringContaining('where agents can change it')]);
    await place.ralph(['resume', 'plan-a', '--max-iterations', '5']);
    const next = await watch(place, 'none');
    expect(next.code).toBe(5);
    expect(next.stderr).toContain('plan_a does not run:');
    expect(next.stderr).toContain('mcp.json was changed since this loop first ran');
    expect(next.stderr).toMatch(/plan_evil does not run: It came .* while an agent of loop plan-a/);
    expect(existsSync(join(place.project, 'vault/Needs_Action/plan_blocked_plan_evil.md'))).toBe(true);
  }));

it.runIf(confinementKind() === 'bubblewrap')('given confinement, then it can do neither', () =>
  inScratch(async place => {
    stage(place);
    expect((await watch(place, 'bwrap')).code).toBe(0);
    expect(readdirSync(join(place.project, 'vault/Approved/Plans'))).toEqual([]);
    expect(readdirSync(join(place.project, 'vault/Done'))).toEqual(['a.md']);
    expect(readFileSync(join(place.project, 'mcp.json'), 'utf8')).toBe(servers);
  }),
);
