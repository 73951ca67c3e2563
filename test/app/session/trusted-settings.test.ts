// The user's settings while several loops work: whose change is nobody's, whose is asked about (F89).
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedSettings, watchSettings } from '../../../src/app/session/trusted-settings.ts';

describe("the user's settings", () => {
  let root = '';
  const home = (): string => join(root, 'home');
  const env = (): Readonly<Record<string, string>> => ({ HOME: root });
  const begin = (): (() => void) => watchSettings(home(), env());
  const edit = (text: string): void => writeFileSync(join(root, '.config/ralph/config.json'), text);
  const changed = (): readonly string[] => changedSettings(home(), env())?.files.map(({ name }) => name) ?? [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'ralph-settings-'));
    mkdirSync(join(root, '.config/ralph'), { recursive: true });
    edit('{}');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('that change while one of two loops works are asked about, though the other ended before', () => {
    const [endOne, endOther] = [begin(), begin()];
    endOne();
    edit('{"sandbox": "none"}');
    expect(changed()).toEqual(['config.json']);
    endOther();
    expect(changed()).toEqual(['config.json']);
  });

  it('that a person accepted at the start of another loop are not asked about again', () => {
    const endOne = begin();
    edit('{"maxIterations": 7}');
    expect(changed()).toEqual(['config.json']);
    const endOther = begin(); // the gate was passed
    expect(changed()).toEqual([]);
    endOther();
    endOne();
    expect(changed()).toEqual([]);
    edit('{}');
    expect(changed()).toEqual([]);
  });

  it('that a person changes after a loop was killed and another one ended are theirs', () => {
    begin();
    const seen = join(home(), 'settings-seen');
    const [own = ''] = readdirSync(seen);
    rmSync(join(seen, own));
    writeFileSync(join(seen, '999999999-1.json'), '{"files": {}}'); // no process has this number
    expect(changed()).toEqual(['config.json']);
    begin()();
    edit('{"maxIterations": 7}');
    expect(changed()).toEqual([]);
  });
});
