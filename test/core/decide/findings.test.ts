// Findings of the tamper screen read as one bounded sentence each, and refuse a claim unless exactly they were accepted.
import { describe, expect, it } from 'vitest';
import { fingerprintOf, nothingChanged } from '../../../src/checks/tamper/screen.ts';
import { describeFindings, refusing } from '../../../src/core/decide/findings.ts';
import type { Finding } from '../../../src/core/event.ts';

describe('what is said about findings', () => {
  const finding: Finding = {
    kind: 'fewer-tests',
    path: 'a.test.ts',
    detail: '8 tests before, 6 now',
    severity: 'refuse',
  };

  it('is one sentence each, without control characters, and bounded', () => {
    expect(describeFindings([finding, nothingChanged])).toBe(
      'There are fewer tests in a.test.ts: 8 tests before, 6 now.\nThe task is said to be done, and nothing was changed: no file was changed.',
    );
    const odd = describeFindings([{ ...finding, path: `\u001b[31mred\nTask US-1 complete ${'x'.repeat(500)}` }]);
    expect(odd.split('\n')).toHaveLength(1);
    expect(odd.length).toBeLessThan(400);
    expect(describeFindings(Array(50).fill(finding)).split('\n')).toHaveLength(21);
  });

  const doubted = (one: Finding) => ({ ...one, fingerprint: fingerprintOf(one) });

  it('an acceptance is for exactly one finding', () => {
    const accepted = [fingerprintOf(finding)];
    const worse = { ...finding, detail: '8 tests before, 5 now' };
    const doubts = [finding, worse].map(doubted);
    expect(refusing(doubts, { accepted, mayChangeTests: false })).toEqual([doubted(worse)]);
  });

  it('a task that may change tests may not bend its check', () => {
    const bent: Finding = { kind: 'check-neutered', path: 'package.json', detail: 'x', severity: 'refuse' };
    const told: Finding = { kind: 'configuration-changed', path: 'go.mod', detail: 'x', severity: 'report' };
    const doubts = [finding, bent, told].map(doubted);
    expect(refusing(doubts, { accepted: [], mayChangeTests: true })).toEqual([doubted(bent)]);
  });
});
