// The values people type: what is read, what is refused, and that a refusal names field, value, rule and fix.
import { describe, expect, test } from 'vitest';
import type { Key } from '../../src/config/fields.ts';
import { parseFlag } from '../../src/config/options.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const hour = 3_600_000;

function read(key: Key, text: string): unknown {
  const reading = parseFlag(key, text, now);
  return reading.ok ? reading.value : { problem: reading.problem };
}

function problemOf(key: Key, text: string): string {
  const reading = parseFlag(key, text, now);
  if (reading.ok) throw new Error(`${key} accepted ${JSON.stringify(text)} as ${JSON.stringify(reading.value)}`);
  return reading.problem;
}

describe('B02: whole numbers', () => {
  test.each([
    ['3', 3],
    [' 3 ', 3],
    ['1', 1],
    ['1000000', 1_000_000],
    ['unlimited', null],
  ])('B02: --max-iterations %j is read as %j', (text, value) => {
    expect(read('maxIterations', text)).toBe(value);
  });

  test.each([
    '0',
    '-1',
    '1e3',
    '3.5',
    '٣',
    '',
    ' ',
    '999999999999999999999',
    '1000001',
    '007',
    '+3',
    '0x10',
    '3 4',
    'Unlimited',
    'NaN',
  ])('B02: --max-iterations %j is refused in one sentence with rule and fix', text => {
    const problem = problemOf('maxIterations', text);
    expect(problem).toMatch(
      /^--max-iterations: ".*" is not a whole number from 1 to 1,000,000; write it in plain digits, or the word unlimited\.$/u,
    );
  });

  test.each(['maxAttempts', 'stuckThreshold', 'contextChars'] as const)(
    'B02: the word unlimited is not allowed for %s',
    key => {
      expect(problemOf(key, 'unlimited')).toContain('"unlimited" is not a whole number');
      expect(read(key, '7')).toBe(7);
    },
  );

  test.each(['maxIterations', 'maxCost', 'maxTokens', 'maxDuration'] as const)('B02: %s may be unlimited', key => {
    expect(read(key, 'unlimited')).toBe(null);
  });
});

describe('B03: money', () => {
  test.each([
    ['$5', 5_000_000],
    ['5', 5_000_000],
    ['5.00', 5_000_000],
    ['0.50', 500_000],
    ['0.000001', 1],
    ['0.29', 290_000],
    ['1000000', 1_000_000_000_000],
    ['$1000000.000000', 1_000_000_000_000],
  ])('B03: --max-cost %s is %d micro-dollars', (text, micros) => {
    expect(read('maxCost', text)).toBe(micros);
  });

  test.each([
    '5,00',
    'NaN',
    'Infinity',
    '-1',
    '1e-9',
    '0',
    '0.00',
    '',
    '$',
    '$-5',
    '5$',
    '.5',
    '5.',
    '0.0000001',
    '1000000.01',
    '9999999',
    '٥',
    '5 USD',
    '00.5',
  ])('B03: --max-cost %j is refused and never read as 0', text => {
    expect(problemOf('maxCost', text)).toMatch(
      /^--max-cost: ".*" is not an amount in dollars .*; write it like 5, \$5 or 0\.50/u,
    );
  });
});

describe('B04: durations', () => {
  test.each([
    ['2h30m', 2.5 * hour],
    ['90s', 90_000],
    ['45m', 45 * 60_000],
    ['1d', 24 * hour],
    ['500ms', 500],
    ['1d2h3m4s5ms', 26 * hour + 184_005],
    ['30d', 30 * 24 * hour],
    ['1m1ms', 60_001],
  ])('B04: --max-duration %s is %d ms', (text, ms) => {
    expect(read('maxDuration', text)).toBe(ms);
  });

  test.each([
    '90',
    '1y',
    '-5m',
    '0s',
    '',
    '30m2h',
    '1h1h',
    '1.5h',
    '2H',
    '31d',
    '30d1ms',
    '1 h',
    '1w',
    'h',
    '9999999999d',
    `${'1'.repeat(5_000)}s`,
  ])('B04: --max-duration %j is refused with the units', text => {
    const problem = problemOf('maxDuration', text);
    expect(problem).toMatch(/^--max-duration: ".*" is not a duration above 0 and up to 30d; write it with units/u);
    expect(problem.length).toBeLessThan(250);
  });

  test('a back-off base longer than the longest back-off is refused', () => {
    expect(problemOf('backoffBase', '2m')).toContain('up to 1m;');
    expect(read('backoffBase', '1s')).toBe(1_000);
  });
});

describe('deadline', () => {
  test.each([
    ['2026-03-01T12:00:01Z', now + 1_000],
    ['2026-03-01T14:00+01:00', now + hour],
    ['2026-03-02T12:00:00.500Z', now + 24 * hour + 500],
  ])('%s is the instant it says, zone included', (text, at) => {
    expect(read('deadline', text)).toBe(at);
  });

  test.each([1, 60, 600])('a local HH:MM that comes in %d minutes is today’s', minutes => {
    const at = new Date(now + minutes * 60_000);
    const text = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
    expect(read('deadline', text)).toBe(at.getTime());
  });

  test('a local HH:MM that has just passed is tomorrow’s, so it is always in the future', () => {
    const before = new Date(now - 60_000);
    const text = `${String(before.getHours()).padStart(2, '0')}:${String(before.getMinutes()).padStart(2, '0')}`;
    const tomorrow = new Date(before);
    tomorrow.setDate(before.getDate() + 1);
    expect(read('deadline', text)).toBe(tomorrow.getTime());
  });

  test.each(['2026-03-01T12:00:00Z', '2020-01-01T00:00:00Z'])('%s is not in the future and is refused', text => {
    expect(problemOf('deadline', text)).toContain('is not in the future');
  });

  test.each([
    '2026-03-05T12:00:00',
    '2026-03-05',
    '2027-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '24:00',
    '9:30',
    '18:60',
    'tomorrow',
    '',
    '1772366400',
  ])('%j is no point in time and is refused with both forms', text => {
    expect(problemOf('deadline', text)).toMatch(
      /is not a point in time; write a date-time with its zone .* or a local time like 18:30\.$/,
    );
  });

  test('a deadline that bounds nothing is refused', () => {
    expect(problemOf('deadline', '9999-01-01T00:00:00Z')).toContain('more than 366 days away');
  });
});

describe('B07: promise', () => {
  test.each([
    'ALL DONE',
    'it\'s "done"',
    'DONE*',
    'DONE?',
    '[DONE]',
    '完了 🎉',
    '$(date)',
    'x'.repeat(200),
    '🎉'.repeat(200),
  ])('B07: %j is kept literally', text => {
    expect(read('promise', text)).toBe(text);
  });

  test('B07: white space around it is trimmed', () => {
    expect(read('promise', '  DONE  ')).toBe('DONE');
  });

  test.each([
    'DO\nNE',
    'DONE\n',
    'DO\rNE',
    'DO\tNE',
    'DO\u001b[31mNE',
    'DO\u0000NE',
    'DO\u2028NE',
    'DO\ud800NE',
    'DO\u0085NE',
  ])('B07: %j has a line break or control character and is refused, shown without it', text => {
    const problem = problemOf('promise', text);
    expect(problem).toMatch(/^--promise: ".*" contains a line break or control character; write it on one line\.$/u);
    expect(problem).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  });

  test.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['x'.repeat(201), 'longer than 200 characters'],
    ['🎉'.repeat(201), 'longer than 200 characters'],
    ['x'.repeat(1_000_000), 'longer than 200 characters'],
  ])('B07: an empty or too long promise is refused', (text, why) => {
    const problem = problemOf('promise', text);
    expect(problem).toContain(why);
    expect(problem.length).toBeLessThan(200);
  });
});

describe('the other kinds', () => {
  test.each(['wait', 'skip', 'exit'])('--on-escalation %s is known', text => {
    expect(read('onEscalation', text)).toBe(text);
  });

  test('an unknown choice is refused with the choices', () => {
    expect(problemOf('onEscalation', 'stop')).toBe(
      '--on-escalation: "stop" is not a known choice; use one of wait, skip, exit.',
    );
  });

  test.each([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('--require-checks %s is %j', (text, value) => {
    expect(read('requireChecks', text)).toBe(value);
  });

  test.each(['yes', 'no', 'on', 'TRUE', '', 'constructor'])('B22: %j is neither true nor false', text => {
    expect(problemOf('requireChecks', text)).toContain('write true or false');
  });

  test('names of variables are split, kept in order and once', () => {
    expect(read('agentEnv', 'LANG, HTTPS_PROXY LANG')).toEqual(['LANG', 'HTTPS_PROXY']);
  });

  test.each(['', ',', 'A=b', '1A', 'A-B', 'Ä', `A${'B'.repeat(200)}`])('%j is not a list of variable names', text => {
    expect(problemOf('agentEnv', text)).toMatch(/^--agent-env: /);
  });

  test('a command keeps its commas and quotes', () => {
    expect(read('verify', 'npm test -- --grep "a, b"')).toEqual(['npm test -- --grep "a, b"']);
  });

  test.each(['\\\\host\\share\\x', '\\??\\C:\\x', '//host/share'])(
    'B32: the path %j could reach another machine and is refused',
    text => {
      expect(problemOf('script', text)).toContain('network or device path');
    },
  );
});

describe('B19: secrets in flags', () => {
  const secret = `sk-ant-api03-${'aB3dE5gH7j'.repeat(9)}-x`;

  test.each(['agentCommand', 'verify', 'promise', 'project', 'name', 'maxCost', 'agentEnv'] as const)(
    'B19: a key given as the value of %s is refused without repeating it',
    key => {
      const problem = problemOf(key, secret);
      expect(problem).toContain('flags show in ps; use an environment variable or a file');
      expect(problem).not.toContain('aB3dE5');
    },
  );

  test.each([`agent --token ${secret}`, `agent --token=${secret}`, `KEY='${secret}' agent`])(
    'B19: a key inside a command is refused',
    text => {
      const problem = problemOf('agentCommand', text);
      expect(problem).toContain('looks like a secret');
      expect(problem).not.toContain('aB3dE5');
    },
  );
});

describe('runs of a flaky check', () => {
  test.each(['1/1', '2/3', ' 10/10 '])('%j is read', text => {
    expect(read('verifyRuns', text)).toBe(text.trim());
  });

  test.each(['', '2', '3/2', '0/3', '1/11', '2/3/4', '-1/3', '2 of 3', '1.5/3'])(
    '%j is refused with the form',
    text => {
      expect(problemOf('verifyRuns', text)).toContain('write it like 2/3');
    },
  );
});

describe('the judge', () => {
  test('is an agent with its model, or auto', () => {
    expect([read('judge', ' auto '), read('judge', 'codex/gpt-5')]).toEqual(['auto', 'codex/gpt-5']);
    expect(problemOf('judge', 'cluade')).toContain('did you mean claude?');
  });
});

describe('paths to protect', () => {
  test('are a list, one a time, never a network path', () => {
    expect(read('protect', 'scripts/verify')).toEqual(['scripts/verify']);
    expect(problemOf('protect', '//host/share')).toContain('network');
  });
});
