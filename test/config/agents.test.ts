// How agents are named, what a bad name is told, and who wins when two places name one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentNames, pairsOf, readAgent, specOf } from '../../src/config/agents.ts';
import { parseFlag } from '../../src/config/options.ts';
import { type ConfigRequest, resolveConfig } from '../../src/config/resolve.ts';
import { splitWords } from '../../src/config/values.ts';
import { usualMode } from '../../src/modes/registry.ts';

describe('AGENT[/MODEL]', () => {
  test.each([
    ['claude', 'claude', undefined],
    ['claude/opus', 'claude', 'opus'],
    ['opencode/anthropic/claude-x', 'opencode', 'anthropic/claude-x'],
    ['claude/claude-sonnet-4-5[1m]', 'claude', 'claude-sonnet-4-5[1m]'],
    [' codex ', 'codex', undefined],
    ['command', 'command', undefined],
  ])('%s is the agent %s with the model %s', (text, agent, model) => {
    expect(specOf(text)).toEqual(model === undefined ? { agent } : { agent, model });
  });

  test.each([
    ['cluade', /--agent: "cluade" is not an agent; did you mean claude\?$/],
    ['Claude', /did you mean claude\?$/],
    ['open-code/x', /did you mean opencode\?$/],
    ['hal', /"hal" is not an agent; use one of claude, codex, .*scripted\.$/],
    ['', /"" is not an agent; use one of/],
    ['/opus', /"" is not an agent/],
    ['claude/', /"" is not the name of a model/],
    ['claude/--help', /"--help" is not the name of a model/],
    ['claude/a b', /is not the name of a model/],
    ['claude/a\u001b[31m', /is not the name of a model/],
    [`claude/${'x'.repeat(200)}`, /is not the name of a model/],
    ['command/x', /the command agent takes no model; write just command\.$/],
    ['__proto__', /is not an agent/],
  ])('%j is refused in a sentence', (text, wanted) => {
    const read = readAgent({ label: '--agent', text });
    expect(read).toEqual({ ok: false, problem: expect.stringMatching(wanted) });
  });

  test('whatever was read once reads the same again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...agentNames), fc.string(), (agent, model) => {
        const read = readAgent({ label: 'x', text: `${agent}/${model}` });
        if (read.ok) expect(readAgent({ label: 'x', text: read.value })).toEqual(read);
      }),
    );
  });
});

describe('lists of agents', () => {
  test('a chain is separated by commas or blanks; doubles are left out', () => {
    expect(parseFlag('fallback', 'codex, gemini/gemini-2.5-pro codex')).toEqual({
      ok: true,
      value: ['codex', 'gemini/gemini-2.5-pro'],
    });
    expect(parseFlag('fallback', ' , ')).toMatchObject({ ok: false });
    expect(parseFlag('fallback', 'codex,gemni')).toMatchObject({
      problem: expect.stringMatching(/did you mean gemini/),
    });
  });

  test('a task or a phase is given an agent', () => {
    const read = parseFlag('taskAgent', 'US-1=codex/gpt-5,US-2=claude');
    expect(read.ok && pairsOf(read.value)).toEqual({ 'US-1': 'codex/gpt-5', 'US-2': 'claude' });
    expect(parseFlag('phaseAgent', 'reviewing=claude/opus')).toEqual({ ok: true, value: ['reviewing=claude/opus'] });
  });

  test.each([
    ['taskAgent', 'codex', /"codex" is not NAME=AGENT; write it like US-001=codex/],
    ['taskAgent', '=codex', /is not NAME=AGENT/],
    ['taskAgent', 'US-1=', /"" is not an agent/],
    ['taskAgent', 'US-1=hal', /"hal" is not an agent/],
    ['taskAgent', '', /assigns nothing/],
    ['phaseAgent', 'reviewin=claude', /"reviewin" is not known; did you mean reviewing\?/],
    ['phaseAgent', 'lunch=claude', /use one of planning, implementing, testing, reviewing\./],
  ] as const)('%s %j is refused', (key, text, wanted) => {
    expect(parseFlag(key, text)).toEqual({ ok: false, problem: expect.stringMatching(wanted) });
  });
});

describe('a line of arguments', () => {
  test.each([
    ['--add-dir ../shared', ['--add-dir', '../shared']],
    ["--say 'two words' \"and 'more'\"", ['--say', 'two words', "and 'more'"]],
    ['a\\ b "c\\"d" \'e\\f\'', ['a b', 'c"d', 'e\\f']],
    ['"a\\nb"', ['a\\nb']],
    ["'' x", ['', 'x']],
    ['$(touch pwned) `id` $HOME *', ['$(touch', 'pwned)', '`id`', '$HOME', '*']],
    ['a\'b\'"c"', ['abc']],
    ['   ', []],
  ])('%j is %j, and nothing in it is executed', (line, words) => {
    expect(splitWords({ label: 'x', text: line })).toEqual({ ok: true, value: words });
  });

  test.each([
    ["it's", /opens a ' that is never closed/],
    ['"abc', /opens a " that is never closed/],
    ['abc\\', /ends with a backslash/],
    ['x '.repeat(201), /201 words are more than 200/],
  ])('%.20j is refused', (line, wanted) => {
    expect(splitWords({ label: '--agent-args', text: line })).toEqual({
      ok: false,
      problem: expect.stringMatching(wanted),
    });
  });

  test('words without anything special come back as they are', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[A-Za-z0-9=./-]+$/), { maxLength: 20 }), words => {
        expect(splitWords({ label: 'x', text: words.join('  ') })).toEqual({ ok: true, value: words });
      }),
    );
  });

  test('a quoted word comes back whatever is in it', () => {
    fc.assert(
      fc.property(fc.string(), word => {
        expect(splitWords({ label: 'x', text: `'${word.replaceAll("'", "'\\''")}'` })).toEqual({
          ok: true,
          value: [word],
        });
      }),
    );
  });
});

describe('a size', () => {
  test.each([
    ['8g', 8 * 2 ** 30],
    ['512m', 512 * 2 ** 20],
    ['1T', 2 ** 40],
    ['2GiB', 2 * 2 ** 30],
    ['unlimited', null],
  ])('%s is %s bytes', (text, bytes) => {
    expect(parseFlag('maxMemory', text)).toEqual({ ok: true, value: bytes });
  });
  test.each(['8', '0g', '-1g', '1.5g', '1m', '99999t', 'NaN', '', '8 gigs'])('%j is refused', text => {
    expect(parseFlag('maxMemory', text)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/like 512m or 8g/),
    });
  });
});

describe('the chain of performers', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'ralph-agents-'));
    mkdirSync(join(root, 'project'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const resolve = (flags: ConfigRequest['flags'], env: ConfigRequest['env'] = {}) =>
    resolveConfig({ mode: usualMode, flags, env, directory: join(root, 'project'), userDirectory: root, now: 0 });
  const performers = async (flags: ConfigRequest['flags'], env: ConfigRequest['env'] = {}) => {
    const resolved = await resolve(flags, env);
    return resolved.ok ? resolved.settings.performers : resolved.problems.map(problem => problem.message);
  };

  test('is the agent with its model, then the fallbacks', async () => {
    expect(await performers({ agent: 'claude', model: 'opus', fallback: ['codex', 'gemini'] })).toEqual([
      'claude/opus',
      'codex',
      'gemini',
    ]);
    expect(await performers({ agent: 'opencode', model: 'anthropic/claude-x' })).toEqual([
      'opencode/anthropic/claude-x',
    ]);
  });

  test('is empty until it is known which agents are installed', async () => {
    expect(await performers({ fallback: ['codex'] })).toEqual([]);
  });

  test('takes the model that was set closer to the command line', async () => {
    writeFileSync(join(root, 'config.json'), '{"agent": "claude/sonnet"}');
    expect(await performers({ model: 'opus' })).toEqual(['claude/opus']);
    expect(await performers({ agent: 'claude/haiku' }, { RALPH_MODEL: 'opus' })).toEqual(['claude/haiku']);
    expect(await performers({ agent: 'codex' }, { RALPH_MODEL: 'gpt-5' })).toEqual(['codex/gpt-5']);
  });

  test('is refused with two models, or with a model beside an agent that has none', async () => {
    expect(await performers({ agent: 'claude/opus', model: 'sonnet' })).toEqual([
      'Two models are given for claude: "opus" and "sonnet"; give one.',
    ]);
    expect(await performers({ agentCommand: 'x', model: 'sonnet' })).toEqual([
      '--model: the command agent takes no model; leave it out.',
    ]);
  });

  test('knows the agents of tasks and phases', async () => {
    const resolved = await resolve({ agent: 'claude', taskAgent: ['US-1=codex', 'US-1=pi'], phaseAgent: 'testing=q' });
    expect(resolved.ok && resolved.settings).toMatchObject({
      performersByTask: { 'US-1': 'pi' },
      performersByPhase: { testing: 'q' },
    });
  });

  test('a project cannot give arguments, a program, more memory or less confinement', async () => {
    const own = { agentArgs: '--evil', acpCommand: 'evil', sandbox: 'none', maxMemory: 'unlimited', maxProcesses: 9 };
    writeFileSync(join(root, 'project', 'ralph.config.json'), JSON.stringify(own));
    const resolved = await resolve({ agent: 'claude' });
    if (!resolved.ok) throw new Error('refused');
    expect(resolved.config).toMatchObject({ agentArgs: [], sandbox: 'auto' });
    expect([resolved.config.acpCommand, resolved.config.maxMemory, resolved.config.maxProcesses]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(resolved.notices).toHaveLength(5);
  });
});
