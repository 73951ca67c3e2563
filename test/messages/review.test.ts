// Proves that a reviewer's answer counts only by the schema: the last block, within bounds, and what is dropped is named.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReviewAnswer, type ReviewIssue, readReview } from '../../src/messages/review.ts';

const issue = (part: Partial<Record<keyof ReviewIssue, unknown>> = {}): object => ({
  issue: 'The limit is not named',
  severity: 'high',
  place: 'Limits',
  confidence: 80,
  ...part,
});
const block = (value: unknown): string => `<review>\n${JSON.stringify(value)}\n</review>`;
const answer = (part: object = {}): object => ({ confidence: 72, issues: [issue()], ...part });

function read(message: string): ReviewAnswer {
  const reading = readReview(message);
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.answer;
}

function problem(message: string): string {
  const reading = readReview(message);
  return 'problem' in reading ? reading.problem : '';
}

function leftOut(message: string): string {
  const reading = readReview(message);
  return 'problem' in reading ? '' : (reading.leftOut ?? '');
}

describe('given a review block', () => {
  it('then it is read, also with words around it, a fence inside it and keys that nobody knows', () => {
    const message = `I have read it.\n\n<review>\n\`\`\`json\n${JSON.stringify({ ...answer(), mood: 'fine' })}\n\`\`\`\n</review>\nThat is all.`;
    expect(read(message)).toEqual({ confidence: 72, issues: [issue()] });
    expect(leftOut(message)).toBe('');
  });

  it('then an empty list is an answer: nothing was found', () => {
    expect(read(block({ confidence: 97, issues: [] }))).toEqual({ confidence: 97, issues: [] });
  });

  it('then the last of several counts, also after one that was never closed', () => {
    const last = block({ confidence: 40, issues: [] });
    expect(read(`${block(answer())}\n\nNo, rather:\n${last}`).confidence).toBe(40);
    expect(read(`<review>\nWait.\n${last}`).confidence).toBe(40);
  });

  it('then a last block that cannot be read is not replaced by an earlier draft', () => {
    expect(problem(`${block(answer())}\n<review>\n{"confidence": 9`)).toMatch(/not closed/);
    expect(problem(`${block(answer())}\n<review>\nnothing\n</review>`)).toMatch(/no JSON object/);
  });

  it.each([
    ['in a fence', `\`\`\`\n${block(answer())}\n\`\`\``],
    ['in a quotation', `> ${block(answer()).replaceAll('\n', '\n> ')}`],
    ['indented as code', `    ${block(answer()).replaceAll('\n', '\n    ')}`],
    ['in the middle of a line', `Here: ${block(answer())}`],
    ['in a thought', `<think>\n${block(answer())}\n</think>`],
  ])('then one %s does not count, and the reviewer is told', (_where, message) => {
    expect(problem(message)).toMatch(/start of a line/);
  });

  it('then one without end is not read to its end', () => {
    expect(problem(block(answer({ mood: 'x'.repeat(300_000) })))).toMatch(/longer than 262144 characters/);
  });

  it('then a message without any is a problem', () => {
    expect(problem('All good, 100 %.')).toBe('There is no <review> block in the last message.');
    expect(problem('')).not.toBe('');
  });
});

describe('the schema', () => {
  it.each([
    ['missing', undefined],
    ['a text', '95'],
    ['below the scale', -1],
    ['above the scale', 101],
    ['a fraction', 0.95],
    ['nothing', null],
  ])('given a confidence that is %s, then there is no answer', (_what, confidence) => {
    expect(problem(block(answer({ confidence })))).toMatch(/"confidence" .* from 0 to 100/);
  });

  it('rounds a confidence down, never up to a target', () => {
    expect(read(block(answer({ confidence: 94.9 }))).confidence).toBe(94);
    expect(read(block(answer({ confidence: 1.5 }))).confidence).toBe(1);
    expect(read(block(answer({ confidence: 0 }))).confidence).toBe(0);
  });

  it.each([undefined, null, 'none', {}])('given issues that are %o, then there is no answer', issues => {
    expect(problem(block(answer({ issues })))).toMatch(/must be a list/);
  });

  it.each([
    ['no text', { issue: '' }],
    ['only controls', { issue: '\u0007 \u001b[31m' }],
    ['an unknown severity', { severity: 'blocker' }],
    ['no severity', { severity: undefined }],
    ['no place', { place: undefined }],
    ['a place that is a list', { place: [1] }],
    ['no confidence', { confidence: 'high' }],
  ])('given an issue with %s, then it is left out and named', (_what, part) => {
    const message = block(answer({ issues: [issue(), issue(part), issue({ severity: ' Critical ' })] }));
    expect(read(message).issues.map(one => one.severity)).toEqual(['high', 'critical']);
    expect(leftOut(message)).toMatch(/1 entry not by the schema/);
  });

  it('given issues of which none is by the schema, then it is no answer: it would pass for praise', () => {
    expect(problem(block(answer({ issues: ['bad', 7, null, [issue()]] })))).toMatch(/lists 4 issues and none is by/);
  });

  it('keeps 100 issues and 500 characters of each, and says what it cut', () => {
    const many = Array.from({ length: 103 }, (_, at) => issue({ issue: `${at} ${'x'.repeat(at === 0 ? 600 : 5)}` }));
    const message = block(answer({ issues: many }));
    const { issues } = read(message);
    expect(issues).toHaveLength(100);
    expect(issues[0]?.issue).toHaveLength(500);
    expect(leftOut(message)).toMatch(/3 issues beyond the first 100; the end of 1 text longer than 500 characters/);
  });

  it('takes the colours out of a text, and shows what a reader could not see', () => {
    const odd = issue({ issue: '\u001b[31mred\u001b[0m \u202eevil\u{e0041}', place: 'a\n\nb' });
    const [one] = read(block(answer({ issues: [odd] }))).issues;
    expect(one).toMatchObject({ issue: 'red \\u{202e}evil\\u{e0041}', place: 'a b' });
  });
});

it('answers any text within its bounds and never throws', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<review>',
      '\n<review>\n',
      '</review>',
      '{"confidence": 5, "issues": [',
      ']}',
      '```\n',
      '> ',
      '[[',
    ),
    fc.string({ maxLength: 20 }),
    fc.json(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      const reading = readReview(pieces.join(''));
      if ('problem' in reading) return reading.problem.length > 0;
      const { confidence, issues } = reading.answer;
      return confidence >= 0 && confidence <= 100 && issues.every(one => one.issue !== '' && one.issue.length <= 500);
    }),
    { numRuns: 300, seed: 5 },
  );
});
