// Loops in a session through the real binary: one turn after the other, as the host of a session calls it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventsOf, inScratch, type Scratch } from './kit.ts';

const start = [
  'hook',
  'start',
  'Draw the house',
  '--agent',
  'claude',
  '--completion-promise',
  'DONE',
  '--name',
  'house',
];

/** The end of a turn: what the host is told. */
async function ends(place: Scratch, message: string, more: object = {}, words: readonly string[] = [], env = {}) {
  const event = {
    session_id: 's1',
    cwd: place.project,
    transcript_path: join(place.root, 'transcript.jsonl'),
    hook_event_name: 'Stop',
    prompt_id: 'p1',
    stop_hook_active: false,
    last_assistant_message: message,
    ...more,
  };
  const { code, stdout } = await place.ralph(['hook', 'stop', ...words], { input: JSON.stringify(event), env });
  expect(code).toBe(0);
  return stdout === '' ? undefined : (JSON.parse(stdout) as Readonly<Record<string, string>>);
}

const begin = (place: Scratch, ...more: readonly string[]) => place.ralph([...start, '--session', 's1', ...more]);
const stateFile = '.claude/ralph-loop.local.md';
const types = async (place: Scratch) => (await eventsOf(place)).map(({ type }) => type);

it('goes from turn to turn, checks the promise itself, and ends exactly at it', () =>
  inScratch(async place => {
    const check = process.platform === 'win32' ? 'exit 0' : 'test -e house.txt';
    const begun = await begin(place, '--verify', check, '--allow-red-start', '--max-iterations', '9');
    expect(begun.code).toBe(0);
    expect(begun.stdout).toMatch(/^Draw the house\n/);
    expect(place.read(stateFile)).toMatch(/^iteration: 1\nmax_iterations: 9\ncompletion_promise: "DONE"$/m);
    expect(await ends(place, 'x', { session_id: 's2' })).toBeUndefined();
    expect(await ends(place, 'x', { agent_id: 'a1' })).toBeUndefined();
    const near = await ends(place, 'I say <promise>DONE</promise> when it is done.');
    expect(near?.['decision']).toBe('block');
    expect(near?.['reason']).toMatch(/^Draw the house\n/);
    expect(near?.['systemMessage']).toMatch(/iteration 2 of 9.*Not accepted last time: .*DONE/s);
    expect(place.read(stateFile)).toMatch(/^iteration: 2$/m);
    const red = await ends(place, '<promise>DONE</promise>', { stop_hook_active: true });
    expect(red).toMatchObject({ decision: 'block', systemMessage: expect.stringContaining('Not accepted last time') });
    place.put('house.txt', 'four walls\n');
    const end = await ends(place, 'It stands.\n\n<promise>DONE</promise>', { stop_hook_active: true });
    expect(end).not.toHaveProperty('decision');
    expect(end?.['systemMessage']).toMatch(/^Ralph loop house: Done/);
    expect(existsSync(join(place.project, stateFile))).toBe(false);
    expect(await ends(place, 'anything else')).toBeUndefined();
    const all = await types(place);
    expect(all.filter(type => type === 'iteration.started').length).toBe(3);
    expect(all.at(-1)).toBe('loop.ended');
  }));

it('ends at the maximum with the reason, and another process does not take it meanwhile; no jq, perl or shell is needed (F64)', () =>
  inScratch(async place => {
    await begin(place, '--max-iterations', '2');
    expect((await place.ralph(['status'])).stdout).toMatch(/process {4}none: it works in session s1/);
    const held = await place.ralph(['resume', 'house', '--yes', '--no-input']);
    expect(held.stderr).toMatch(/It goes on in its session/);
    expect((await types(place)).includes('iteration.ended')).toBe(false);
    const bare = { PATH: place.temporary };
    expect(await ends(place, 'one', {}, [], bare)).toMatchObject({ decision: 'block' });
    const end = await ends(place, 'two', { stop_hook_active: true }, [], bare);
    expect(end?.['systemMessage']).toMatch(/--max-iterations/);
    expect(place.read(stateFile)).toMatch(/^active: false\niteration: 2$/m);
  }));

it('goes on outside of the session with --headless, with the same history, and back in it', () =>
  inScratch(async place => {
    await begin(place, '--max-iterations', '6');
    await ends(place, 'one');
    writeFileSync(join(place.project, 'script.json'), JSON.stringify({ turns: [{ steps: [{ say: 'headless' }] }] }));
    const words = ['--headless', '--agent', 'scripted', '--script', 'script.json', '--max-iterations', '4', '--yes'];
    const ran = await place.ralph(['resume', 'house', ...words, '--no-input']);
    expect(ran.code).toBe(3);
    const ended = (await eventsOf(place)).filter(({ type }) => type === 'iteration.ended');
    expect(ended.map(({ outcome }) => outcome)).toEqual(['succeeded', 'interrupted', 'succeeded', 'succeeded']);
    const told = await ends(place, 'three', { prompt_id: 'p2' });
    expect(told).not.toHaveProperty('decision');
    expect(told?.['systemMessage']).toMatch(/--max-iterations/);
  }));

it('is over at once when somebody stops it between two turns, and the session hears of it', () =>
  inScratch(async place => {
    await begin(place);
    await ends(place, 'one');
    const stopped = await place.ralph(['stop', 'house']);
    expect([stopped.code, stopped.stderr + stopped.stdout]).toEqual([0, expect.stringContaining('recorded')]);
    expect((await types(place)).at(-1)).toBe('loop.ended');
    const told = await ends(place, 'two', { stop_hook_active: true });
    expect(told).toEqual({ systemMessage: expect.stringContaining('Stopped on request') });
    expect(place.read(stateFile)).toMatch(/^active: false$/m);
  }));

it('lets reviewers look one after the other, and mends what they find', () =>
  inScratch(async place => {
    place.put('notes.md', '# Notes\n\nThe house has doors.\n');
    const words = [
      'hook',
      'start',
      'notes.md',
      '--mode',
      'review',
      '--agent',
      'claude',
      '--session',
      's1',
      '--name',
      'notes',
    ];
    const begun = await place.ralph([...words, '--rounds', '1']);
    expect(begun.stdout).toMatch(/You are this document's adversary/);
    const issue = { issue: 'How many doors?', severity: 'high', place: 'line 3', confidence: 90 };
    const says = (issues: readonly object[]): string =>
      `<review>${JSON.stringify({ confidence: 96, issues })}</review>`;
    const second = await ends(place, says([issue]));
    expect(second?.['reason']).toMatch(/You speak for everybody/);
    expect(second?.['systemMessage']).toMatch(/iteration 2 of 60\. 1\/3 tasks done\./);
    const third = await ends(place, says([]), { stop_hook_active: true });
    expect(third?.['reason']).toMatch(/You ask for what the document does not say/);
    const fix = await ends(place, says([]), { stop_hook_active: true });
    expect(fix?.['reason']).toMatch(/You mend a document.*How many doors\?/s);
    expect(place.read('.claude/review-loop-state.yaml')).toMatch(/^in_progress_count: 1$/m);
    const asked = '<review-blocked>MANUAL_INTERVENTION_REQUIRED</review-blocked>';
    const end = await ends(place, asked, { stop_hook_active: true });
    expect(end?.['systemMessage']).toMatch(/I1 needs a person.*ralph answer/s);
  }));

it('proves nothing by a check that takes longer than the hook may: it pauses, and says how to go on', () =>
  inScratch(async place => {
    await begin(place, '--verify', 'test ! -e waits || tail -f /dev/null');
    place.put('waits', '');
    const told = await ends(place, '<promise>DONE</promise>', {}, ['--timeout', '11']);
    expect(told).not.toHaveProperty('decision');
    expect(told?.['systemMessage']).toMatch(/not proven.*ralph resume house --headless/s);
    const all = await types(place);
    expect(all.includes('loop.paused')).toBe(true);
    expect(all.includes('task.closed')).toBe(false);
  }));

it('lets the turn end whatever comes, and keeps what there is (B70)', () =>
  inScratch(async place => {
    expect(await ends(place, 'nobody has asked for a loop')).toBeUndefined();
    expect(existsSync(place.home)).toBe(false);
    await begin(place);
    for (const input of ['', 'no JSON', '{"hook_event_name":"Stop"}', '[]']) {
      const told = await place.ralph(['hook', 'stop'], { input });
      expect([told.code, told.stdout]).toEqual([0, '']);
    }
    expect(await ends(place, '', { last_assistant_message: undefined })).toBeUndefined();
    expect(place.read(stateFile)).toMatch(/^active: true$/m);
    const { troubles, loops } = (await place.json(['hook', 'status', '--json'])) as {
      troubles: object[];
      loops: object[];
    };
    expect([troubles.length, loops.length]).toEqual([5, 1]);
  }));

it('refuses an empty promise, a second loop of a session, and --headless of a loop that has none', () =>
  inScratch(async place => {
    const empty = await place.ralph([...start.slice(0, -4), '--completion-promise', '', '--session', 's1']);
    expect([empty.code, empty.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('promise is empty'),
    ]);
    await begin(place);
    expect((await begin(place)).code).toBe(2);
    place.put(stateFile, '---\nactive: true\niteration: 1\ncompletion_promise: ""\n---\n\nDo it\n');
    const run = await place.ralph(['run', stateFile, '--agent-command', 'true', '--dry-run']);
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('completion_promise')]);
  }));
