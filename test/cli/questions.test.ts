// Proves that a question can be read and answered: on a small screen, again when it has scrolled away, from the right folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { questionCard } from '../../src/cli/questions/card.ts';
import { makeStyle } from '../../src/cli/terminal.ts';
import { stuckOptions } from '../../src/core/decide/questions.ts';
import type { Escalation } from '../../src/core/event.ts';
import { answerLine } from '../../src/views/question.ts';
import { asks, binary, inScratch, isInstalled, pinnedNode, prd, runScript, type Scratch, scripted } from './kit.ts';
import { openTerminal, quoted } from './terminal.ts';

const question = (more: Partial<Escalation> = {}): Escalation => ({
  id: 'E1',
  kind: 'stuck',
  task: 'US-001',
  summary: 'The sandbox of the payment provider refuses every card that its documentation names',
  context: Array.from({ length: 60 }, (_line, at) => `detail ${at + 1} of what was tried and what came of it`).join(
    '\n',
  ),
  options: [
    { id: 'agent-1', text: 'Use the fake provider in tests and go on with the story as it is written' },
    { id: 'agent-2', text: 'Ask the provider for new keys' },
  ],
  question: 'Which of the two should I do?',
  raisedAt: 0,
  ...more,
});

const screen = (columns: number) => ({ ...makeStyle({}), live: true, columns: () => columns, rows: () => 24 });

describe('the card', () => {
  it.each([80, 60])(
    'given a long question and %i columns, then it fits a screen of 24 lines and says where the rest is',
    columns => {
      const lines = questionCard(question(), screen(columns), 'ralph inbox shop/E1').split('\n');
      expect(lines.length).toBeLessThanOrEqual(21); // what may be typed, and the line that asks, stand below it
      for (const line of lines) expect(line.length).toBeLessThan(columns);
      expect(lines[0]).toMatch(/^\? E1 needs you \(stuck, US-001\): The sandbox/);
      expect(lines.join('\n')).toMatch(/\| detail 1 of[\s\S]*\| \(\d+ lines more: ralph inbox shop\/E1\)\n {4}1\. Use/);
      expect(lines.at(-1)).toBe('    Which of the two should I do?');
    },
  );

  it('given a pipe, then all of it is there, each sentence in one line; a short one is never folded', () => {
    const piped = { ...screen(80), live: false };
    const summary = 'a summary of many words '.repeat(20).trim();
    expect(questionCard(question({ summary }), piped).split('\n')[0]).toContain(summary);
    expect(questionCard(question(), screen(80))).toContain('| detail 60 of');
    expect(questionCard(question({ context: 'Both work.' }), screen(80), 'x')).not.toContain('more: x');
  });
});

describe('the line that answers', () => {
  it.each([
    [question(), '--option 1   # or 2, --text "...", --skip, --retry, --abort'],
    [question({ options: [] }), '--text "..."   # or --skip, --retry, --abort'],
    [question({ options: stuckOptions }), '--option 1   # or 2, --text "...", --abort'],
    [question({ kind: 'effect' }), '--option 1   # or 2, --abort'],
  ])('offers an option only where there is one (%#)', (one, wanted) => {
    expect(answerLine('shop', one)).toBe(`ralph answer shop/E1 ${wanted}`);
  });

  it('given a question without options, then neither the ending, the inbox nor the status offers one', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [{ escalate: { ...asks.escalate, options: [] } }] }]);
      const told = await place.ralph(runScript);
      expect(told.code).toBe(5);
      const [inbox, status] = [await place.ralph(['inbox']), await place.ralph(['status'])];
      for (const text of [told.stderr, inbox.stdout, status.stdout]) {
        expect(text).toContain('ralph answer shop/E1 --text "..."   # or --skip, --retry, --abort');
        expect(text).not.toContain('--option');
      }
    }));
});

/** Projects beside each other in one home; each asks an E1. */
async function askedIn(place: Scratch, ...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    mkdirSync(join(place.project, folder));
    writeFileSync(join(place.project, folder, 'PRD.json'), prd(['US-001'], { project: folder }));
    writeFileSync(join(place.project, folder, 'script.json'), JSON.stringify({ turns: [{ steps: [asks] }] }));
    expect((await place.ralph(runScript, { cwd: join(place.project, folder) })).code).toBe(5);
  }
}

describe('questions of several folders', () => {
  it('given an inbox, then those of this folder come first, and each folder has its heading', () =>
    inScratch(async place => {
      await askedIn(place, 'one', 'two');
      const inOne = await place.ralph(['inbox'], { cwd: join(place.project, 'one') });
      expect(inOne.stdout).toMatch(
        /^This folder:\n[\s\S]*answer one\/E1[\s\S]*\n\S*\/project\/two:\n {2}\? two\/E1 \(stuck, [^\n]*\n$/,
      );
      const inTwo = await place.ralph(['inbox'], { cwd: join(place.project, 'two') });
      expect(inTwo.stdout).toMatch(
        /^This folder:\n[\s\S]*answer two\/E1[\s\S]*\n\S*\/project\/one:\n {2}\? one\/E1 \(stuck, [^\n]*\n$/,
      );
    }));

  it('given answer E1, then that of this folder is meant; elsewhere its loop must be named', () =>
    inScratch(async place => {
      await askedIn(place, 'one', 'two');
      const elsewhere = await place.ralph(['answer', 'E1', '--retry']);
      expect(elsewhere.code).toBe(2);
      expect(elsewhere.stderr).toContain('No loop of this folder has an open E1, but another folder has one.');
      expect(elsewhere.stderr).toContain('Name its loop: ralph answer two/E1 or one/E1');
      const here = await place.ralph(['answer', 'E1', '--retry'], { cwd: join(place.project, 'one') });
      expect(here.stderr).toContain('Answer to one/E1: recorded.');
      expect((await place.ralph(['answer', 'two/E1', '--retry'])).stderr).toContain('Answer to two/E1: recorded.');
    }));

  it('given an answer once more in its folder, then it says who answered, and no other folder is named', () =>
    inScratch(async place => {
      await askedIn(place, 'one', 'two');
      const one = { cwd: join(place.project, 'one') };
      await place.ralph(['answer', 'E1', '--retry'], one);
      const again = await place.ralph(['answer', 'E1', '--retry'], one);
      expect(again.code).toBe(1);
      expect(again.stderr).toMatch(/one\/E1 was answered by .* at .*: retry\./);
      expect(again.stderr).not.toContain('two/E1');
    }));

  it('given two loops of one folder with an E1, then one sentence says so, and both are named', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      place.put('other.json', prd(['US-001'], { project: 'other' }));
      for (const file of ['PRD.json', 'other.json']) await place.ralph(['run', file, '--script', 'script.json']);
      const told = await place.ralph(['answer', 'E1', '--retry']);
      expect(told.stderr).toBe(
        'ralph: 2 loops of this folder have an open E1.\n  Name its loop: ralph answer other/E1 or shop/E1\n',
      );
    }));

  it('given inbox with a question, then all of that one is shown', () =>
    inScratch(async place => {
      await askedIn(place, 'one', 'two');
      const told = await place.ralph(['inbox', 'two/E1']);
      expect(told.stdout).toContain('ralph answer two/E1');
      expect(told.stdout).not.toContain('one/E1');
    }));
});

describe('a question that is answered already', () => {
  const told = /^ralph: shop\/E1 was answered by \S+ at \d{4}-\d\d-\d\dT[\d:.]+Z: option 1\.\n/;

  it('given a second answer, then it says who answered what and when, and exits with 1', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      await place.ralph(runScript);
      expect((await place.ralph(['answer', 'E1', '--option', '1'])).code).toBe(0);
      for (const id of ['E1', 'shop/E1']) {
        const second = await place.ralph(['answer', id, '--skip']);
        expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(told)]);
      }
      const never = await place.ralph(['answer', 'E2', '--skip']);
      expect([never.code, never.stderr]).toEqual([2, expect.stringContaining('No open question is called "E2"')]);
    }));

  it('given several answers at once, then one wins, and the others are told so', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      await place.ralph(runScript);
      const all = await Promise.all([1, 2, 3].map(() => place.start(['answer', 'E1', '--option', '1']).ended));
      expect(all.map(one => one.code).sort()).toEqual([0, 1, 1]);
      for (const { code, stderr } of all) if (code === 1) expect(stderr).toMatch(told);
    }));

  it.each(['option', 'text'])('given --%s twice, then nobody guesses which one is meant', flag =>
    inScratch(async place => {
      const twice = await place.ralph(['answer', 'E1', `--${flag}`, '1', `--${flag}=2`]);
      expect([twice.code, twice.stderr]).toEqual([2, `ralph: --${flag} is given twice: 1 and 2.\n  Give it once.\n`]);
    }),
  );
});

describe.skipIf(!isInstalled('tmux'))('at a terminal (needs tmux)', () => {
  it('given a second question while the first stands, then one line says so, and the prompt counts it', () =>
    inScratch(async place => {
      const escalate = { type: 'stuck', summary: 'Which card?', context: '', options: ['this'], question: '' };
      const steps = [{ escalate }];
      scripted(place, ['US-001', 'US-002'], [{ steps }, { steps }]);
      const line = `${quoted([pinnedNode, binary, ...runScript, '--yes'])}; exec cat`;
      const terminal = openTerminal(place, place.root, line, 80);
      try {
        await terminal.shows('? E2 US-002 waits too (stuck): 2 questions');
        await terminal.shows('E1 US-001 stuck, 1 more waits (1, c, s, r, a, ?) >');
        terminal.keys('s', 'Enter');
        await terminal.shows('E2 US-002 stuck (1, c, s, r, a, ?) >');
      } finally {
        terminal.end();
      }
    }));

  it.each([80, 60])('given %i columns, then Enter brings the question back, and ? all of it', columns =>
    inScratch(async place => {
      const context = question().context;
      const escalate = { type: 'stuck', summary: 'Which card?', context, options: ['this'], question: 'Which one?' };
      scripted(place, ['US-001'], [{ steps: [{ escalate }] }]);
      const line = `${quoted([pinnedNode, binary, ...runScript, '--yes'])}; exec cat`;
      const terminal = openTerminal(place, place.root, line, columns);
      try {
        await terminal.shows('E1 US-001 stuck (1, c, s, r, a, ?) >');
        expect(terminal.screen()).toContain('1 = that option, c = your own words, s = skip it');
        expect(terminal.screen()).not.toContain('| detail 60 of');
        terminal.keys('Enter');
        await terminal.shows(/a, \?\) >\s+\? E1 needs you \(stuck, US-001\): Which card\?/);
        expect(terminal.screen()).not.toContain('| detail 60 of');
        terminal.keys('?', 'Enter');
        await terminal.shows('| detail 60 of');
      } finally {
        terminal.end();
      }
    }),
  );
});
