// A loop that moves is let go on, and one that stands still is asked about: through the real binary (F77, F93).
import { describe, expect, it } from 'vitest';
import { eventsOf, inScratch, prd, type Scratch } from './kit.ts';
import { startRepository } from './stepwise-kit.ts';

const claim = "printf 'Task US-001 complete\\n'";
/** One test per iteration, in words that differ by their number alone, and claimed when none is left. */
const fixes = (done: string): string =>
  `read -r _; n=$(($(cat left) - 1)); echo $n > left; printf 'Fixed one test, %s tests still fail.\\n\\n' $n; [ $n -gt 0 ] || ${done}`;

const common = ['--no-input', '--quiet', '--backoff-base', '10ms'];

async function run(place: Scratch, document: string, agent: string, ...flags: readonly string[]) {
  return await place.ralph(['run', document, '--agent-command', agent, ...common, ...flags]);
}

const typesOf = async (place: Scratch): Promise<readonly unknown[]> => (await eventsOf(place)).map(one => one['type']);

describe('one test per iteration (F93)', () => {
  it.concurrent('finishes fifteen of them in a list of stories, where each may be tried five times', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['US-001']), left: '15\n' });
      const told = await run(place, 'PRD.json', fixes(claim), '--verify', 'test $(cat left) = 0', '--allow-red-start');
      expect(told.code).toBe(0);
      expect((await typesOf(place)).filter(type => type === 'iteration.ended')).toHaveLength(15);
    }));

  it.concurrent('finishes in the same words, claimed each time, where only what the check prints differs', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['US-001']), left: '12\n' });
      const agent = `read -r _; echo $(($(cat left) - 1)) > left; ${claim}`;
      const check = 'echo "Tests: $(cat left) failed"; test $(cat left) = 0';
      const told = await run(place, 'PRD.json', agent, '--verify', check, '--allow-red-start');
      expect(told.code).toBe(0);
      expect((await typesOf(place)).filter(type => type === 'iteration.ended')).toHaveLength(12);
    }));

  it.concurrent('finishes as a prompt', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': '# Fix the tests\n\n- [ ] TASK_COMPLETE\n', left: '12\n' });
      const told = await run(place, 'PROMPT.md', fixes("printf 'LOOP_COMPLETE\\n'"));
      expect(told.code).toBe(0);
      expect((await typesOf(place)).filter(type => type === 'iteration.ended')).toHaveLength(12);
    }));
});

describe('an agent that only appends to notes.txt', () => {
  const notes = `read -r _; echo "note $RALPH_ITERATION" >> notes.txt; echo "Added note $RALPH_ITERATION to notes.txt, and it says a lot."`;

  it.concurrent('is told so, then a person is asked, in a list of stories', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['US-001']) });
      const told = await run(place, 'PRD.json', notes);
      expect(told.code).toBe(5);
      const events = await eventsOf(place);
      const asked = events.findIndex(one => one['type'] === 'escalation.raised');
      expect(events[asked]).toMatchObject({ escalation: { kind: 'stuck', task: 'US-001' } });
      expect(events.slice(0, asked).filter(one => one['type'] === 'iteration.ended').length).toBe(10);
      expect(told.stdout).toContain('US-001 does not move');
    }));

  it.concurrent('and as a prompt', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': '# Fix the tests\n\n- [ ] TASK_COMPLETE\n' });
      const told = await run(place, 'PROMPT.md', notes);
      expect(told.code).toBe(5);
      expect((await typesOf(place)).filter(type => type === 'iteration.ended').length).toBe(10);
    }));
});
