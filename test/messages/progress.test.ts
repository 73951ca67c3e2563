// Whether a task moves: what is told, what is asked about, and what is no used-up attempt.
import { describe, expect, it } from 'vitest';
import { findStandstill, isProgress, type Step } from '../../src/messages/progress/progress.ts';
import { comparable } from '../../src/messages/said.ts';

const steps = (trees: string, said: (at: number) => string, part: (at: number) => Partial<Step> = () => ({})): Step[] =>
  [...trees].map((tree, at) => ({ tree, said: said(at), ...part(at) }));

const verdicts = (trail: readonly Step[]): string =>
  trail
    .map((_, at) => findStandstill(trail.slice(0, at + 1)))
    .map(found => (found === undefined ? '-' : `${found.kind}${found.asks ? '!' : ''}`))
    .join(' ');

const same = (): string => 'I tidied the module.';

describe('standing still', () => {
  it('equal words are told at once and asked about at the third, whatever the files do', () => {
    expect(verdicts(steps('AAAA', same))).toBe('- similar similar similar!');
    expect(verdicts(steps('ABCD', same))).toBe('- similar similar similar!');
  });

  it('files that come back are told, then asked about', () => {
    expect(verdicts(steps('ABAB', at => `try number ${at}`))).toBe('- - oscillation oscillation!');
    expect(verdicts(steps('ABCABC', at => `way ${at}`))).toBe('- - - oscillation oscillation! oscillation!');
  });

  it('promises in other words bring nothing new, also about other files', () => {
    const promises = [
      'I will start with src/a.ts.',
      "Next I'll begin in src/b.ts.",
      'Let me open src/c.ts.',
      'About to do src/d.ts.',
    ];
    expect(verdicts(steps('AAAA', at => promises[at]!))).toBe('- similar similar similar!');
  });

  it('work that is claimed while the files stay as they are is no news', () => {
    const said = ['Added login.', 'Implemented logout.', 'Fixed sessions.', 'Created tokens.'];
    expect(verdicts(steps('AAAA', at => said[at]!))).toContain('similar!');
    expect(verdicts(steps('ABCD', at => said[at]!))).toBe('- - - -');
  });

  it('the same error is told at the second and asked about at the third', () => {
    const trail = steps(
      'ABCD',
      at => `way ${at}`,
      () => ({ error: 'boom' }),
    );
    expect(verdicts(trail)).toBe('- same-error same-error! same-error!');
  });

  it('the same files, refused for the same, are asked about at the third, whatever is said', () => {
    const facts = steps(
      'AAAAA',
      at => `${at * 20} % done in src/${'abcde'[at]}.ts`,
      () => ({ check: '4 failed' }),
    );
    expect(verdicts(facts)).toBe('- - similar similar! similar!');
  });

  it('words that circle round one thing are asked about at the fourth, in any language', () => {
    const french = [
      'LDAP ne répond pas.',
      'Serveur LDAP injoignable.',
      'Connexion LDAP refusée, port 636.',
      'Rien sans LDAP.',
    ];
    expect(verdicts(steps('AAAAA', at => [...french, 'LDAP : rien de neuf.'][at]!))).toBe(
      '- - similar similar similar!',
    );
    const list = steps('AAAAAA', at => `Audit of src/${'abcdef'[at]}.ts: input is not checked.`);
    expect(verdicts(list)).toBe('- - - - - -');
  });

  it('files that come back stay asked about with a pause between', () => {
    expect(verdicts(steps('AABBAABB', at => `way ${at}`))).toMatch(/^- - - - oscillation .*oscillation!$/);
    expect(verdicts(steps('ABACAD', at => `way ${at}`))).toBe('- - oscillation - oscillation -');
  });

  it('an error that differs in its numbers is the same where the files are the same', () => {
    const trail = (trees: string) =>
      steps(
        trees,
        () => '',
        at => ({ error: `${4000 + ((at * 7) % 5)} MB used, no memory` }),
      );
    expect(verdicts(trail('AAAA'))).toBe('- similar similar same-error!');
    expect(verdicts(trail('ABCDE'))).toBe('- - - same-error same-error!');
    const lines = steps(
      'ABCDE',
      () => 'Mended it.',
      at => ({ error: `a.ts:${at * 20 + 9} is broken` }),
    );
    expect(verdicts(lines)).toBe('- - - - -');
  });

  it('notes and plans that only grow are asked about at the ninth change', () => {
    const told = steps('ABCDEFGHIJKL', at => `PLAN.md: ${'abcdefghijkl'[at]}Risk and ${'mnopqrstuvwx'[at]}Cost added.`);
    const found = verdicts(told).split(' ');
    expect([found.indexOf('churn'), found.indexOf('churn!')]).toEqual([8, 9]);
  });

  it('files that change eight times without anything to show for it are told, then asked about', () => {
    const idle = verdicts(steps('ABCDEFGHIJ', at => `Again I will write more, ${'x'.repeat(at)}`)).split(' ');
    expect(idle.indexOf('churn')).toBe(8);
    expect(idle.indexOf('churn!')).toBe(9);
    const names = 'abcdefghijklmnopq';
    const telling = verdicts(steps(names, at => `Looked at ${names[at]}.ts`)).split(' ');
    expect([telling.indexOf('churn'), telling.indexOf('churn!')]).toEqual([8, 15]);
  });
});

describe('moving on', () => {
  it('a count that falls, in the words or in the check, whatever else is equal', () => {
    const inWords = steps('ABCDEFGHIJKLMNOPQRST', at => `Fixed a test, ${40 - at} tests still fail.`);
    const inCheck = steps('ABCDEFGHIJKLMNOPQRST', same, at => ({ check: `Tests: ${40 - at} failed, ${at} passed` }));
    for (const trail of [inWords, inCheck]) {
      expect(verdicts(trail)).not.toMatch(/\w/);
      expect(trail.slice(1).every((_, at) => isProgress(trail.slice(0, at + 2)))).toBe(true);
    }
  });

  it('what shrinks or runs faster, though the sentence is the same', () => {
    expect(verdicts(steps('ABCDEF', at => `Bundle is ${600 - at * 50} kB now.`))).toBe('- - - - - -');
    expect(verdicts(steps('ABCDEF', at => `Throughput is ${600 + at * 50} requests/s.`))).toBe('- - - - - -');
    const hours = steps('AAAAA', at => comparable(`Soak test: ${50 - at * 9} hours to go.`));
    expect(verdicts(hours)).toBe('- - - - -');
  });

  it('an agent’s own count is nothing against a check that stays as it is', () => {
    const pages = steps(
      'ABCDEFGHIJ',
      at => `Page ${at} written.`,
      () => ({ check: '3 failed' }),
    );
    expect(verdicts(pages)).toContain('churn!');
  });

  it('a count that stays or rises is none', () => {
    expect(isProgress(steps('AB', same, () => ({ check: '4 failed' })))).toBe(false);
    expect(isProgress(steps('AB', same, at => ({ check: `${4 + at} failed` })))).toBe(false);
  });

  it('other files with other words, but not against what the check says', () => {
    expect(isProgress(steps('AB', at => `step ${at}`))).toBe(true);
    expect(isProgress(steps('AA', at => `step ${at}`))).toBe(false);
    expect(isProgress(steps('AB', same))).toBe(false);
    expect(
      isProgress(
        steps(
          'AB',
          at => `step ${at}`,
          () => ({ check: '4 failed' }),
        ),
      ),
    ).toBe(false);
  });

  it('numbers, paths and names that differ are news, also when no file changes', () => {
    expect(verdicts(steps('AAAAA', at => `Epoch ${at * 7} of the training`))).toBe('- - - - -');
    expect(verdicts(steps('AAAAA', at => `The leak is in src/${'abcde'[at]}.ts`))).toBe('- - - - -');
  });

  it('a new item of the report, and a task that is closed', () => {
    const items = ['interviewed users', 'compared databases', 'measured latency', 'estimated costs'];
    expect(verdicts(steps('AAAA', same, at => ({ report: items[at] })))).toBe('- - - -');
    expect(verdicts(steps('AAAA', same, at => ({ closed: at === 2 })))).toBe('- similar - -');
  });
});
