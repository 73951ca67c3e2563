// A vault in a scratch folder with a ledger in memory: plans as real files, loops as events, a loop's run as a function.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Event } from '../../../../src/core/event.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { memoryLedger } from '../../../../src/ledger/memory.ts';
import { plan as format } from '../../../../src/modes/plan/document/plan.ts';
import type { Approval } from '../../../../src/modes/plan/session/vault.ts';
import { defaultSettings } from '../../../../src/modes/registry.ts';
import { t0 } from '../../../core/given.ts';

const longAgo = new Date('2026-01-01');

export const planText = (id: string, more = '', approval = true): string => `---
plan_id: ${id}
objective: "Onboard Acme"
total_steps: 2
completed_steps: 0
status: awaiting_approval
approval_required: ${approval}
iterations_used: 0
max_iterations: 10
---

# Plan

- [ ] **Step 1:** Send the email (action_type: mcp_email)
  - Dependencies: none
  - MCP Server: email-mcp
  - Tool: send_email
  - Params: {to: "client@acme.com", body: "hello${more}"}

- [ ] **Step 2:** Write the invite (action_type: create_file)
  - Dependencies: step_1
  - File: vault/Pending_Approval/invite.md
  - Content: Monday at ten
`;

export interface VaultPlace {
  readonly root: string;
  readonly ledger: Ledger;
  readonly put: (name: string, text: string) => string;
  readonly read: (name: string) => string;
  readonly has: (name: string) => boolean;
  readonly list: (folder: string) => readonly string[];
  readonly append: (loop: string, events: readonly Event[]) => Promise<void>;
  /** What `recordApproval` does, without a process. */
  readonly record: (path: string, approval: Approval) => Promise<string>;
  /** Carries out every open step of a plan and ends its loop; `failing`: gives up at the first. */
  readonly run: (path: string, failing?: boolean) => Promise<number>;
  /** Paths whose steps were carried out, one entry for each step. */
  readonly effects: string[];
  readonly end: () => void;
}

export function vaultPlace(): VaultPlace {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-vault-')));
  const root = join(scratch, 'vault');
  const ledger = memoryLedger();
  const effects: string[] = [];
  const rows = async (path: string) => (await ledger.store.loops({ document: path }))[0]!;
  const append = async (loop: string, events: readonly Event[]): Promise<void> => {
    const seq = (await ledger.store.loops()).find(row => row.loop === loop)?.seq ?? 0;
    const appended = await ledger.store.append(loop, seq, events);
    if (!appended.ok) throw new Error(appended.failure.detail);
  };
  const file = (name: string): string => join(root, name);
  return {
    root,
    ledger,
    effects,
    append,
    put(name, text) {
      mkdirSync(dirname(file(name)), { recursive: true });
      writeFileSync(file(name), text);
      utimesSync(file(name), longAgo, longAgo); // whoever looks whether it is being written need not wait
      return file(name);
    },
    read: name => readFileSync(file(name), 'utf8'),
    has: name => existsSync(file(name)),
    list: folder => (existsSync(file(folder)) ? readdirSync(file(folder)).sort() : []),
    async record(path, { subject, hash, by, because }) {
      const given: Event = { type: 'approval.given', at: t0, subject, hash, by, because };
      const known = await rows(path);
      if (known !== undefined) {
        await append(known.loop, [given]);
        return known.name;
      }
      await append(`loop-${subject}`, [startedOf(subject, path, root), given]);
      return subject;
    },
    async run(path, failing = false) {
      const text = readFileSync(path, 'utf8');
      const parsed = format.parse(text);
      if (!parsed.ok) throw new Error('the plan does not parse');
      const id = parsed.document.id ?? '';
      if ((await rows(path)) === undefined) await append(`loop-${id}`, [startedOf(id, path, root)]);
      const { loop } = await rows(path);
      const { tasks } = parsed.document;
      const events: Event[] = [{ type: 'tasks.loaded', at: t0, tasks, hash: 'h', because: 'read' }];
      for (const [n, task] of tasks.entries()) events.push(...workOn(task.id, n + 1, failing));
      const reason = failing ? 'consecutive_errors' : 'goal_achieved';
      await append(loop, [...events, { type: 'loop.ended', at: t0 + 9_000, reason, because: 'so it went' }]);
      effects.push(...tasks.map(() => path));
      const status = failing ? ('blocked' as const) : ('done' as const);
      const marks = tasks.map(task => ({ id: task.id, done: !failing, skipped: false, status }));
      writeFileSync(path, format.mark(text, marks));
      return failing ? 6 : 0;
    },
    end: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

function workOn(task: string, iteration: number, failing: boolean): readonly Event[] {
  const at = t0 + iteration * 1_000;
  const base = { at, iteration, task, performer: 'x' };
  const failure = failing ? { failure: { kind: 'refused' as const, detail: 'the server said no' } } : {};
  return [
    { type: 'iteration.started', ...base, holder: 'h', attempt: 1, because: 'ready' },
    {
      type: 'iteration.ended',
      ...base,
      outcome: failing ? 'failed' : 'succeeded',
      durationMs: 1,
      because: 'over',
      excerpt: '',
      echo: '',
      ...failure,
    },
    failing
      ? { type: 'task.blocked', at, task, because: 'attempts used up' }
      : { type: 'task.closed', at, task, iteration, verified: true, because: 'good' },
  ];
}

function startedOf(id: string, path: string, root: string): Event {
  return {
    type: 'loop.started',
    at: t0,
    loop: `loop-${id}`,
    name: id,
    goal: 'Onboard Acme',
    document: path,
    directory: dirname(root),
    projectId: id,
    taskId: '',
    settings: defaultSettings('plan'),
    by: 'ada',
  };
}
