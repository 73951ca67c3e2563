// Every cheat of the table is caught, or it is a limit that the guide lists by its id: none is taken for proven and unlisted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesToProtect, refuseUnknownScripts } from '../../src/app/checks.ts';
import { workScreen } from '../../src/checks/work-screen.ts';
import type { State } from '../../src/core/state.ts';
import { fits } from '../../src/text/patterns.ts';
import type { Cheat } from './cheats.ts';
import { cheats } from './source-cheats.ts';

const limits = readFileSync(join(import.meta.dirname, '../../docs/guides/limits.md'), 'utf8');

/** What checkpoints would hold of it: all but what git ignores. */
function historyOf({ before = {}, after, ignored = [] }: Cheat) {
  const trees: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
    old: before,
    new: { ...before, ...after },
  };
  const paths = Object.keys(after).filter(path => !ignored.includes(path));
  const how = (path: string) => (after[path] === null ? 'deleted' : before[path] === undefined ? 'added' : 'modified');
  return {
    changes: async () =>
      [...paths.map(path => ({ path, how: how(path) })), { path: 'src/other.txt', how: 'modified' }] as never,
    content: async (tree: string, wanted: readonly string[]) =>
      wanted.flatMap(path => {
        const text = trees[tree]?.[path];
        return typeof text === 'string' ? [{ path, bytes: Buffer.from(text) }] : [];
      }),
  };
}

async function isCaught(cheat: Cheat): Promise<boolean> {
  const { check, before = {}, after } = cheat;
  refuseUnknownScripts({ verify: [check], protect: [] }, {});
  const { candidates } = filesToProtect({ verify: [check], protect: [] });
  const isPutBack = Object.keys(after).some(path => path in before && candidates.some(one => fits(path, one)));
  const state = { settings: { checks: [check], policy: {} }, loop: { document: 'PRD.json' } } as unknown as State;
  const screen = workScreen(historyOf(cheat), '/top', '');
  const doubts = await screen([{ from: 'old', to: 'new' }], '', 'US-001', state);
  return isPutBack || doubts.some(doubt => doubt.severity === 'refuse');
}

describe('an agent that cheats', () => {
  it.each(cheats)('$name: $expected', async cheat => {
    expect(await isCaught(cheat)).toBe(cheat.expected === 'caught');
    if (cheat.expected !== 'caught') expect(limits).toContain(`(${cheat.expected})`);
  });

  it('has no name twice', () => expect(new Set(cheats.map(({ name }) => name)).size).toBe(cheats.length));
});
