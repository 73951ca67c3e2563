// How an ACP agent's run ends: stopped, silent, dead, deaf, or done, and nobody of it lives on.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Activity, Note, Notes } from '../../../src/agents/performer.ts';
import { assignmentIn } from '../../contracts/performer.ts';
import { scratchDirectory, signOfLife } from '../../processes/fixture.ts';
import { agent, run } from './stage.ts';

const isText = (activity: Activity, text: string): boolean => activity.type === 'text' && activity.text === text;

/** Notes that a test gives when it likes. */
function noteBox(): { readonly notes: Notes; give(note: Note): void } {
  const early: Note[] = [];
  let listener = (note: Note): void => void early.push(note);
  return {
    give: note => listener(note),
    notes: {
      listen(next) {
        listener = next;
        for (const note of early) next(note);
      },
    },
  };
}

describe('a note to an ACP agent', () => {
  it('waits for the end of the turn and is then told', async () => {
    const directory = scratchDirectory();
    const box = noteBox();
    const ran = await run(agent('takes-notes'), { directory, notes: box.notes }, activity => {
      if (!isText(activity, 'working')) return;
      box.give({ id: 'n1', text: 'mind the gap' });
      box.give({ id: 'n2', text: 'and the step' });
      writeFileSync(join(directory, 'go'), '');
    });
    expect(ran.end.message).toBe('heard: mind the gap + and the step');
    expect(ran.end.failure).toBeUndefined();
    expect(ran.all('told').map(each => each.note)).toEqual(['n1', 'n2']);
  });

  it('that is urgent breaks the turn off, and the work goes on with it in the same session', async () => {
    const box = noteBox();
    const ran = await run(agent('hands-off'), { notes: box.notes }, activity => {
      if (isText(activity, 'working')) box.give({ id: 'n1', text: 'write your report', urgent: true });
    });
    expect(ran.end.message).toBe('heard: write your report');
    expect(ran.end.failure).toBeUndefined();
    expect(ran.all('told')).toEqual([{ type: 'told', note: 'n1' }]);
    expect(ran.all('session')).toHaveLength(1);
  });

  it.each([
    ['the error that is meant for it', '-32800'],
    ['any other error', '-32603'],
  ])('that is urgent works with an agent that answers a cancelled turn with %s', async (_what, code) => {
    const box = noteBox();
    const ran = await run(agent('errs-when-cancelled', code), { notes: box.notes }, activity => {
      if (isText(activity, 'working')) box.give({ id: 'n1', text: 'write your report', urgent: true });
    });
    expect(ran.end).toMatchObject({ message: 'heard: write your report' });
    expect(ran.end.failure).toBeUndefined();
  });

  it('that comes before the first turn stands beside its prompt', async () => {
    const box = noteBox();
    box.give({ id: 'n1', text: 'mind the gap' });
    const ran = await run(agent('says-prompt'), { notes: box.notes, prompt: 'Work.' });
    expect(ran.end.message).toBe('Work. + mind the gap');
    expect(ran.all('told')).toEqual([{ type: 'told', note: 'n1' }]);
  });

  it('that comes after the last answer is not told', async () => {
    const box = noteBox();
    const ran = await run(
      agent('stays-after-answer', '', { timers: { afterResultMs: 300 } }),
      { notes: box.notes },
      activity => {
        if (activity.type === 'usage') box.give({ id: 'n1', text: 'too late' });
      },
    );
    expect(ran.end).toMatchObject({ message: 'hello' });
    expect(ran.all('told')).toEqual([]);
  });
});

describe('an ACP agent that is silent', () => {
  it('is broken off and asked to go on, once', async () => {
    const timers = { silenceMs: 1_000, busySilenceMs: 1_000, nudgedMs: 20_000 };
    const ran = await run(agent('hands-off', '', { timers }));
    expect(ran.end.message).toContain('heard: You were silent');
    expect(ran.end.failure).toBeUndefined();
    expect(ran.all('told')).toEqual([]);
  });
});

describe('an ACP agent that is stopped', () => {
  it('is asked to cancel its turn first', async () => {
    const directory = scratchDirectory();
    const ran = await run(agent('hangs'), { directory }, (activity, stop) => {
      if (isText(activity, 'working')) stop();
    });
    expect(ran.end).toMatchObject({ message: 'working', failure: { kind: 'stopped' } });
    expect(existsSync(join(directory, 'cancelled'))).toBe(true);
  });

  it('gets no permission any more for what it still wants to do', async () => {
    const ran = await run(agent('hangs', 'asks'), {}, (activity, stop) => {
      if (isText(activity, 'working')) stop();
    });
    expect(ran.end.message).toBe('{"outcome":"cancelled"}');
  });

  it('is ended at once when it has cancelled its turn but does not go', async () => {
    const patient = agent('hangs', 'stays', { cancelMs: 600_000 });
    const ran = await run(patient, {}, (activity, stop) => {
      if (isText(activity, 'working')) stop();
    });
    expect(ran.end).toMatchObject({ failure: { kind: 'stopped' } });
  });

  it('is asked to cancel its turn when its time is up', async () => {
    const directory = scratchDirectory();
    const ran = await run(agent('hangs'), { directory, timeMsMax: 3_000 });
    expect(ran.end).toMatchObject({ message: 'working', failure: { kind: 'timeout' } });
    expect(existsSync(join(directory, 'cancelled'))).toBe(true);
  });

  it('is killed with all that it has when it heeds neither cancel nor TERM', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const ran = await run(agent('ignores-cancel', '', { cancelMs: 50 }), { directory }, (activity, stop) => {
      if (isText(activity, 'working')) stop();
    });
    expect(ran.end).toMatchObject({ message: 'working', failure: { kind: 'stopped' } });
    expect(life.anyAlive()).toBe(false);
  });

  it('says what it used until then', async () => {
    const ran = await run(agent('hangs'), { prompt: 'x'.repeat(300) }, (activity, stop) => {
      if (isText(activity, 'working')) stop();
    });
    expect(ran.all('usage').at(-1)?.usage).toMatchObject({ inputTokens: 100, outputTokens: 3, estimated: true });
  });

  it('is ended when nobody listens any more', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    for await (const activity of agent('ignores-cancel').perform(
      assignmentIn(directory),
      new AbortController().signal,
    )) {
      if (isText(activity, 'working')) break;
    }
    expect(life.anyAlive()).toBe(false);
  });
});

describe('an ACP agent that has answered', () => {
  it('is a success also when it is stopped while it goes', async () => {
    const ran = await run(
      agent('stays-after-answer', '', { timers: { afterResultMs: 60_000 } }),
      {},
      (activity, stop) => {
        if (activity.type === 'usage') setImmediate(stop);
      },
    );
    expect(ran.end).toMatchObject({ message: 'hello' });
    expect(ran.end.failure).toBeUndefined();
  });
});
