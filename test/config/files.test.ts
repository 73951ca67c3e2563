// The config files as people break them: each fault gets one sentence with its place.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfigFile } from '../../src/config/files.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import type { Problem } from '../../src/documents/document.ts';
import { usualMode } from '../../src/modes/registry.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-config-'));
  directory = join(root, 'project');
  mkdirSync(directory);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const path = () => join(directory, 'ralph.config.json');

function resolved() {
  return resolveConfig({ mode: usualMode, flags: {}, env: {}, directory, userDirectory: join(root, 'user'), now });
}

async function problemsWith(bytes: string | Uint8Array): Promise<readonly Problem[]> {
  writeFileSync(path(), bytes);
  const result = await resolved();
  return result.ok ? [] : result.problems;
}

async function configWith(bytes: string | Uint8Array) {
  writeFileSync(path(), bytes);
  const result = await resolved();
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
}

describe('a config file that is right', () => {
  test('B27, B28: comments, trailing commas, a byte order mark and $schema are fine; the schema is never fetched', async () => {
    const { config, sources } = await configWith(`\ufeff{
      // how far it may go
      "$schema": "http://127.0.0.1:9/never-fetched.json",
      "maxIterations": 7, "maxCost": 2.5, "maxTokens": "unlimited", "maxDuration": "1h",
      "verify": ["npm test", "npm run lint",], /* both */
      "requireChecks": true,
    }`);
    expect(config).toMatchObject({
      maxIterations: 7,
      maxCost: 2_500_000,
      maxTokens: null,
      maxDuration: 3_600_000,
      verify: ['npm test', 'npm run lint'],
      requireChecks: true,
    });
    expect(config).not.toHaveProperty('$schema');
    expect(sources.maxCost).toBe('project file');
  });
});

describe('a config file that is wrong', () => {
  test.each([
    ['B22: a duplicate key', '{\n  "maxCost": 1,\n  "maxCost": 2\n}', 3, 3, 'the key "maxCost" is given twice'],
    ['B23: __proto__', '{\n "__proto__": {}}', 2, 2, 'the key "__proto__" is not allowed'],
    [
      'B24: an unknown key',
      '{\n // why\n "maxIteration": 3\n}',
      3,
      2,
      'unknown key "maxIteration"; did you mean maxIterations?',
    ],
    ['B24: a key like nothing we know', '{"zzzzzz": 3}', 1, 2, 'unknown key "zzzzzz"; remove it.'],
    ['B25: text for a number', '{"maxAttempts": "3"}', 1, 2, 'maxAttempts must be a whole number, not the text "3".'],
    ['B25: null', '{"maxIterations": null}', 1, 2, 'maxIterations must be a whole number, or "unlimited", not null.'],
    ['B25: NaN', '{"maxCost": NaN}', 1, 13, 'NaN is not a JSON value'],
    ['B25: negative', '{"maxIterations": -1}', 1, 2, 'maxIterations: "-1" is not a whole number from 1'],
    ['B25: more than 2^53', '{"maxTokens": 9007199254740993}', 1, 2, 'is not a whole number from 1'],
    ['B25: beyond every number', '{"maxIterations": 1e999}', 1, 2, 'maxIterations must be a whole number'],
    ['B25: a number for a list', '{"verify": 3}', 1, 2, 'verify must be a list of commands, like ["npm test"], not 3.'],
    ['B25: a number in a list', '{"verify": ["a",\n 3]}', 2, 2, 'verify[1] must be text in quotes, not 3.'],
    ['B25: an empty command in a list', '{"verify": ["a",\n ""]}', 2, 2, 'verify[1]: "" is empty'],
    [
      'B25: text for a truth',
      '{"requireChecks": "false"}',
      1,
      2,
      'requireChecks must be true or false, not the text "false".',
    ],
    [
      'B25: an unknown choice',
      '{"onEscalation": "stop"}',
      1,
      2,
      'onEscalation must be one of "wait", "skip", "exit", not the text "stop".',
    ],
    ['B25: an endless list', `{"verify": [${'"a",'.repeat(101)}]}`, 1, 2, 'verify must be at most 100 entries.'],
    ['B25: an object', '{"promise": {}}', 1, 2, 'promise must be text in quotes, not an object.'],
    ['B25: a list as the document', '[]', 1, 1, 'the document must be an object of settings, not a list.'],
    ['B25: $schema is not text', '{"$schema": 3}', 1, 2, '$schema must be text in quotes, not 3.'],
    ['B03: money as text', '{"maxCost": "5,00"}', 1, 2, 'maxCost: "5,00" is not an amount'],
    ['B03: money as a number', '{"maxCost": 0}', 1, 2, 'maxCost: "0" is not an amount'],
    ['B03: a fraction too fine', '{"maxCost": 1e-9}', 1, 2, 'maxCost: "1e-9" is not an amount'],
    ['B04: a duration without unit', '{"maxDuration": "90"}', 1, 2, 'maxDuration: "90" is not a duration'],
    ['B04: a duration as a number', '{"maxDuration": 90}', 1, 2, 'maxDuration must be a duration in quotes'],
    ['B07: a promise with a line break', '{"promise": "a\\nb"}', 1, 2, 'promise: "a\\nb" contains a line break'],
    ['B26: a control character', '{"promise": "a\u0001b"}', 1, 15, 'control character'],
    ['B27: single quotes', "{'promise': 'x'}", 1, 2, 'where a key in double quotes must be'],
    ['an empty file', '', 1, 1, 'The document is empty.'],
    ['a line counted behind CRLF and comments', '/* a\r\n b */ {\r\n "agnt": "x"}', 3, 2, 'did you mean agent?'],
  ])('%s is refused with line and column', async (_name, text, line, column, why) => {
    const problems = await problemsWith(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ line, column, message: expect.stringContaining(why) });
    expect(problems[0]?.message).toMatch(/^ralph\.config\.json: /);
  });

  test('all wrong fields are told at once', async () => {
    const problems = await problemsWith('{"maxCost": -1, "verfy": [], "maxErrors": 0}');
    expect(problems).toHaveLength(3);
    expect(problems.map(problem => problem.column)).toEqual(expect.arrayContaining([2, 17, 30]));
  });

  test.each([
    ['Latin-1', Buffer.from('{"promise": "caf\xe9"}', 'latin1'), 'is not valid UTF-8 at byte 16.'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'is UTF-16 text, not UTF-8.'],
    ['a NUL byte', '{"promise": "a\u0000b"}', 'holds a NUL byte at byte 14, so it is no text.'],
    [
      'a truncated character behind a genuine U+FFFD',
      Buffer.from([0x22, 0xef, 0xbf, 0xbd, 0xef, 0xbf]),
      'is not valid UTF-8 at byte 4.',
    ],
  ])('B26: %s is refused with the byte offset', async (_name, bytes, why) => {
    expect(await problemsWith(bytes)).toMatchObject([
      { message: `ralph.config.json ${why}`, fix: 'Save it as UTF-8.' },
    ]);
  });

  test('B26: garbled letters are accepted with a notice', async () => {
    const { notices } = await configWith('{"promise": "fertig â€“ Ã¼ber"}');
    expect(notices).toEqual(['ralph.config.json looks like UTF-8 that was once read in another encoding.']);
  });

  test('B21: 1 MB is read, one byte more is refused', async () => {
    const padded = (size: number) => `{}${' '.repeat(size - 2)}`;
    expect(await problemsWith(padded(1_048_576))).toEqual([]);
    expect((await problemsWith(padded(1_048_577)))[0]?.message).toContain('larger than 1 MB');
  });
});

describe('a config file that is not what it seems', () => {
  test('B30: a link that leads out of the project is not followed', async () => {
    writeFileSync(join(root, 'outside.json'), '{"maxIterations": 3}');
    symlinkSync('../outside.json', path());
    const result = await resolved();
    expect(result).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('leads out of the project') }],
    });
  });

  test('B30: neither is a link through a folder that leads out', async () => {
    mkdirSync(join(root, 'elsewhere'));
    writeFileSync(join(root, 'elsewhere', 'c.json'), '{}');
    symlinkSync(join(root, 'elsewhere'), join(directory, 'sub'));
    symlinkSync('sub/c.json', path());
    expect(await resolved()).toMatchObject({ ok: false });
  });

  test('B30: a link inside the project is followed, also when the project itself is reached by a link', async () => {
    writeFileSync(join(directory, 'real.json'), '{"maxIterations": 3}');
    symlinkSync('real.json', path());
    symlinkSync(directory, join(root, 'alias'));
    directory = join(root, 'alias');
    expect(await resolved()).toMatchObject({ ok: true, config: { maxIterations: 3 } });
  });

  test('B30: the user’s own file may be a link', async () => {
    mkdirSync(join(root, 'user'));
    writeFileSync(join(root, 'dotfiles.json'), '{"maxIterations": 4}');
    symlinkSync('../dotfiles.json', join(root, 'user', 'config.json'));
    expect(await resolved()).toMatchObject({
      ok: true,
      config: { maxIterations: 4 },
      sources: { maxIterations: 'user file' },
    });
  });

  test('a folder or a named pipe is refused and does not hold us up', async () => {
    mkdirSync(path());
    expect(await resolved()).toMatchObject({
      ok: false,
      problems: [{ message: 'ralph.config.json is a directory.' }],
    });
    rmSync(path(), { recursive: true });
    execFileSync('sh', ['-c', 'mkfifo "$0"', path()]);
    expect(await resolved()).toMatchObject({
      ok: false,
      problems: [{ message: 'ralph.config.json is not a file.' }],
    });
  });

  test('a file that cannot be read is refused, not taken as absent', async () => {
    symlinkSync('ralph.config.json', path());
    expect(await resolved()).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining('ELOOP') }] });
  });

  test('B29: what belongs to the user is ignored in the project’s file, with a notice', async () => {
    const { config, settings, notices } = await configWith(
      '{"agentCommand": "evil", "agentEnv": ["TOKEN"], "verify": ["npm test"]}',
    );
    expect(config.agentCommand).toBeUndefined();
    expect(config.agentEnv).toEqual([]);
    expect(settings.performers).toEqual([]);
    expect(settings.checks).toEqual(['npm test']);
    expect(notices).toEqual([
      'ralph.config.json: agentCommand is ignored here, because a project may not set it before you trust it (ralph config trust); use the user configuration or --agent-command.',
      'ralph.config.json: agentEnv is ignored here, because a project may not set it before you trust it (ralph config trust); use the user configuration or --agent-env.',
    ]);
  });
});

test('ADR 4: a project’s own file cannot lift the bounds of a loop; the user’s file can', async () => {
  const text = '{"maxIterations": "unlimited", "maxCost": "unlimited", "maxTokens": "unlimited"}';
  const folder = mkdtempSync(join(tmpdir(), 'ralph-lifted-'));
  try {
    writeFileSync(join(folder, 'ralph.config.json'), text);
    const place = { directory: folder, fileName: 'ralph.config.json', label: 'ralph.config.json' };
    const project = await readConfigFile({ ...place, isProject: true }, 0);
    expect(project.values).toEqual({ maxTokens: null });
    expect(project.notices).toHaveLength(2);
    expect(project.notices[0]).toContain('maxIterations: unlimited is ignored here, because a project may not set it');
    const user = await readConfigFile({ ...place, isProject: false }, 0);
    expect(user.values).toEqual({ maxIterations: null, maxCost: null, maxTokens: null });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
