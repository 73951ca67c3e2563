// A vault and its owner: plans sorted into folders, one note and one question, answers inside the vault, terms that change later.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { confinementKind } from '../../src/processes/confine.ts';
import { effectsIn } from '../fixtures/mcp/tools.ts';
import { eventsOf, inScratch, pinnedNode, type Scratch, type Told } from './kit.ts';

const server = join(import.meta.dirname, '..', 'fixtures', 'mcp', 'server.ts');
const isConfined = confinementKind() === 'bubblewrap';
const vault = (place: Scratch, name: string): string => join(place.project, 'vault', name);
const sent = (place: Scratch): readonly string[] => effectsIn(join(place.root, 'effects')).map(one => one.tool);

function put(place: Scratch, name: string, text: string): void {
  mkdirSync(dirname(vault(place, name)), { recursive: true });
  writeFileSync(vault(place, name), text);
}

function servers(place: Scratch, more: object = {}): void {
  const folder = join(place.root, 'user', '.config', 'ralph');
  mkdirSync(folder, { recursive: true });
  const one = { command: pinnedNode, args: [server], env: { MCP_EFFECTS: join(place.root, 'effects') }, ...more };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { mail: one } }));
}

const call = (tool: string): string => `(action_type: mcp_mail)\n  - MCP Server: mail\n  - Tool: ${tool}`;
const plan = (id: string, ...steps: readonly string[]): string =>
  `---\nplan_id: ${id}\nobjective: Write to Acme\ntotal_steps: ${steps.length}\napproval_required: true\n---\n\n${steps.map((step, at) => `- [ ] **Step ${at + 1}:** Do part ${at + 1} ${step}`).join('\n')}\n`;

const once = (place: Scratch, ...more: readonly string[]): Promise<Told> =>
  place.ralph(['plan', 'watch', '--once', '--max-attempts', '1', ...more]);
const note = (place: Scratch, id: string): string => vault(place, `Needs_Action/plan_blocked_${id}.md`);
const read = (place: Scratch, id: string): string => readFileSync(note(place, id), 'utf8');
const tick = (place: Scratch, id: string, option: string): void =>
  writeFileSync(
    note(place, id),
    read(place, id)
      .split('\n')
      .map(line => (line.includes(` ${option}%%`) ? line.replace('- [ ]', '- [x]') : line))
      .join('\n'),
  );
const count = async (place: Scratch, type: string): Promise<number> =>
  (await eventsOf(place)).filter(one => one['type'] === type).length;

it.concurrent('a plan in a folder of its own among the approved ones is carried out, and lies in Done afterwards', () =>
  inScratch(async place => {
    servers(place);
    put(
      place,
      'Approved/Plans/clients/acme/a.md',
      plan('a', call('create_post').replace('- Tool', '- Params: {text: x}\n  - Tool')),
    );
    put(place, 'Approved/b.md', plan('b', '(action_type: notify_human)'));
    put(place, 'Approved/letter.md', '# A letter that somebody approved\n');
    put(place, 'Approved/.trash/c.md', plan('c', '(action_type: notify_human)'));
    expect((await once(place)).code).toBe(0);
    expect([sent(place), readdirSync(vault(place, 'Done')).sort()]).toEqual([['create_post'], ['a.md', 'b.md']]);
    expect(existsSync(note(place, 'letter'))).toBe(false);
    expect(existsSync(vault(place, 'Approved/.trash/c.md'))).toBe(true);
    for (const words of [
      ['status', 'a'],
      ['loops', 'list'],
    ])
      expect((await place.ralph(words)).stdout).toContain(vault(place, 'Done/a.md'));
    const { stdout } = await place.ralph(['explain', 'a']);
    expect(stdout).toContain('tool create_post; next in order');
    expect(stdout).toContain('did it with the tool create_post');
    expect((await place.ralph(['report', 'a'])).stdout).toContain(
      'carried out with the tool create\\_post'.replace('\\', ''),
    );
    expect(readFileSync(vault(place, 'Logs/Plan_Execution/a.md'), 'utf8')).toContain('the tool create');
  }));

it.concurrent('a blocked plan is begun once: one note, one question, and another look adds nothing to its ledger', () =>
  inScratch(async place => {
    servers(place);
    put(place, 'Approved/Plans/q1/a.md', plan('a', call('fail'), '(action_type: notify_human)'));
    expect((await once(place)).code).toBe(5);
    const before = await eventsOf(place);
    const again = await once(place);
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining('Plan a waits for you (E1): ')]);
    expect(again.stderr).not.toContain('goes on');
    expect((await eventsOf(place)).length).toBe(before.length);
    expect(readdirSync(vault(place, 'Needs_Action')).sort()).toEqual([
      'plan_blocked_a.md',
      'plan_notification_a_step_2.md',
    ]);
    const text = read(place, 'a');
    for (const words of [
      '**Plan:** Write to Acme',
      '**File:** [[a.md]]',
      '**Lies in:** Approved/Plans/q1/a.md',
      '**Step 1:** Do part 1',
      '**By:** the tool fail of the MCP server mail',
      '> Iteration 1: no such customer',
    ])
      expect(text).toContain(words);
  }));

it.concurrent('where agents are not confined the note has no boxes, and one that somebody draws there is no answer', () =>
  inScratch(async place => {
    servers(place);
    put(place, 'Approved/Plans/a.md', plan('a', call('fail')));
    expect((await once(place, '--sandbox', 'none')).code).toBe(5);
    expect(read(place, 'a')).toContain('This is off: agents are not confined');
    writeFileSync(note(place, 'a'), `${read(place, 'a')}\n- [x] Leave it out %%ralph E1 2 leave-out%%\n`);
    const told = await once(place, '--sandbox', 'none');
    expect([told.code, told.stderr]).toEqual([5, expect.stringContaining('is not taken: agents are not confined')]);
    expect(await count(place, 'escalation.answered')).toBe(0);
  }));

it.runIf(isConfined)('a box that its owner ticks is the answer, a running watch takes it, and the note goes', () =>
  inScratch(async place => {
    servers(place);
    put(place, 'Approved/Plans/a.md', plan('a', call('fail'), '(action_type: notify_human)'));
    const live = place.start(['plan', 'watch', '--max-attempts', '1']);
    await live.says('ralph answer a/E1');
    tick(place, 'a', 'leave-out');
    await live.says('Plan a: E1 was answered in its note.');
    await live.says('Done: 1 of 2 tasks done');
    live.child.kill('SIGINT');
    expect((await live.ended).code).toBe(130);
    expect([existsSync(note(place, 'a')), readdirSync(vault(place, 'Done'))]).toEqual([false, ['a.md']]);
    const answers = (await eventsOf(place)).filter(one => one['type'] === 'escalation.answered');
    expect(answers).toMatchObject([{ id: 'E1', by: 'a note in the vault', answer: { kind: 'option', option: 2 } }]);
  }),
);

it.runIf(isConfined)('two boxes are no answer, and the note says so; ralph plan run takes one too', () =>
  inScratch(async place => {
    servers(place);
    put(place, 'Approved/Plans/a.md', plan('a', call('fail'), '(action_type: notify_human)'));
    await once(place);
    for (const option of ['leave-out', 'try-again']) tick(place, 'a', option);
    await once(place);
    expect(read(place, 'a')).toContain('**Not taken:** several boxes of E1 are ticked; tick one');
    expect(await count(place, 'escalation.answered')).toBe(0);
    tick(place, 'a', 'leave-out');
    expect((await place.ralph(['plan', 'run', 'a', '--quiet'])).code).toBe(0);
  }),
);

it.runIf(isConfined)('a confined agent can write no answer', () =>
  inScratch(async place => {
    servers(place);
    const reaches = `read -r _; for f in plan_blocked_a.md x.md; do echo "- [x] a %%ralph E1 2 leave-out%%" >> vault/Needs_Action/$f || echo refused >> log; done; echo "Task step_2 complete"`;
    put(place, 'Approved/Plans/a.md', plan('a', call('fail'), '(action_type: agent)'));
    await once(place, '--agent-command', reaches);
    expect([place.read('log'), existsSync(vault(place, 'Needs_Action/x.md'))]).toEqual(['refused\nrefused\n', false]);
    expect(await count(place, 'escalation.answered')).toBe(0);
  }),
);

it.concurrent('a limit in .env that is tighter than when the plan was approved counts at once', () =>
  inScratch(async place => {
    servers(place, { timeout: '30s' });
    const step = '(action_type: notify_human)';
    put(place, 'Plans/a.md', plan('a', step, step, step, call('greet')));
    place.put('.env', 'MAX_PLAN_ITERATIONS=5\n');
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    place.put('.env', 'MAX_PLAN_ITERATIONS=2\n');
    expect((await place.ralph(['plan', 'run', 'a', '--quiet'])).code).toBe(3);
    expect(await count(place, 'iteration.started')).toBe(2);
    await place.ralph(['resume', 'a', '--max-iterations', '3', '--quiet']);
    expect(await count(place, 'iteration.started')).toBe(3);
  }));

it.concurrent('a looser limit in .env after the yes does not count, until somebody says yes again', () =>
  inScratch(async place => {
    const step = '(action_type: notify_human)';
    put(place, 'Plans/a.md', plan('a', step, step, step));
    place.put('.env', 'MAX_PLAN_ITERATIONS=2\n');
    await place.ralph(['plan', 'approve', 'a', '--yes']);
    place.put('.env', 'MAX_PLAN_ITERATIONS=9\n');
    const shown = await place.ralph(['run', 'vault/Approved/Plans/a.md', '--dry-run']);
    expect(shown.stderr).toContain('it does not count: --max-iterations is 9 in a file; 2 holds');
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).stdout).toContain('--max-iterations is 9 in a file');
    expect((await place.ralph(['plan', 'run', 'a', '--quiet'])).code).toBe(0);
    expect(await count(place, 'approval.given')).toBe(2);
  }));

/** Each that .env may set for a plan: tight, as approved, loose; its flag, and the limit in the ledger when it is loose. */
const terms = [
  ['MAX_PLAN_ITERATIONS', '8', '9', '12', '--max-iterations', 'iterationsMax', 12],
  ['PLAN_RETRY_ATTEMPTS', '1', '2', '5', '--retries', 'attemptsPerTaskMax', 6],
  ['RALPH_MAX_COST', '5', '10', '20', '--max-cost', 'costUsdMicrosMax', 20_000_000],
  ['RALPH_MAX_TOKENS', '1000', '2000', '3000', '--max-tokens', 'tokensMax', 3_000],
  ['RALPH_MAX_DURATION', '1h', '2h', '3h', '--max-duration', 'durationMsMax', 10_800_000],
  ['RALPH_ITERATION_TIMEOUT', '10m', '20m', '30m', '--iteration-timeout', 'iterationMsMax', 1_800_000],
  ['RALPH_MAX_ERRORS', '3', '4', '6', '--max-errors', 'consecutiveErrorsMax', 6],
  ['RALPH_NO_PROGRESS', '3', '4', '5', '--no-progress', 'noProgressIterations', 5],
  ['RALPH_MAX_BLOCKED', '2', '4', '5', '--max-blocked', 'blockedMax', 5],
  ['RALPH_MAX_AVERAGE_DURATION', '10m', '20m', '25m', '--max-average-duration', 'averageIterationMsMax', 1_500_000],
] as const;
const envFile = (column: 1 | 2 | 3): string => terms.map(row => `${row[0]}=${row[column]}\n`).join('');

async function limitsOf(place: Scratch, loop: string): Promise<Readonly<Record<string, number>>> {
  const shown = (await place.json(['loops', 'show', loop, '--json'])) as {
    readonly folded: { readonly settings: { readonly limits: Readonly<Record<string, number>> } };
  };
  return shown.folded.settings.limits;
}

it.concurrent('every limit that .env may set counts at once when it is tighter than the approved one', () =>
  inScratch(async place => {
    put(place, 'Plans/a.md', plan('a', '(action_type: notify_human)'));
    place.put('.env', envFile(2));
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    const approved = await limitsOf(place, 'a');
    place.put('.env', envFile(1));
    expect((await place.ralph(['plan', 'run', 'a', '--quiet'])).code).toBe(0);
    const held = await limitsOf(place, 'a');
    expect(terms.filter(([, , , , , limit]) => !(held[limit]! < approved[limit]!))).toEqual([]);
  }));

it.concurrent('every looser one is said by its flag, and counts after another yes alone', () =>
  inScratch(async place => {
    put(place, 'Plans/a.md', plan('a', '(action_type: notify_human)'));
    place.put('.env', envFile(2));
    await place.ralph(['plan', 'approve', 'a', '--yes']);
    const approved = await limitsOf(place, 'a');
    place.put('.env', envFile(3));
    const shown = (await place.ralph(['run', 'vault/Approved/Plans/a.md', '--dry-run'])).stderr.replaceAll(/\s+/g, ' ');
    const lines = terms.map(([, , , , flag]) => `it does not count: ${flag} is `);
    expect(lines.filter(line => !shown.includes(line))).toEqual([]);
    expect(shown).toContain('--retries is 5 in a file; 2 holds');
    expect(shown).toContain('--max-cost is $20.00 in a file; $10.00 holds');
    expect(shown).toContain('--max-duration is 3h in a file; 2h holds');
    expect(await limitsOf(place, 'a')).toEqual(approved);
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    const now = await limitsOf(place, 'a');
    expect(terms.map(([, , , , , limit]) => [limit, now[limit]])).toEqual(
      terms.map(([, , , , , limit, loose]) => [limit, loose]),
    );
  }));

it.concurrent('another command of an MCP server after the yes: exit 5, until somebody looks and says yes again', () =>
  inScratch(async place => {
    servers(place);
    put(place, 'Plans/a.md', plan('a', call('greet')));
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    servers(place, { args: [server, '--other'] });
    const refused = await place.ralph(['plan', 'run', 'a', '--quiet']);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('MCP server mail is not the one')]);
    const asked = await place.ralph(['plan', 'approve', 'a', '--no-input']);
    expect([asked.code, asked.stdout]).toEqual([2, expect.stringContaining('mail is another command or address')]);
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    expect((await place.ralph(['plan', 'run', 'a', '--quiet'])).code).toBe(0);
  }));

it.concurrent('less than the approved time of a server counts at once; more of it, and more tools to repeat, after another yes alone', () =>
  inScratch(async place => {
    servers(place, { timeout: '30s', idempotent: ['greet'] });
    put(place, 'Plans/a.md', plan('a', call('slow')));
    expect((await place.ralph(['plan', 'approve', 'a', '--yes'])).code).toBe(0);
    servers(place, { timeout: '60s', idempotent: ['greet', 'slow'] });
    const shown = await place.ralph(['run', 'vault/Approved/Plans/a.md', '--dry-run']);
    expect(shown.stderr).toContain('it does not count: calls of the MCP server mail may take longer');
    expect(shown.stderr).toContain('it does not count: more tools of the MCP server mail are called idempotent: slow');
    servers(place, { timeout: '300ms', idempotent: ['greet', 'slow'] });
    const told = await place.ralph(['plan', 'run', 'a']);
    expect([told.code, told.stderr]).toEqual([5, expect.stringContaining('no answer in 0.3 s')]);
    expect(await count(place, 'iteration.started')).toBe(1); // not called idempotent when it was approved: not repeated
  }));

const outside = ['/etc/cron.d/x', '../x.md', 'away/cron.d/x', '.git/hooks/post-commit'];

it.concurrent.each(outside)('a file that a run would refuse, %s, is refused by lint and approve already', path =>
  inScratch(async place => {
    execFileSync('git', ['init', '-q'], { cwd: place.project, env: place.env });
    symlinkSync('/etc', join(place.project, 'away'));
    put(place, 'Plans/a.md', plan('a', `(action_type: create_file)\n  - File: ${path}\n  - Content: x`));
    const linted = await place.ralph(['plan', 'lint', 'a']);
    expect([linted.code, linted.stdout]).toEqual([2, expect.stringContaining(path)]);
    const approved = await place.ralph(['plan', 'approve', 'a', '--yes']);
    expect([approved.code, approved.stderr]).toEqual([2, expect.stringContaining(path)]);
    expect(existsSync(vault(place, 'Approved/Plans/a.md'))).toBe(false);
  }),
);

it.concurrent('the note of a blocked plan names every error that its step met', () =>
  inScratch(async place => {
    put(place, 'Approved/Plans/a.md', plan('a', '(action_type: agent)'));
    const agent = 'read -r _; echo x >>tries; echo "Task step_1 complete"';
    const check = 'test -f tries || exit 0; echo "Error: number $(wc -l <tries)"; exit 1';
    const words = ['plan', 'watch', '--once', '--max-attempts', '3', '--agent-command', agent, '--verify', check];
    expect((await place.ralph(words)).code).toBe(8); // its last check failed
    for (const at of [1, 2, 3])
      expect(read(place, 'a')).toMatch(new RegExp(`> Iteration ${at}: .*Error: number ${at}`));
  }));

/** As Obsidian leaves a file: properties in an order of its own, its line ends, a link and a tag of the owner's. */
const asObsidian = (text: string, words: string): string =>
  text
    .replace(
      /^---\n([\s\S]*?)\n---/,
      (_all, rows: string) => `---\ntags: [work]\n${rows.split('\n').reverse().join('\n')}\n---`,
    )
    .replace(
      '- [ ] In my own words (write them here, then tick):',
      `\t- [x] In my own words (write them here, then tick): ${words}`,
    )
    .concat('\n\nSee [[Clients/Acme]] #waiting ✅ 2026-11-18\n')
    .replaceAll('\n', '\r\n');

it.runIf(isConfined)('words that its owner writes in Obsidian are the answer, and the agent reads them', () =>
  inScratch(async place => {
    put(place, 'Approved/Plans/a.md', plan('a', '(action_type: agent)'));
    const asks = `echo '<escalate type="stuck"><summary>Which?</summary><question>Which customer?</question></escalate>'`;
    const agent = `cat >prompt; if grep -q "Acme [&] sons" prompt; then echo "Task step_1 complete"; else ${asks}; fi`;
    expect((await once(place, '--agent-command', agent)).code).toBe(5);
    writeFileSync(note(place, 'a'), asObsidian(read(place, 'a'), 'Acme & sons'));
    const told = await once(place, '--agent-command', agent);
    expect([told.code, told.stderr]).toEqual([0, expect.stringContaining('Plan a: E1 was answered in its note.')]);
    expect(readdirSync(vault(place, 'Done'))).toEqual(['a.md']);
    const answers = (await eventsOf(place)).filter(one => one['type'] === 'escalation.answered');
    expect(answers).toMatchObject([{ by: 'a note in the vault', answer: { kind: 'text', text: 'Acme & sons' } }]);
  }),
);

it.concurrent('a server that is mended while a watch runs: the plan that was refused for it begins', () =>
  inScratch(async place => {
    mkdirSync(join(place.root, 'user', '.config', 'ralph'), { recursive: true });
    put(place, 'Approved/Plans/a.md', plan('a', call('greet')));
    const live = place.start(['plan', 'watch']);
    await live.says('No MCP server is called "mail"');
    await live.says('Watching ');
    servers(place);
    await live.says('Done: 1 of 1 task done');
    live.child.kill('SIGINT');
    await live.ended;
    expect(existsSync(note(place, 'a'))).toBe(false);
  }));

it.concurrent("the project's own tests are the checks of a plan's agent steps, and approve takes the file of servers", () =>
  inScratch(async place => {
    place.put('package.json', JSON.stringify({ scripts: { test: 'test -f made.txt' } }));
    put(place, 'Plans/a.md', plan('a', '(action_type: agent)', call('greet')));
    servers(place);
    place.put('../own.json', readFileSync(join(place.root, 'user', '.config', 'ralph', 'mcp.json'), 'utf8'));
    writeFileSync(join(place.root, 'user', '.config', 'ralph', 'mcp.json'), '{"mcpServers": {}}');
    expect((await place.ralph(['plan', 'approve', 'a', '--yes', '--mcp-config', '../own.json'])).code).toBe(0);
    const agent = 'read -r _; echo x > made.txt; echo "Task step_1 complete"';
    const told = await place.ralph(['plan', 'run', 'a', '--agent-command', agent]);
    expect([told.code, told.stderr]).toEqual([0, expect.stringContaining('npm test')]);
    expect((await eventsOf(place)).filter(one => one['type'] === 'check.ended')).toMatchObject([
      { check: 'npm test', passed: true },
    ]);
  }));
