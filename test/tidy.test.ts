// The repository stays inside its fences, and each fence is shown to hold by fixtures that break it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findBreaks, rules } from './fences/check.ts';
import { fixtures } from './fences/fixtures.ts';
import { house } from './fences/house.ts';
import { allowed, base, smallHouse } from './fences/small-house.ts';

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'ralph-fences-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

function write(top: string, files: Files): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
  return top;
}

const shared = write(join(scratch, 'shared'), base);
/** Lays files over those that all fixtures share, and takes them away again. */
function withFiles<T>(files: Files, look: (top: string) => T): T {
  try {
    return look(write(shared, files));
  } finally {
    for (const path of Object.keys(files)) rmSync(join(shared, path));
    write(shared, Object.fromEntries(Object.entries(base).filter(([path]) => path in files)));
  }
}

describe('the fences', () => {
  it('hold in this repository', () => {
    expect(findBreaks(root, house)).toEqual([]);
  });

  it('let pass what is just allowed', () => {
    expect(findBreaks(write(join(scratch, 'allowed'), allowed), smallHouse)).toEqual([]);
  });

  it('are each broken by at least one fixture', () => {
    expect([...new Set(fixtures.map(one => one.breaks))].sort()).toEqual([...rules].sort());
  });

  it.each(fixtures)('go red, once and alone: $breaks by $by', ({ breaks, files, house: other }) => {
    const found = withFiles(files, top => findBreaks(top, { ...smallHouse, ...other }));
    expect(found).toMatchObject([{ rule: breaks }]);
    expect(found[0]!.detail).not.toBe('');
  });
});

/** What biome finds in these files, with the settings of this repository. */
function lint(files: Files): string {
  const settings = readFileSync(join(root, 'biome.json'), 'utf8');
  const top = write(mkdtempSync(join(scratch, 'lint-')), { ...files, 'biome.json': settings });
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', '--colors=off', ...Object.keys(files)], {
    cwd: top,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

describe("biome's fences, in src alone", () => {
  const parameters = (count: number): string =>
    `export const f = (${'abcdef'.slice(0, count).split('').join(', ')}) => a;\n`.replace(
      /\b([b-f])\b(?=[,)])/g,
      '_$1',
    );
  const branches = (count: number): string =>
    `export function f(a) {\n${Array.from({ length: count }, (_, at) => `  if (a === ${at}) a += 1;\n`).join('')}  return a;\n}\n`;

  it.each([
    ['useMaxParams', 'five parameters', parameters(5), parameters(4)],
    ['noExcessiveCognitiveComplexity', 'sixteen branches', branches(16), branches(15)],
  ])('%s goes red for %s', (rule, _by, tooMuch, enough) => {
    const found = lint({ 'src/much.js': tooMuch, 'src/enough.js': enough, 'test/much.js': tooMuch });
    expect(found).toContain('Checked 3 files');
    expect(found.match(/^\S+ lint\/\S+/gm)).toEqual([
      expect.stringMatching(`^src/much\\.js:.* lint/complexity/${rule}$`),
    ]);
  });
});
