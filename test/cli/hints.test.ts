// Proves that what the commands say of a loop is true once it is over, cut or taken back, and that their hints lead somewhere.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerLoops } from '../../src/app/loops/loops.ts';
import { execute as answer } from '../../src/cli/commands/answer.ts';
import { execute as loopsList } from '../../src/cli/commands/loops-list.ts';
import { execute as resume, withRoom } from '../../src/cli/commands/resume.ts';
import { execute as status } from '../../src/cli/commands/status.ts';
import { execute as add } from '../../src/cli/commands/task-add.ts';
import { retry, skip } from '../../src/cli/commands/task-change.ts';
import { importTasks } from '../../src/cli/commands/task-convert.ts';
import { execute as list } from '../../src/cli/commands/task-list.ts';
import { execute as show } from '../../src/cli/commands/task-show.ts';
import type { Context } from '../../src/cli/context.ts';
import { bufferedView } from '../../src/cli/interactive.ts';
import { workWatch } from '../../src/cli/interrupt.ts';
import { liveLine, liveView } from '../../src/cli/live.ts';
import { makeStyle } from '../../src/cli/terminal.ts';
import type { Event } from '../../src/core/event.ts';
import { initialState } from '../../src/core/state.ts';
import type { TaskSpec } from '../../src/core/task.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import { standingWords } from '../../src/views/words.ts';
import { claims, Story, says, spec, t0, usd } from '../core/given.ts';

let directory: string;
let ledger: Ledger;
let out: string[];
let said: string[];
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-hints-')));
  ledger = memoryLedger();
  out = [];
  said = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const context = (): Context => ({
  env: {},
  directory,
  out: text => void out.push(text),
  print: text => void out.push(text),
  say: text => void said.push(text),
  home: () => directory,
  hasLedger: () => true,
  ledger: async () => ledger,
  loops: async () => new LedgerLoops({ ledger, home: directory, env: {}, warn: () => {} }),
  close: async () => {},
  by: 'ada',
});

function put(name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const prd = (...ids: readonly string[]): string =>
  JSON.stringify({
    project: 'shop',
    userStories: ids.map(id => ({ id, title: id, criteria: ['it works'], passes: id === 'A' })),
  });

/** What the story tells becomes the loop of this document. */
async function recorded(story: Story, document: string): Promise<void> {
  const events = story.events.map(event => (event.type === 'loop.started' ? { ...event, document, directory } : event));
  expect((await ledger.store.append('loop-0001', 0, events)).ok).toBe(true);
}

function finished(specs: readonly TaskSpec[] = [spec('A')]): Story {
  const story = new Story({}, specs);
  for (const { id } of specs) story.iteration(id, claims(id));
  return story.given({ type: 'loop.ended', at: t0 + 9_000, reason: 'goal_achieved', because: '1 of 1 task done' });
}

describe('ralph answer', () => {
  /** A deleted test stands in the way of A and B, another one in that of C. */
  async function threeQuestions(): Promise<void> {
    const story = new Story({ checks: ['x'], checkpoints: true, tamperScreen: true }, [
      spec('A'),
      spec('B'),
      spec('C'),
    ]);
    for (const [at, task] of ['A', 'B', 'C'].entries()) {
      story.iteration(task, claims(task));
      story.checkpointed(`cp-${at}`);
      const path = task === 'C' ? 'c.test.ts' : 'a.test.ts';
      const found = {
        kind: 'test-deleted',
        path,
        detail: 'gone',
        severity: 'refuse',
        fingerprint: `${path} ${task}`,
      } as const;
      const before = { ...found, path: 'a.test.ts', fingerprint: 'a.test.ts' };
      const doubts = task === 'C' ? [found, { ...before, severity: 'report' as const }] : [found];
      const outcomes = [{ name: 'x', passed: true, detail: '', durationMs: 1 }];
      story.when({ type: 'checked', iteration: at + 1, outcomes, doubts });
      story.saved();
    }
    await recorded(story, put('PRD.json', prd('A', 'B', 'C')));
  }
  const open = async (): Promise<readonly string[]> =>
    (await (await context().loops()).view('loop-0001')).questions.map(one => one.id);

  it('given several ids, then all get the one answer', async () => {
    await threeQuestions();
    expect(await answer(context(), ['E1', 'E3'], { skip: true })).toBe(0);
    expect(await open()).toEqual(['E2']);
  });

  it('given --all-like, then those about the same finding and path are listed, and answered after a yes alone', async () => {
    await threeQuestions();
    await expect(answer(context(), [], { allLike: 'E1', option: '1' })).rejects.toMatchObject({
      hint: expect.stringContaining('--yes'),
    });
    expect(said.join('\n')).toMatch(/shop\/E1 \(A\): .*\n {2}shop\/E2 \(B\): /);
    expect(await open()).toEqual(['E1', 'E2', 'E3']);
    expect(await answer(context(), [], { allLike: 'E1', option: '1', yes: true })).toBe(0);
    expect(await open()).toEqual(['E3']);
  });
});

describe('a loop that is over', () => {
  it('given a task that was added afterwards, then it is listed and shown, and a decision about it explains itself', async () => {
    await recorded(finished(), put('PRD.json', prd('A', 'B')));
    await list(context(), [], {});
    expect(out.join('\n')).toMatch(/^B {2}new .*\(for a new loop\)$/m);
    await show(context(), ['B'], {});
    await expect(skip(context(), ['B'], {})).rejects.toMatchObject({
      message: 'B stands in PRD.json, but loop shop ended before it was written.',
      hint: expect.stringContaining('A new loop takes it up'),
    });
  });

  it('given a skip of what is done, then nobody explains how to have it done again; a retry opens it', async () => {
    await recorded(finished(), put('PRD.json', prd('A')));
    await expect(skip(context(), ['A'], {})).rejects.toMatchObject({ hint: 'A is done: there is nothing to skip.' });
    expect(await retry(context(), ['A'], {})).toBe(0);
    await status(context(), [], {});
    expect(out.join('\n')).toContain('1 task is open again');
  });

  it('given a limit of time, then a resume names that limit and no other; an average cannot be raised', async () => {
    const story = new Story({ limits: { durationMsMax: 500 } });
    story.iteration('A', says('hm'));
    const because = '1s worked of 0.5s (--max-duration)';
    await recorded(
      story.given({ type: 'loop.ended', at: story.now, reason: 'max_duration', because }),
      put('PRD.json', '{}'),
    );
    const refused = await resume(context(), ['shop'], {}).catch((error: unknown) => error);
    expect(refused).toMatchObject({ hint: 'Raise that limit: ralph resume shop --max-duration 1m' });
    // A person is asked until it can go on; Enter takes what is proposed.
    const asked: string[] = [];
    const ask = async (question: string): Promise<string> => (asked.push(question) === 1 ? '400ms' : '');
    expect(await withRoom(context(), story.state, {}, ask)).toEqual({ maxDuration: '1m' });
    expect(asked).toEqual(['New --max-duration [1m]: ', 'New --max-duration [1m]: ']);
  });

  it('given an undo, then it is called taken back, not completed, and its task was not "not tried yet"', async () => {
    const story = finished().given({ type: 'task.reopened', at: t0 + 10_000, task: 'A', because: 'undo' });
    await recorded(story, put('PRD.json', prd('A')));
    await loopsList(context(), [], {});
    expect(out.join('\n')).toMatch(/^shop +taken back +0\/1 /);
    await status(context(), [], {});
    expect(out.join('\n')).toContain('1 task is open again since then (ralph undo, ralph task retry)');
    await show(context(), ['A'], {});
    expect(out.join('\n')).toContain('open, opened again, not tried since');
  });
});

describe('a loop that no process works on', () => {
  it('given an iteration that was cut, then its task is not called active', async () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    story.begin('A');
    await recorded(story, put('PRD.json', prd('A', 'B')));
    await list(context(), [], {});
    expect(out.join('\n')).toMatch(/^A {2}cut .*iteration 1 was cut, not running/);
    expect(out.join('\n')).toContain('2 tasks: 1 cut, 1 open');
    await show(context(), ['A'], {});
    expect(out.join('\n')).toContain('cut, 1 attempt of 5; iteration 1 was cut, not running');
  });
});

describe('tasks of files', () => {
  it('given a project, then a new task is done by ralph execute; elsewhere by ralph run and the way to the file', async () => {
    const tasks = { project_name: 'p', tasks: [{ id: 'T1', title: 'one' }] };
    put('.artefacts/p/tasks.json', JSON.stringify(tasks));
    await add(context(), ['More'], { file: '.artefacts/p/tasks.json' });
    expect(said).toContain('  To have it done: ralph execute p');
    put('docs/my list.md', '- [ ] one\n');
    await add(context(), ['More'], { file: 'docs/my list.md' });
    expect(said).toContain('  To have it done: ralph run "docs/my list.md"');
  });

  it('given a file that is not there, then that is said, not only that no loop is called so', async () => {
    await recorded(finished(), put('PRD.json', prd('A')));
    await expect(list(context(), ['nope.md'], {})).rejects.toThrow(
      'There is no file "nope.md", and no loop is called so.',
    );
    await expect(list(context(), ['nope'], {})).rejects.toThrow('No loop is called "nope".');
  });

  it('given ticks that the ledger has, then an import keeps those and opens the others', async () => {
    await recorded(finished([spec('T1')]), put('todo.md', '- [x] T1: one\n- [x] T2: two\n'));
    await importTasks(context(), ['todo.md'], { to: 'PRD.json' });
    expect(said.join('\n')).toContain('1 task that was ticked or skipped is open there: T2.');
    const { userStories } = JSON.parse(readFileSync(join(directory, 'PRD.json'), 'utf8'));
    expect(userStories).toMatchObject([
      { id: 'T1', passes: true },
      { id: 'T2', passes: false },
    ]);
  });
});

describe('while it runs', () => {
  it('given nothing reported yet, then the live line names no cost; later it does, or says that there is none', () => {
    const story = new Story({ limits: { costUsdMicrosMax: 50_000_000 } });
    story.begin('A');
    expect(liveLine(story.state, story.now, { dot: '·' })).not.toContain('$');
    const spent = new Story().given({
      type: 'usage.recorded',
      at: t0,
      iteration: 1,
      performer: 'agent',
      task: 'A',
      usage: usd(1),
    });
    expect(liveLine(spent.state, t0, { dot: '·' })).toContain('$1.00 / $50.00');
    story.performed(says('hm'));
    expect(liveLine(story.state, story.now, { dot: '·' })).toContain('cost not reported');
  });

  it('given Ctrl-C, then it is said what is stopped: an agent, an action, a check, or nothing', () => {
    const order = { type: 'notify_human', message: 'hi' } as const;
    const story = new Story({ checks: ['x'] }, [spec('A'), spec('B', { performer: 'notify_human', order })]);
    const watch = workWatch();
    const doing = (): string | undefined => {
      watch.tell(story.events.at(-1)!, story.state);
      return watch.doing();
    };
    expect(doing()).toBeUndefined();
    story.begin('A');
    expect(doing()).toBe('the agent');
    story.performed(claims('A'));
    expect(doing()).toBe('the check');
    story.checked(true);
    story.begin('B', 'notify_human');
    expect(doing()).toBe('the action');
  });

  it('given a view that is closed, then a last line brings back neither the live line nor a question', () => {
    const written: string[] = [];
    const style = { ...makeStyle({}), live: true, columns: () => 80 };
    const view = liveView(style, text => void written.push(text), false);
    const story = new Story();
    view.tell(story.begin('A')[0]!, story.state);
    view.hold(() => void written.push('asked again'));
    view.close();
    written.length = 0;
    view.line('Ended at once.');
    expect(written.join('').replaceAll('\r\x1b[2K', '')).toBe('Ended at once.\n');
  });

  it('given lines below a question, then it is shown again once, as soon as nothing else is at work', () => {
    vi.useFakeTimers();
    try {
      const shown: boolean[] = [];
      const view = liveView({ ...makeStyle({}), live: true }, () => {}, false);
      const story = new Story();
      view.tell(story.begin('A')[0]!, story.state);
      view.hold(isWhole => void shown.push(isWhole));
      view.line('the work of another task');
      vi.advanceTimersByTime(5_000);
      expect(shown).toEqual([false]);
      view.tell(
        { type: 'guidance.given', at: t0, text: '', by: '', because: '' },
        { ...story.state, live: [], tasks: initialState.tasks },
      );
      vi.advanceTimersByTime(5_000);
      expect(shown.filter(isWhole => isWhole)).toEqual([true]);
      view.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it('given an agent at the terminal, then what is said is kept until its round ends, and never lost when we end first', () => {
    const written: string[] = [];
    const view = bufferedView({ ...makeStyle({}), live: true }, text => void written.push(text), false, false);
    const story = new Story();
    for (const event of story.begin('A')) view.tell(event, story.state);
    written.length = 0;
    view.line('Stopping the agent.');
    expect(written).toEqual([]);
    view.close();
    view.line('Ended at once.');
    expect(written.join('')).toMatch(/Stopping the agent\.\n[\s\S]*Ended at once\.\n/);
  });

  it('given events of each kind, then those that matter have a line of their own and bookkeeping has none', () => {
    const written: string[] = [];
    const style = { ...makeStyle({ ascii: true }), live: false };
    const view = liveView(style, text => void written.push(text), false);
    const { state } = new Story();
    const tell = (event: unknown): string => {
      written.length = 0;
      view.tell(event as Event, state);
      return written.join('').replace(/^\[[\d:Z]+\] /, '');
    };
    const read = {
      type: 'signal.read',
      at: t0,
      iteration: 1,
      task: 'A',
      signal: 'review',
      text: '',
      because: 'no JSON',
    };
    expect(tell({ ...read, accepted: false })).toBe('x A: no JSON\n');
    expect(tell({ ...read, accepted: true })).toBe('');
    const check = {
      type: 'check.ended',
      at: t0,
      iteration: 1,
      task: 'A',
      check: 'c',
      detail: 'one\ntwo',
      because: 'c',
    };
    expect(tell({ ...check, passed: false })).toBe('x c\n    | one\n    | two\n');
    expect(tell({ ...check, passed: true, flaky: true })).toBe('c\n');
    expect(tell({ ...check, passed: true })).toBe('');
    const asked = { type: 'checkpoint.asked', at: t0, label: 'by hand' };
    expect(tell({ ...asked, by: 'ralph' })).toBe('');
    expect(tell({ ...asked, by: 'ada' })).toContain('ada');
    expect(tell({ type: 'iteration.heartbeat', at: t0, iteration: 1, bytes: 1 })).toBe('');
    expect(tell({ type: 'loop.paused', at: t0, by: 'ada', now: false })).toContain('ada');
  });

  it('given a goal whose claim a check refused, then its items are claimed, not completed', () => {
    const story = new Story({ mode: 'goal', checks: ['x'] }, [spec('goal')]);
    const report = { phase: 'complete', completed: ['page'], pending: [], blocked: [] };
    story.iteration('goal', says(`<report>${JSON.stringify(report)}</report>\n<promise>DONE</promise>`));
    expect(standingWords(story.state)).toBe('1 of 1 item completed');
    story.checked(false);
    expect(standingWords(story.state)).toBe('1 of 1 item claimed');
  });
});
