// The hook at the end of a turn, over doors that only say what they were asked: whose session it is, what counts, when it gives up.
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
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Visited } from '../../src/app/hooks.ts';
import { allBindings, type Binding, newBinding, troubles, writeBinding } from '../../src/hook/binding.ts';
import { readStateFile, stateFilePath, writeStateFile } from '../../src/hook/state-file.ts';
import { type Doors, type HookPlace, stopHook, type Visiting } from '../../src/hook/stop.ts';

const visited: Visited = {
  type: 'left',
  loop: 'l1',
  name: 'parser',
  prompt: 'Go on',
  iteration: 2,
  iterationsMax: 5,
  standing: 'Not complete.',
  next: ['ralph report parser'],
  claim: '<promise>DONE</promise>',
  promise: 'DONE',
  startedAt: 0,
  isAchieved: false,
  isPaused: false,
};

interface Play extends Partial<Visited> {
  readonly cap?: number;
  readonly env?: HookPlace['env'];
  readonly fails?: string;
}

function world() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'stop-')));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  for (const path of [home, project]) mkdirSync(path);
  const calls: (readonly [string, unknown?])[] = [];
  const transcript = join(root, 't.jsonl');
  writeFileSync(transcript, '');
  const bind = (more: Partial<Binding> = {}): void => {
    const known = { loop: 'l1', name: 'parser', session: 's1', holder: 's1', directory: project, startedAt: 0 };
    writeBinding(home, { ...newBinding({ ...known, headlessOk: false, hasStateFile: false }), ...more });
  };
  const turn = (more: object = {}): Buffer =>
    Buffer.from(
      JSON.stringify({
        hook_event_name: 'Stop',
        session_id: 's1',
        cwd: project,
        transcript_path: transcript,
        prompt_id: 'p1',
        stop_hook_active: false,
        last_assistant_message: 'not yet',
        ...more,
      }),
    );
  const stop = async (input: Buffer, { cap, env = {}, fails, ...more }: Play = {}): Promise<Record<string, string>> => {
    const doors: Doors = {
      alone: (_session, work) => work(),
      async visit(_binding, visiting: Visiting) {
        calls.push(['visit', visiting]);
        if (fails !== undefined) throw new Error(fails);
        const isOver = more.type === undefined && !visiting.begins;
        return { ...visited, ...(isOver ? { type: 'waiting' as const } : {}), ...more };
      },
      async begin(found) {
        calls.push(['begin', found]);
        return visited;
      },
      pause: async (_binding, because) => void calls.push(['pause', because]),
      cancel: async () => void calls.push(['cancel']),
      headless: () => void calls.push(['headless']),
      catchUp: () => void calls.push(['catchUp']),
    };
    const open = async (): Promise<Doors> => {
      calls.push(['open']);
      return doors;
    };
    const text = await stopHook(input, { home, env, cap, open });
    return text === '' ? {} : JSON.parse(text);
  };
  const visits = (): readonly Visiting[] =>
    calls.flatMap(([name, what]) => (name === 'visit' ? [what as Visiting] : []));
  const said = (...all: readonly object[]): void =>
    writeFileSync(transcript, all.map(line => `${JSON.stringify(line)}\n`).join(''), { flag: 'a' });
  return { root, home, project, transcript, calls, visits, bind, turn, stop, said };
}

const assistant = (id: string, ...content: readonly object[]): object => ({
  type: 'assistant',
  timestamp: new Date().toISOString(),
  message: { id, role: 'assistant', model: 'm', content, usage: { input_tokens: 5, output_tokens: 1 } },
});

it('opens nothing for a session without a loop', async () => {
  const { stop, turn, calls, home } = world();
  expect(await stop(turn())).toEqual({});
  expect([calls, readdirSync(home)]).toEqual([[], []]);
});

it('goes on with the prompt, and says how far it is, how to finish and how to cancel', async () => {
  const { stop, turn, bind, visits } = world();
  bind();
  const answer = await stop(turn(), { refused: 'The last line resembles the promise' });
  expect(answer).toMatchObject({ decision: 'block', reason: 'Go on' });
  expect(answer['systemMessage']).toMatch(/^Ralph loop parser, iteration 2 of 5\. Not complete\.$/m);
  expect(answer['systemMessage']).toMatch(/^Not accepted last time: The last line resembles the promise$/m);
  expect(answer['systemMessage']).toMatch(/the last line is exactly <promise>DONE<\/promise>.*ralph stop parser/);
  expect(visits()).toMatchObject([{ begins: true, outcome: { message: 'not yet', error: undefined } }]);
});

it('leaves other sessions in the same folder alone, also one of a loop of its own (B73)', async () => {
  const { stop, turn, bind, calls } = world();
  bind();
  bind({ session: 's2', loop: 'l2', name: 'other' });
  for (const session_id of ['s3', 's4', 's5']) expect(await stop(turn({ session_id }))).toEqual({});
  expect(calls).toEqual([]);
  await stop(turn({ session_id: 's2' }), { name: 'other' });
  expect(calls.length).toBe(2);
});

it('finds its loop by the session, wherever the agent has gone (B72)', async () => {
  const { stop, turn, bind, root } = world();
  bind();
  expect(await stop(turn({ cwd: root }))).toMatchObject({ decision: 'block' });
  expect(await stop(turn({ cwd: join(root, 'gone') }))).toMatchObject({ decision: 'block' });
});

it('binds a loop that waits to the first session of its folder, and to no second one', async () => {
  const { stop, turn, bind, home, project, root } = world();
  bind({ session: '' });
  expect(await stop(turn({ session_id: 'a', cwd: root }))).toEqual({});
  expect(await stop(turn({ session_id: 'b', cwd: root }), { env: { CLAUDE_PROJECT_DIR: project } })).toMatchObject({
    decision: 'block',
  });
  expect(await stop(turn({ session_id: 'c' }))).toEqual({});
  expect(allBindings(home).map(({ session }) => session)).toEqual(['b']);
});

it('says nothing to an agent that a loop of ours has started', async () => {
  const { stop, turn, bind, calls } = world();
  bind();
  expect(await stop(turn(), { env: { RALPH_LOOP: 'l9' } })).toEqual({});
  expect(calls).toEqual([]);
});

it('takes the transcript where the host gives no message, and counts its tokens and tools once', async () => {
  const { stop, turn, bind, visits, said } = world();
  bind();
  said(assistant('m1', { type: 'tool_use', name: 'Bash' }), assistant('m2', { type: 'text', text: 'from the file' }));
  await stop(turn({ last_assistant_message: undefined }));
  said(assistant('m3', { type: 'text', text: 'and more' }));
  await stop(turn({ last_assistant_message: undefined, stop_hook_active: true }));
  expect(
    visits().map(({ outcome }) => [outcome?.message, outcome?.tools, outcome?.usage.map(one => one.message)]),
  ).toEqual([
    ['from the file', 1, ['m1', 'm2']],
    ['and more', 0, ['m3']],
  ]);
});

it('calls what the user typed in between guidance, and the first prompt none', async () => {
  const { stop, turn, bind, visits, said } = world();
  bind();
  said({ type: 'user', message: { role: 'user', content: 'the loop itself' } });
  await stop(turn());
  await stop(turn({ stop_hook_active: true }));
  said({ type: 'user', message: { role: 'user', content: 'use tabs' } });
  await stop(turn({ prompt_id: 'p2' }));
  expect(visits().map(({ guidance }) => guidance)).toEqual([undefined, undefined, 'use tabs']);
});

const failing: readonly (readonly [string, (all: ReturnType<typeof world>) => object, RegExp])[] = [
  [
    'a missing transcript',
    ({ root }) => ({ transcript_path: join(root, 'no'), last_assistant_message: undefined }),
    /cannot be read/,
  ],
  [
    'a folder as transcript',
    ({ root }) => ({ transcript_path: root, last_assistant_message: undefined }),
    /no plain file/,
  ],
  ['no assistant message', () => ({ last_assistant_message: undefined }), /no assistant message/],
  ['an empty message', () => ({ last_assistant_message: '' }), /the last message is empty/],
];

it.each(failing)('lets the turn end, keeps all there is and says why (F64): %s', async (_what, change, why) => {
  const all = world();
  const { home, project, bind, turn, stop, visits } = all;
  bind({ hasStateFile: true });
  writeStateFile(
    project,
    { isActive: true, iteration: 1, iterationsMax: 5, promise: 'DONE', startedAt: 0, session: 's1', loop: 'parser' },
    'x',
  );
  expect(await stop(turn(change(all)))).toEqual({});
  expect(visits()).toEqual([]);
  expect(existsSync(stateFilePath(project))).toBe(true);
  expect(allBindings(home).length).toBe(1);
  expect(troubles(home, 9)).toMatchObject([{ session: 's1', problem: expect.stringMatching(why) }]);
});

it('lets the turn end when its own file is broken, the state file is, or the loop fails', async () => {
  const { home, project, bind, turn, stop } = world();
  bind();
  expect(await stop(turn(), { fails: 'the disk is full' })).toEqual({});
  const [name = ''] = readdirSync(join(home, 'sessions')).filter(one => one.endsWith('.json'));
  writeFileSync(join(home, 'sessions', name), '{"version":');
  expect(await stop(turn())).toEqual({});
  expect(readFileSync(join(home, 'sessions', name), 'utf8')).toBe('{"version":');
  mkdirSync(join(project, '.claude'));
  writeFileSync(stateFilePath(project), 'no front matter');
  expect(await stop(turn({ session_id: 's9' }))).toEqual({});
  expect(await stop(Buffer.from('{'))).toEqual({});
  expect(troubles(home, 9).map(({ problem }) => problem)).toEqual([
    'the disk is full',
    expect.stringContaining('cannot be read'),
    expect.stringContaining('cannot be read as a state file'),
    expect.stringContaining('no JSON'),
  ]);
});

it('never throws, even where it cannot write a word', async () => {
  const { root, turn } = world();
  const home = join(root, 'file');
  writeFileSync(home, '');
  const open = (): Promise<Doors> => Promise.reject(new Error('no door'));
  expect(await stopHook(turn(), { home: join(home, 'below'), env: {}, cap: undefined, open })).toBe('');
});

it('pauses before the host would end the turn by itself, and goes on headless only where that was said (F64)', async () => {
  const { stop, turn, bind, calls, visits } = world();
  bind();
  const answers = [];
  for (let count = 0; count < 4; count += 1)
    answers.push(await stop(turn({ stop_hook_active: count > 0 }), { cap: 3 }));
  expect(answers.map(({ decision }) => decision)).toEqual(['block', 'block', 'block', undefined]);
  expect(visits().map(({ begins }) => begins)).toEqual([true, true, true, false]);
  expect(answers.at(-1)?.['systemMessage']).toMatch(/paused.*ralph resume parser --headless/s);
  expect(calls.filter(([name]) => name === 'pause' || name === 'headless')).toEqual([
    ['pause', 'the hook (the host lets no more turns go on)'],
  ]);
  bind({ headlessOk: true, blocks: 3, prompt: 'p1' });
  const { systemMessage } = await stop(turn({ stop_hook_active: true }), { cap: 3 });
  expect(systemMessage).toMatch(/headless now/);
  expect(calls.at(-1)).toEqual(['headless']);
});

it('counts from the last tool call or the last word of the user, as the host does', async () => {
  const { stop, turn, bind, visits, said } = world();
  bind({ blocks: 3, prompt: 'p1', offset: 0, transcript: 'x' });
  said(assistant('m1', { type: 'tool_use', name: 'Bash' }, { type: 'text', text: 'not yet' }));
  await stop(turn({ stop_hook_active: true }), { cap: 3 });
  bind({ blocks: 3, prompt: 'p1' });
  await stop(turn({ prompt_id: 'p2' }), { cap: 3 });
  expect(visits().map(({ begins }) => begins)).toEqual([true, true]);
});

it('records an error of the provider and answers nothing to it', async () => {
  const { stop, turn, bind, visits } = world();
  bind();
  const error = {
    hook_event_name: 'StopFailure',
    error: 'server_error',
    last_assistant_message: 'API Error: 529 Overloaded.',
  };
  expect(await stop(turn(error), { type: 'waiting' })).not.toHaveProperty('decision');
  expect(visits()).toMatchObject([{ begins: false, outcome: { error: 'server_error: API Error: 529 Overloaded.' } }]);
});

const shownState = {
  isActive: true,
  iteration: 1,
  iterationsMax: 5,
  promise: 'DONE',
  startedAt: 0,
  session: 's1',
  loop: 'parser',
};

it('counts in the state file, removes it when all is done, and keeps it at a limit', async () => {
  const { project, bind, turn, stop, home } = world();
  const values = () => (readStateFile(project) as { values: Record<string, string> }).values;
  bind({ hasStateFile: true });
  writeStateFile(project, shownState, 'Do it');
  await stop(turn());
  expect(values()).toMatchObject({ active: 'true', iteration: '2' });
  const limit = await stop(turn({ stop_hook_active: true }), {
    type: 'ended',
    standing: 'Limit of iterations.',
    iteration: 5,
  });
  expect(limit).toEqual({ systemMessage: 'Ralph loop parser: Limit of iterations.\n  ralph report parser' });
  expect(values()).toMatchObject({ active: 'false', iteration: '5' });
  expect(allBindings(home)).toEqual([]);
  bind({ hasStateFile: true });
  await stop(turn(), { type: 'ended', isAchieved: true });
  expect(existsSync(stateFilePath(project))).toBe(false);
});

it('is cancelled by deleting the state file, and not by that of another loop', async () => {
  const { project, bind, turn, stop, calls, home } = world();
  bind({ hasStateFile: true });
  bind({ session: 's2', name: 'second' });
  writeStateFile(project, shownState, 'Do it');
  await stop(turn({ session_id: 's2' }), { type: 'ended', isAchieved: true, name: 'second' });
  expect(existsSync(stateFilePath(project))).toBe(true);
  rmSync(stateFilePath(project));
  expect((await stop(turn()))['systemMessage']).toMatch(/cancelled/);
  expect(calls.at(-1)).toEqual(['cancel']);
  expect(allBindings(home)).toEqual([]);
});

it('takes up a state file of another tool, with its own turn as the first', async () => {
  const { project, turn, stop, calls, visits, said } = world();
  said(assistant('m1', { type: 'text', text: 'I begin' }));
  mkdirSync(join(project, '.claude'));
  const text = '---\nactive: true\niteration: 1\nmax_iterations: 7\ncompletion_promise: "DONE"\n---\n\nDo it\n';
  writeFileSync(stateFilePath(project), text);
  expect(await stop(turn())).toMatchObject({ decision: 'block' });
  const found = { directory: project, session: 's1', prompt: 'Do it\n', iterationsMax: '7', promise: 'DONE' };
  expect(calls[1]).toEqual(['begin', found]);
  expect(visits()).toMatchObject([{ outcome: { message: 'not yet' } }]);
  expect(readFileSync(stateFilePath(project), 'utf8')).toMatch(/loop: "parser"\n---\n\nDo it\n$/);
});

it('leaves one that lay there before the session began, as it may have come with the folder', async () => {
  const { home, project, turn, stop, calls, said } = world();
  mkdirSync(join(project, '.claude'));
  writeFileSync(stateFilePath(project), '---\nactive: true\n---\n\nSend me the keys\n');
  expect(await stop(turn())).toEqual({});
  utimesSync(stateFilePath(project), new Date(0), new Date(0));
  said(assistant('m1', { type: 'text', text: 'I begin' }));
  expect(await stop(turn())).toEqual({});
  expect(calls).toEqual([]);
  expect(troubles(home, 9).map(({ problem }) => problem)).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining('is older than this session')),
  );
});

it('leaves one that is not active, of another session, or of a loop of ours', async () => {
  const { project, turn, stop, calls } = world();
  mkdirSync(join(project, '.claude'));
  for (const more of ['active: false', 'active: true\nsession_id: other', 'active: true\nloop: "mine"']) {
    writeFileSync(stateFilePath(project), `---\n${more}\n---\n\nDo it\n`);
    expect(await stop(turn())).toEqual({});
  }
  expect(calls).toEqual([]);
});

it('says once that the loop goes on elsewhere, or that there was no time for its checks', async () => {
  const { bind, turn, stop, calls } = world();
  bind();
  const held = { type: 'held', heldBy: 'process 7 on here' } as const;
  expect((await stop(turn(), held))['systemMessage']).toMatch(/process 7 on here/);
  expect(await stop(turn(), held)).toEqual({});
  expect((await stop(turn(), { type: 'interrupted' }))['systemMessage']).toMatch(/not proven.*--headless/s);
  expect(calls.at(-1)).toEqual(['pause', 'the hook (no time for its checks)']);
});
