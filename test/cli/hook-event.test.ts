// The other hooks of the plugin through the real binary: a session that begins, and a command that begins a loop.
import { expect, it } from 'vitest';
import { eventsOf, inScratch, type Scratch } from './kit.ts';

interface Told {
  readonly systemMessage?: string;
  readonly decision?: string;
  readonly reason?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

async function hook(place: Scratch, event: object, env = {}): Promise<Told> {
  const input = JSON.stringify({ session_id: 's1', cwd: place.project, ...event });
  const told = await place.ralph(['hook', 'event'], { input, env: { CLAUDE_CODE_SESSION_ID: 's1', ...env } });
  expect([told.code, told.stderr]).toEqual([0, '']);
  return told.stdout === '' ? {} : JSON.parse(told.stdout);
}

const begins = (place: Scratch, more = {}, env = {}) =>
  hook(place, { hook_event_name: 'SessionStart', source: 'startup', ...more }, env);
const types = (place: Scratch, args: string, name = 'ralph-loop') => {
  const event = { hook_event_name: 'UserPromptExpansion', command_name: `ralph:${name}`, command_args: args };
  return hook(place, event);
};

it('begins the loop that was typed, with the words as they are and a prompt as long as it has to be', () =>
  inScratch(async place => {
    const words = `Don't $(touch pwned) \`touch pwned\`; touch pwned\n\n---\n"quoted" ${'long '.repeat(9_000)}end`;
    const told = await types(place, `${words} --max-iterations 7 --completion-promise "ALL DONE" --name house`);
    expect(told.systemMessage).toMatch(/^Loop house works in session s1\./);
    const { hookEventName, additionalContext = '' } = told.hookSpecificOutput ?? {};
    expect([hookEventName, additionalContext.startsWith(words)]).toEqual(['UserPromptExpansion', true]);
    expect(additionalContext).toContain('<promise>ALL DONE</promise>');
    expect(place.read('.claude/ralph-loop.local.md')).toMatch(/max_iterations: 7\ncompletion_promise: "ALL DONE"/);
    expect(await eventsOf(place)).toContainEqual(expect.objectContaining({ type: 'iteration.started' }));
  }));

it('begins a document, and a review, as files', () =>
  inScratch(async place => {
    place.put('notes.md', '# Notes\n\nThe house has doors.\n');
    place.put('list.md', '- [ ] Draw the roof\n');
    const list = await types(place, 'list.md --name list');
    expect(list.hookSpecificOutput?.additionalContext).toContain('Draw the roof');
    await place.ralph(['stop', 'list']);
    expect((await place.json(['hook', 'status', '--json'])) as object).toMatchObject({ loops: [{ session: 's1' }] });
    const other = JSON.stringify({
      hook_event_name: 'UserPromptExpansion',
      session_id: 's2',
      cwd: place.project,
      command_name: 'ralph:review-loop',
      command_args: 'notes.md --rounds 1',
    });
    const env = { CLAUDE_CODE_SESSION_ID: 's2' };
    const { stdout } = await place.ralph(['hook', 'event'], { input: other, env });
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toMatch(/You are this document's adversary/);
  }));

it('refuses in words what it cannot begin, and begins nothing', () =>
  inScratch(async place => {
    const reasons = [
      ['Draw --max-iterations many', /--max-iterations.*many/s],
      ['Draw --max-iteration 3', /did you mean --max-iterations/],
      ['Draw --verify npm test', /--verify stands among the words/],
      ['', /The prompt is empty/],
      ['Draw --completion-promise ""', /promise is empty/],
    ] as const;
    for (const [args, reason] of reasons)
      expect(await types(place, args)).toEqual({ decision: 'block', reason: expect.stringMatching(reason) });
    expect(await types(place, 'missing.md', 'review-loop')).toMatchObject({ decision: 'block' });
    expect(await types(place, 'Draw', 'another')).toEqual({});
    expect((await place.json(['loops', 'list', '--json'])) as object).toMatchObject({ loops: [] });
  }));

it('says at the begin of a session which loop waits here and how it goes on, to nobody else', () =>
  inScratch(async place => {
    expect(await begins(place)).toEqual({});
    await types(place, 'Draw --name house');
    const own = await begins(place, { source: 'resume' });
    expect(own.systemMessage).toMatch(/^Ralph: loop house waits in this session\. .* Go on: say anything$/);
    expect(own.hookSpecificOutput?.additionalContext).toContain(own.systemMessage);
    const other = await begins(place, { session_id: 's2' });
    expect(other.systemMessage).toMatch(
      / belongs to session s1\. .* Go on: open that session again, or .* --headless$/,
    );
    expect(await begins(place, { cwd: place.temporary, session_id: 's2' })).toEqual({});
    await place.ralph(['pause', 'house']);
    expect((await begins(place)).systemMessage).toMatch(/in this session/);
    expect(await begins(place, {}, { RALPH_LOOP: 'x', RALPH_ITERATION: '1' })).toEqual({});
    expect(await hook(place, { hook_event_name: 'Stop' })).toEqual({});
    const broken = await place.ralph(['hook', 'event'], { input: 'no JSON' });
    expect([broken.code, broken.stdout, broken.stderr]).toEqual([0, '', '']);
  }));

it('means the loop of the session by a command without a name, also where another one is newer', () =>
  inScratch(async place => {
    const begin = (name: string, session: string) =>
      place.ralph(['hook', 'start', 'Draw', '--agent', 'claude', '--session', session, '--name', name]);
    await begin('first', 's1');
    await begin('second', 's2');
    const named = async (env: object): Promise<string> =>
      (await place.ralph(['status'], { env: { ...env } })).stdout.split(' ')[0] ?? '';
    expect(await named({})).toBe('second');
    expect(await named({ CODEX_THREAD_ID: 's1' })).toBe('first');
    await place.ralph(['stop'], { env: { CLAUDE_CODE_SESSION_ID: 's1' } });
    const ended = (await place.json(['loops', 'list', '--json'])) as { loops: { name: string; ending?: object }[] };
    expect(ended.loops.map(({ name, ending }) => [name, ending !== undefined])).toEqual([
      ['second', false],
      ['first', true],
    ]);
  }));
