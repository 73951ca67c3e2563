import { describe, expect, it } from 'vitest';
import { contained, containment } from '../../src/processes/contain.ts';

describe('containment', () => {
  it('is found out once and stays', () => {
    expect(['namespace', 'group']).toContain(containment());
    expect(containment()).toBe(containment());
    expect(contained('true', []).containment).toBe(containment());
  });

  it.skipIf(process.platform !== 'linux')('passes the command on as words, never as text for a shell', () => {
    const words = ['two words', '$(touch x)', '"; exit 1', '--'];
    for (const atMost of [undefined, 'group', 'recorded'] as const) {
      expect(contained('my agent', words, atMost).args.slice(-5)).toEqual(['my agent', ...words]);
    }
  });

  it('can be asked for less than the best', () => {
    expect(contained('true', [], 'group').containment).not.toBe('namespace');
    expect(contained('true', [], 'recorded').containment).toBe('recorded');
  });

  it('starts with a program given by its full path, so that no search stands before an agent', () => {
    expect(contained('true', []).command.startsWith('/')).toBe(true);
  });
});
