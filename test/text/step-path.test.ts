// A step's path means one place, whoever asks.
import { describe, expect, it } from 'vitest';
import { pathInVault, stepPath } from '../../src/text/step-path.ts';

describe('the path of a file that a step makes', () => {
  it.each([
    ['vault/Pending_Approval/a.md', 'Pending_Approval/a.md'],
    ['./vault/notes/a.md', 'notes/a.md'],
    ['Pending_Approval/a.md', 'Pending_Approval/a.md'],
    ['./Logs/x/a.md', './Logs/x/a.md'],
    ['docs/a.md', undefined],
    ['Done', undefined],
    ['vaults/a.md', undefined],
    ['/tmp/vault/a.md', undefined],
  ])('given %s, then the way in the vault is %s', (path, way) => {
    expect(pathInVault(path)).toBe(way?.replace(/^\.\//, ''));
  });

  it('is said in full to whoever approves it', () => {
    const of = (path: string): string => stepPath(path, '/notes/vault', '/repo');
    expect(of('Pending_Approval/./a.md')).toBe('/notes/vault/Pending_Approval/a.md');
    expect(of('vault//a.md')).toBe('/notes/vault/a.md');
    expect(of('./docs/a.md')).toBe('/repo/docs/a.md');
    expect(of('/repo/a.md')).toBe('/repo/a.md');
  });
});
