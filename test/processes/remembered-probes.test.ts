// What a host lets work is tried out once since it was started, and never taken from what may be wrong by now.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstWorking, rememberProbes } from '../../src/processes/contain.ts';

const recipes = [['first'], ['second'], ['third']];
let folder: string;
let file: string;
let program: string;
let tried: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-probes-'));
  [file, program] = [join(folder, 'probes.json'), join(folder, 'program')];
  writeFileSync(program, 'one');
  tried = [];
  rememberProbes(file);
});

afterEach(() => {
  rememberProbes(undefined);
  rmSync(folder, { recursive: true, force: true });
});

const find = (working: string | undefined, name = 'walls') =>
  firstWorking(name, [program], recipes, ([recipe = '']) => {
    tried.push(recipe);
    return recipe === working;
  });

describe('a probe', () => {
  it('is made once, and its answer is for the owner alone', () => {
    expect(find('second')).toEqual(['second']);
    expect(tried).toEqual(['first', 'second']);
    expect(find('second')).toEqual(['second']);
    expect(tried).toHaveLength(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    find('first', 'doors');
    find('second');
    expect(tried).toHaveLength(3);
  });

  it('is made again when nothing worked, when a program is another one, and after the machine was started again', () => {
    expect([find(undefined), find(undefined)]).toEqual([undefined, undefined]);
    expect(tried).toHaveLength(6);
    find('first');
    writeFileSync(program, 'another one');
    expect(find('third')).toEqual(['third']);
    const [boot] = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').split('\n');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(boot ?? '', 'another boot'));
    expect(find('second')).toEqual(['second']);
  });

  it('is made again where the answer is damaged or cannot be kept', () => {
    for (const text of ['{"walls"', '{"walls":{"key":"","recipe":0}}', 'null']) {
      writeFileSync(file, text);
      expect(find('second')).toEqual(['second']);
    }
    rememberProbes(join(folder, 'no home yet', 'probes.json'));
    expect([find('third'), find('first')]).toEqual([['third'], ['first']]);
  });
});
