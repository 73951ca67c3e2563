// The repository stays inside its fences, and each fence is shown to hold by one fixture that breaks it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findBreaks, rules } from './fences/check.ts';

const fixtures = join(import.meta.dirname, 'fixtures', 'fences');
const folders = readdirSync(fixtures).sort();
const ruleOf = (folder: string) => folder.split('--')[0]!;

describe('the fences', () => {
  it('hold in this repository', () => {
    expect(findBreaks(join(import.meta.dirname, '..'))).toEqual([]);
  });

  it('let pass what is just allowed', () => {
    expect(findBreaks(join(fixtures, 'allowed'))).toEqual([]);
  });

  it('are each broken by at least one fixture', () => {
    const broken = new Set(folders.filter(folder => folder !== 'allowed').map(ruleOf));
    expect([...broken].sort()).toEqual([...rules].sort());
  });

  it.each(folders.filter(folder => folder !== 'allowed'))('go red, once and alone, for %s', folder => {
    const breaks = findBreaks(join(fixtures, folder));
    expect(breaks.map(({ rule }) => rule)).toEqual([ruleOf(folder)]);
    expect(breaks[0]!.detail).not.toBe('');
  });
});
