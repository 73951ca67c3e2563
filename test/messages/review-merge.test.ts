// Proves that one issue of several reviewers becomes one, that nobody's words are lost, and that merging again changes nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeIssues, type ReviewIssue, type Severity, severityRank } from '../../src/messages/review.ts';

const issue = (text: string, part: Partial<ReviewIssue> = {}): ReviewIssue => ({
  issue: text,
  severity: 'medium',
  place: 'Limits',
  confidence: 50,
  ...part,
});

const texts = (issues: readonly ReviewIssue[]): readonly string[] => mergeIssues([], issues).map(one => one.issue);

const timeout = 'The timeout of a request is not defined anywhere';

describe('two issues', () => {
  it('at the same place in like words are one, with the highest severity and confidence and both wordings', () => {
    const again = issue('the timeout of a request is nowhere defined', {
      severity: 'critical',
      confidence: 40,
      place: '## limits:',
    });
    expect(mergeIssues([], [issue(timeout, { confidence: 90 }), again])).toEqual([
      { issue: timeout, severity: 'critical', place: 'Limits', confidence: 90, also: [again.issue] },
    ]);
  });

  it.each([
    ['stand at different places', issue(timeout), issue(timeout, { place: 'Errors' })],
    ['stand in different lines', issue(timeout, { place: 'line 3' }), issue(timeout, { place: 'line 4' })],
    ['say different things', issue(timeout), issue('Nobody is named who answers for the money that is spent')],
    [
      'differ in a number',
      issue('Requirement 3 contradicts requirement 7'),
      issue('Requirement 4 contradicts requirement 9'),
    ],
    ['are short and differ in a word', issue('No owner'), issue('No order')],
  ])('that %s are two', (_why, a, b) => {
    expect(mergeIssues([], [a, b])).toHaveLength(2);
  });

  it('keep the order in which they were first said', () => {
    const low = issue('Reads badly', { severity: 'low' });
    expect(texts([low, issue(timeout, { severity: 'critical' }), low])).toEqual(['Reads badly', timeout]);
    expect([low, issue('x', { severity: 'critical' })].sort((a, b) => severityRank(a) - severityRank(b))[1]).toBe(low);
  });
});

describe('merging', () => {
  const words = [
    'The limit is not named here',
    'the limit is not named',
    'The owner of it is missing',
    'No owner',
    'Limit 3 is off by 1',
  ];
  const arbitrary: fc.Arbitrary<ReviewIssue> = fc.record({
    issue: fc.oneof(fc.constantFrom(...words), fc.string({ minLength: 1, maxLength: 30 })),
    severity: fc.constantFrom<Severity>('critical', 'high', 'medium', 'low'),
    place: fc.constantFrom('Limits', '# limits', 'Goals', ''),
    confidence: fc.nat(100),
  });
  const list = fc.array(arbitrary, { maxLength: 12 });

  it('again changes nothing, and step by step gives what all at once does', () => {
    fc.assert(
      fc.property(list, list, (first, second) => {
        const all = [...first, ...second];
        const merged = mergeIssues([], all);
        expect(mergeIssues(mergeIssues([], first), second)).toEqual(merged);
        expect(mergeIssues(merged, all)).toEqual(merged);
        expect(mergeIssues(merged, merged)).toEqual(merged);
        expect(mergeIssues([], merged).map(one => one.issue)).toEqual(merged.map(one => one.issue));
      }),
      { numRuns: 200, seed: 11 },
    );
  });

  it('loses no wording, no severity and no confidence', () => {
    fc.assert(
      fc.property(list, found => {
        const merged = mergeIssues([], found);
        const kept = new Set(merged.flatMap(one => [one.issue, ...one.also]));
        for (const one of found) expect(kept.has(one.issue)).toBe(true);
        const best = (issues: readonly ReviewIssue[]) => [
          Math.min(...issues.map(severityRank)),
          Math.max(...issues.map(one => one.confidence)),
        ];
        expect(best(merged)).toEqual(best(found));
      }),
      { numRuns: 200, seed: 12 },
    );
  });
});
