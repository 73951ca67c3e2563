// The checks as the settings name them, the files that they protect, and who judges.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  buildChecks,
  buildJudge,
  filesToProtect,
  judgeSpec,
  redStart,
  refuseUnknownScripts,
} from '../../src/app/checks.ts';
import { presetValues } from '../../src/config/presets.ts';
import type { Config } from '../../src/config/settings.ts';
import { usualMode } from '../../src/modes/registry.ts';
import { plainEnvironment, scratchDirectory } from '../processes/fixture.ts';

const never = new AbortController().signal;
const config = (part: Partial<Config>): Config => ({ ...presetValues(usualMode), sandbox: 'none', ...part });
const needs = (
  part: Partial<Config>,
  performers: readonly string[] = ['claude'],
  env: Record<string, string> = plainEnvironment,
) => ({
  config: config(part),
  settings: { performers, performersByTask: {}, performersByPhase: {} },
  directory: scratchDirectory(),
  home: scratchDirectory(),
  env,
});

describe('checks from settings', () => {
  it('are commands and files, in the order given, each named as it was written', async () => {
    const verify = ['test -f a', 'file:a contains done', 'file:b'];
    const order = needs({ verify });
    const checks = await buildChecks(order);
    expect(checks.map(check => check.name)).toEqual(verify);
    writeFileSync(join(order.directory, 'a'), 'done');
    const results = await redStart(checks, order.directory, never);
    expect(results.map(result => result.passed)).toEqual([true, true, false]);
  });

  it('run N of M times when that is set', async () => {
    const order = needs({ verify: ['echo x >>ran; [ $(wc -l <ran) -gt 1 ]'], verifyRuns: '1/2' });
    const [result] = await redStart(await buildChecks(order), order.directory, never);
    expect(result).toMatchObject({ passed: true, flaky: true });
  });

  it('are refused when a file lies outside', async () => {
    await expect(buildChecks(needs({ verify: ['file:/etc/passwd'] }))).rejects.toThrow('not a path inside');
  });

  it('at the start all are run, also after one that failed, and none after a stop', async () => {
    const order = needs({ verify: ['exit 1', 'touch second', 'exit 2'] });
    const checks = await buildChecks(order);
    expect((await redStart(checks, order.directory, never)).map(result => result.passed)).toEqual([false, true, false]);
    expect(existsSync(join(order.directory, 'second'))).toBe(true);
    expect(await redStart(checks, order.directory, AbortSignal.abort())).toEqual([]);
  });
});

describe('files to protect', () => {
  it.each<readonly [readonly string[], readonly string[], readonly string[], readonly string[]]>([
    [['./verify.sh', 'npm test'], [], ['verify.sh'], []],
    [['bash tests/run.sh', 'node --test a.test.js'], [], ['tests/run.sh'], []],
    [['file:./verify.sh', 'python3 hello.py'], ['!hello.py', 'spec'], [], ['spec']],
    [['./verify.sh'], ['!./verify.sh'], [], []],
    [['python -m pkg.check'], [], ['pkg/check.py', 'pkg/check/__main__.py'], []],
    [['sh < check.sh', 'cat more.sh | sh'], [], ['check.sh', 'more.sh'], []],
  ])('of %j with %j', (verify, protect, candidates, wanted) => {
    expect(filesToProtect({ verify, protect })).toMatchObject({ candidates, wanted });
  });

  it('a check whose script only shows when it runs is refused with a word how to write it, unless a person names the files', () => {
    const verify = ['find tests -exec sh {} +'];
    expect(() => refuseUnknownScripts({ verify, protect: [] }, {})).toThrow('only shows when it runs');
    refuseUnknownScripts({ verify, protect: ['tests'] }, {});
    refuseUnknownScripts({ verify: ['npm test', 'file:a.txt'], protect: [] }, {});
  });
});

describe('who judges', () => {
  const installed = (names: string) => {
    const bin = scratchDirectory();
    for (const name of names.split(' ')) {
      writeFileSync(join(bin, name), '#!/bin/sh\n');
      chmodSync(join(bin, name), 0o755);
    }
    return { PATH: bin };
  };

  it.each([
    ['claude', 'claude codex gemini', 'codex'],
    ['codex/gpt-5', 'claude codex', 'claude'],
    ['claude', 'claude gemini', 'gemini'],
    ['kiro', 'claude codex', 'codex'],
    ['opencode/anthropic/claude-x', 'claude gemini', 'gemini'],
    ['opencode/openai/gpt-5', 'claude codex', 'claude'],
    ['claude/opus', 'claude', 'claude/opus'],
    ['command', 'codex', 'codex'],
  ])('with --judge auto and %s at work, of %s it is %s', async (worker, names, judge) => {
    expect(await judgeSpec(needs({ judge: 'auto' }, [worker], installed(names)))).toBe(judge);
  });

  it('is nobody unless one is asked for', async () => {
    expect(await buildJudge(needs({}))).toBeUndefined();
  });

  it('is who was named, and is missing loudly', async () => {
    expect(await judgeSpec(needs({ judge: 'gemini/pro' }))).toBe('gemini/pro');
    await expect(buildJudge(needs({ judge: 'codex' }, ['claude'], { PATH: '/nowhere' }))).rejects.toMatchObject({
      exitCode: 7,
    });
  });

  it('is asked with the real prompt and understood by its answer', async () => {
    const order = needs({
      judge: 'command',
      agentCommand:
        'cat >/dev/null; pwd >&2; echo \'{"criteria":[{"criterion":1,"verdict":"fail","evidence":"nothing there"}]}\'',
    });
    const built = await buildJudge(order);
    const work = { loop: 'l', iteration: 1, task: 'US-1', title: 'x', criteria: ['It works'], diff: '', outcomes: [] };
    expect(await built?.judge(work, never)).toMatchObject({
      passed: false,
      detail: 'NOT met: It works (nothing there)',
    });
  });
});
