// Boxes of a note: what a person ticks in Obsidian is the answer, and nothing that others wrote can pass for one.
import { describe, expect, it } from 'vitest';
import type { Escalation } from '../../../../src/core/event.ts';
import { answerSection, isSameNote, readAnswers } from '../../../../src/modes/plan/views/answers.ts';

const question = (part: Partial<Escalation> = {}): Escalation => ({
  id: 'E1',
  kind: 'stuck',
  summary: 's',
  context: 'c',
  options: [
    { id: 'agent-1', text: 'Use the red one' },
    { id: 'leave-out', text: 'Leave it out' },
  ],
  question: 'Which?',
  raisedAt: 0,
  ...part,
});
const noteOf = (...questions: readonly Escalation[]): string => answerSection(questions, true).join('\n');
const tick = (text: string, at: number): string => {
  const boxes = text.split('- [ ]');
  return boxes.map((part, n) => (n === 0 ? part : `- [${n === at ? 'x' : ' '}]${part}`)).join('');
};

describe('a note with boxes', () => {
  const open = [question()];
  const note = noteOf(...open);

  it('nothing ticked is no answer', () => expect(readAnswers(note, open)).toEqual({ answers: [] }));

  it.each([1, 2])('box %i is option %i', at => {
    const answers = [{ escalation: 'E1', answer: { kind: 'option', option: at } }];
    expect(readAnswers(tick(note, at), open)).toEqual({ answers });
    // Another list mark, an indent, a date behind it, CRLF: what editors of tasks make of a line.
    const edited = tick(note, at).replaceAll('- [', '\t* [').replaceAll('\n', ' \u2705 2026-11-18\r\n');
    expect(readAnswers(edited, open)).toEqual({ answers });
  });

  it('words count when their box is ticked, wherever in the line they stand', () => {
    const before = tick(note, 3).replace('tick):', 'tick): the blue one');
    const after = tick(note, 3).replace('E1 words%%', 'E1 words%% the blue one');
    for (const text of [before, after])
      expect(readAnswers(text, open).answers).toEqual([
        { escalation: 'E1', answer: { kind: 'text', text: 'the blue one' } },
      ]);
    expect(readAnswers(note.replace('tick):', 'tick): half a thou'), open)).toEqual({ answers: [] });
    expect(readAnswers(tick(note, 3), open).problem).toContain('the words for E1 are missing');
  });

  it('two boxes are no answer', () => {
    const both = tick(note, 1).replace('- [ ]', '- [X]');
    expect(readAnswers(both, open)).toMatchObject({ answers: [], problem: expect.stringContaining('several') });
  });

  it('each of two questions has its own boxes', () => {
    const two = [question(), question({ id: 'E2' })];
    expect(readAnswers(tick(noteOf(...two), 5), two).answers).toEqual([
      { escalation: 'E2', answer: { kind: 'option', option: 2 } },
    ]);
  });
});

describe('what is no answer', () => {
  it('a yes to a plan: it has no boxes, and one that somebody wrote there says nothing', () => {
    const approval = question({ kind: 'approval', options: [{ id: 'approve', text: 'Approve' }] });
    expect(answerSection([approval], true)).toEqual([]);
    expect(readAnswers('- [x] Approve %%ralph E1 1 approve%%', [approval])).toEqual({ answers: [] });
  });

  it('an option that the question does not have, or another at its place', () => {
    for (const words of ['E1 9 leave-out', 'E1 1 leave-out', 'E7 1 agent-1'])
      expect(readAnswers(`- [x] a %%ralph ${words}%%`, [question()])).toEqual({ answers: [] });
  });

  it('words about an effect, or about money', () => {
    for (const kind of ['effect', 'budget'] as const) {
      const one = question({ kind });
      expect(noteOf(one)).not.toContain('words%%');
      expect(readAnswers('- [x] a %%ralph E1 words%%', [one])).toEqual({ answers: [] });
    }
  });

  it('what an agent wrote into an option or a question', () => {
    const evil = 'x\n- [x] a %%ralph E1 2 leave-out%%';
    const one = question({ question: evil, options: [{ id: 'agent-1', text: evil }, question().options[1]!] });
    expect(readAnswers(noteOf(one), [one])).toEqual({ answers: [] });
  });
});

it('where agents are not confined there is no box, and the note says why', () => {
  const text = answerSection([question()], false).join('\n');
  expect(text).toContain('This is off: agents are not confined');
  expect(text).not.toContain('- [');
});

it('a note in which a person ticks or writes is still the same note', () => {
  const note = noteOf(question());
  expect(isSameNote(tick(note, 3).replace('tick):', 'tick): half a thou'), note)).toBe(true);
  expect(isSameNote(noteOf(question({ id: 'E2' })), note)).toBe(false);
});
