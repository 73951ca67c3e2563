// Agents through the real binary: which one works, what the card says about it, what is refused before anything is spent.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentNames } from '../../src/config/agents.ts';
import { claims, eventually, prd, refused, runScript, scripted } from './kit.ts';
import { fakeClaude, flat, inWorkshop } from './workshop.ts';

describe('which agent works', () => {
  it.concurrent(
    'without --agent the first installed one does, the card says so, and its cost is its own',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      place.install('codex', '#!/bin/sh\nexit 1\n');
      const told = await place.ralph(['run', '--verify', 'true'], { env: place.path });
      expect(told.code).toBe(0);
      const card = flat(told.stderr);
      expect(card).toContain('agent claude (found on PATH; --agent chooses another); login: unknown');
      expect(card).toContain('cost reported by the agent');
      const status = await place.json(['status', '--json']);
      expect(status).toMatchObject({ agents: ['claude'], spend: { usage: { costUsdMicros: 7695 } } });
    }),
  );

  it.concurrent(
    'with a model and a key: both are on the card, and the agent gets both',
    inWorkshop(async place => {
      place.install(
        'claude',
        fakeClaude(
          `require('node:fs').writeFileSync('seen', model + ' ' + process.env.ANTHROPIC_API_KEY + ' ' + process.env.OTHER); say('Task US-001 complete')`,
        ),
      );
      const env = { ...place.path, ANTHROPIC_API_KEY: 'dummy', OTHER: 'unseen' };
      const told = await place.ralph(['run', '--agent', 'claude', '--model', 'claude-opus-5-5', '--quiet'], { env });
      expect(told.code).toBe(0);
      expect(place.read('seen')).toBe('claude-opus-5-5 dummy undefined');
      const dry = await place.ralph(['run', '--agent', 'claude/claude-opus-5-5', '--dry-run', '--new'], { env });
      expect(flat(dry.stdout)).toContain(
        'agent claude, model claude-opus-5-5; login: ANTHROPIC_API_KEY is passed on (API billing)',
      );
    }),
  );

  it.concurrent(
    'a task of its own and a fallback are built beside it, and said',
    inWorkshop(async place => {
      place.put('PRD.json', prd(['US-001', 'US-002']));
      place.install('claude', fakeClaude());
      const words = ['run', '--agent', 'claude', '--fallback', 'claude/opus', '--task-agent', 'US-002=claude/haiku'];
      const dry = await place.ralph([...words, '--dry-run'], { env: place.path });
      expect(flat(dry.stdout)).toContain('fallback claude, model opus');
      expect(flat(dry.stdout)).toContain('instead US-002: claude/haiku');
      expect((await place.ralph([...words, '--verify', 'true'], { env: place.path })).code).toBe(0);
      const started = (await place.ralph(['events', '--json'])).stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
        .filter(event => event.type === 'iteration.started');
      expect(started.map(event => [event.task, event.performer])).toEqual([
        ['US-001', 'claude'],
        ['US-002', 'claude/haiku'],
      ]);
    }),
  );

  it.concurrent(
    'a loop that goes on keeps its agent although another one is found first by now',
    inWorkshop(async place => {
      place.install('gemini', '#!/bin/sh\nexit 1\n');
      const question = { type: 'stuck', summary: 'What?', context: '', options: [], question: '' };
      scripted(place, ['US-001'], [{ steps: [{ escalate: question }] }]);
      expect((await place.ralph([...runScript], { env: place.path })).code).toBe(5);
      const kept = await place.ralph(['run', '--dry-run'], { env: place.path });
      expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('agent       scripted') });
      await place.ralph(['answer', 'E1', '--retry']);
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph([...runScript], { env: place.path })).code).toBe(0);
    }),
  );

  it.concurrent(
    'a loop that goes on takes the agents that are named now, for all tasks or for one',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      const question = { type: 'stuck', summary: 'What?', context: '', options: [], question: '' };
      scripted(place, ['US-001', 'US-002'], [{ steps: [{ escalate: question }] }]);
      expect((await place.ralph([...runScript], { env: place.path })).code).toBe(5);
      for (const id of ['E1', 'E2']) await place.ralph(['answer', id, '--retry']);
      const words = ['run', '--agent', 'claude', '--task-agent', 'US-002=claude/haiku'];
      expect((await place.ralph(words, { env: place.path })).code).toBe(0);
      const { folded: state } = JSON.parse((await place.ralph(['loops', 'show', 'shop', '--json'])).stdout);
      expect(state.settings).toMatchObject({
        performers: ['claude'],
        performersByTask: { 'US-002': 'claude/haiku' },
        performersByPhase: {},
      });
      expect((await place.ralph(['events'])).stdout).toMatch(/claude on US-001[\s\S]*claude\/haiku on US-002/);
    }),
  );

  it.concurrent(
    'an agent known only by its manual says so',
    inWorkshop(async place => {
      const agents = ((await place.json(['agents', 'list', '--json'])) as { agents: { name: string; proof: string }[] })
        .agents;
      const { name } = agents.find(one => one.proof === 'documented') ?? { name: '' };
      const { program } = (await import(`../../src/agents/cli/${name}.ts`))[name] as { program: string };
      place.install(program, '#!/bin/sh\nexit 1\n');
      const dry = await place.ralph(['run', '--agent', name, '--dry-run'], { env: place.path });
      expect(flat(dry.stdout)).toContain(`${name}: built from its manual, never run by us`);
      expect(flat(dry.stdout)).toContain('cost not reported by this agent: money limits cannot bind it');
    }),
  );

  it.concurrent(
    'an agent that names no price says that its cost is an upper bound until a known model is given',
    inWorkshop(async place => {
      place.install('codex', '#!/bin/sh\nexit 1\n');
      const card = async (...flags: string[]) =>
        flat((await place.ralph(['run', '--agent', 'codex', '--dry-run', ...flags], { env: place.path })).stdout);
      expect(await card()).toContain('cost estimated from tokens at an upper bound, because no --model');
      expect(await card('--model', 'gpt-5')).toContain('cost estimated from tokens by the price list');
    }),
  );
});

describe('F32: an agent that is not there is refused before anything is written', () => {
  it.concurrent(
    'none installed, none given: exit 7, with how to get one',
    inWorkshop(async place => {
      await refused(
        place,
        ['run'],
        /No agent is installed and none is given\.\n {2}Install one \(npm install -g @anthropic-ai\/claude-code, .*--agent-command .*ralph demo/,
        { code: 7, env: place.bare },
      );
    }),
  );

  it.concurrent(
    'named but missing, as the agent, as a fallback, or for a task: exit 7',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      const missing =
        /The agent codex is not installed: no program codex is found on PATH\.\n {2}Install it: npm install -g @openai\/codex/;
      const manner = { code: 7, env: place.bare };
      await refused(place, ['run', '--agent', 'codex'], missing, manner);
      await refused(place, ['run', '--agent', 'claude', '--fallback', 'codex'], missing, manner);
      await refused(place, ['run', '--agent', 'claude', '--task-agent', 'US-001=codex'], missing, manner);
      await refused(
        place,
        ['run', '--agent', 'acp'],
        /The acp agent needs a program\.\n {2}Give one: --acp-command/,
        manner,
      );
      await refused(
        place,
        ['run', '--agent', 'acp', '--acp-command', 'no-such --acp'],
        /no program no-such is found on PATH/,
        manner,
      );
    }),
  );

  it.concurrent(
    'there but not executable: exit 7, with its path',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(), 0o644);
      await refused(
        place,
        ['run', '--agent', 'claude'],
        /claude, .*\/bin\/claude, cannot be executed\.\n {2}Make it executable/,
        { code: 7, env: place.bare },
      );
    }),
  );
});

describe('words that are refused', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--agent', 'cluade'], /--agent: "cluade" is not an agent; did you mean claude\?/],
    [['--agent', 'hal'], /--agent: "hal" is not an agent; use one of claude, /],
    [['--agent', 'claude/--x'], /--agent: "--x" is not the name of a model/],
    [['--agent', 'claude/opus', '--model', 'sonnet'], /Two models are given for claude/],
    [['--agent-command', 'true', '--model', 'x'], /--model: the command agent takes no model/],
    [['--fallback', 'claude,'.repeat(30)], /--fallback: 30 agents are more than 20/],
    [['--task-agent', 'US-009=claude', '--agent', 'claude'], /--task-agent: PRD\.json has no task "US-009"/],
    [['--phase-agent', 'lunch=claude'], /--phase-agent: "lunch" is not known; use one of planning/],
    [['--agent-args', `it's`], /--agent-args: .* opens a ' that is never closed/],
    [['--sandbox', 'docker'], /--sandbox: "docker" is not a known choice; use one of auto, bwrap, none/],
    [['--max-memory', '8'], /--max-memory: "8" is not a size from 64m to 64t; write it like 512m or 8g/],
    [['--max-processes', '0'], /--max-processes: "0" is not a whole number/],
    [['--first-byte-timeout', '0s'], /--first-byte-timeout: "0s" is not a duration above 0/],
    [['--silence-timeout', 'never'], /--silence-timeout: "never" is not a duration/],
  ];
  for (const [flags, wanted] of cases) {
    it.concurrent(
      `ralph run ${flags.join(' ').slice(0, 60)}`,
      inWorkshop(async place => {
        await refused(place, ['run', ...flags], wanted);
      }),
    );
  }

  it.concurrent(
    '--interactive without a terminal, or with an agent that cannot have it',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      const manner = { env: place.path };
      await refused(
        place,
        ['run', '--interactive'],
        /An interactive agent needs a terminal\.\n {2}Run it at one/,
        manner,
      );
      await refused(
        place,
        ['run', '--interactive', '--agent-command', 'true'],
        /"command" cannot be given the terminal/,
      );
      const dry = await place.ralph(['run', '--interactive', '--dry-run'], manner);
      expect(flat(dry.stdout)).toContain('it gets the terminal, done.md ends a round');
    }),
  );

  it.concurrent(
    'a task agent from a file that names a task of another document is only a note',
    inWorkshop(async place => {
      scripted(place, ['US-001'], [claims()]);
      place.put('ralph.config.json', JSON.stringify({ taskAgent: ['US-777=scripted'] }));
      const told = await place.ralph([...runScript]);
      expect(told.code).toBe(0);
      expect(told.stderr).toContain(
        'note: --task-agent: PRD.json has no task "US-777"; that setting has no effect here.',
      );
    }),
  );
});

describe('ralph agents list', () => {
  it.concurrent(
    'says where each is, its version with a throw-away home and no key, its login, and what it can do',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      const env = { ...place.path, ANTHROPIC_API_KEY: 'dummy' };
      const told = await place.ralph(['agents', 'list', '--json'], { env });
      expect(told.stderr).toBe('');
      const { version, agents } = JSON.parse(told.stdout);
      expect(version).toBe(2);
      const byName = Object.fromEntries(agents.map((one: { name: string }) => [one.name, one]));
      expect(Object.keys(byName)).toEqual([...agentNames]);
      expect(byName.claude).toMatchObject({
        installed: join(place.bin, 'claude'),
        version: '9.8.7',
        login: { known: true, words: 'ANTHROPIC_API_KEY is passed on (API billing)' },
        can: { steer: true, usage: true },
        proof: 'live',
      });
      for (const one of agents) expect(['live', 'recorded', 'documented']).toContain(one.proof);
      expect(existsSync(place.home)).toBe(false);
    }),
  );

  it.concurrent(
    'bounds a program that never ends, and finds a login in files',
    inWorkshop(async place => {
      place.install('claude', '#!/bin/sh\nexec sleep 3600\n');
      mkdirSync(join(place.root, 'user', '.claude'), { recursive: true });
      writeFileSync(join(place.root, 'user', '.claude', '.credentials.json'), '{}');
      const told = await place.ralph(['agents', 'list'], { env: place.path });
      expect(told.code).toBe(0);
      expect(told.stdout).toMatch(/^claude +version unknown +live +can: steer.* login its own files$/m);
      expect(told.stderr).toMatch(/kiro: built from its manual, never run by us/);
    }),
  );
});

describe('ralph agents test', () => {
  it.concurrent(
    'asks one question and says what came back',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(`say(heard.includes('RALPH-TEST-OK') ? 'RALPH-TEST-OK' : 'what?')`));
      const told = await place.ralph(['agents', 'test', 'claude', '--yes'], { env: place.path });
      expect(told).toMatchObject({ code: 0, stderr: '' });
      expect(told.stdout).toMatch(
        /^started +yes\nfirst byte +after .*\nmessage +RALPH-TEST-OK\ncost +4760 tokens, \$0\.0077\nexit +clean\n$/,
      );
      expect(existsSync(place.home)).toBe(false);
      const json = await place.ralph(['agents', 'test', '--yes', '--json'], { env: place.path });
      expect(JSON.parse(json.stdout)).toMatchObject({
        version: 2,
        agent: 'claude',
        clean: true,
        failure: null,
        costUsdMicros: 7695,
      });
    }),
  );

  it.concurrent(
    'a refused login is one sentence with what to do, exit 7',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(`refuse(401, 'Invalid API key')`));
      const told = await place.ralph(['agents', 'test', 'claude', '--yes'], { env: place.path });
      expect(told.code).toBe(7);
      expect(told.stderr).toMatch(
        /^ralph: claude cannot work: the agent is not logged in\. .*Invalid API key.*\n {2}Log in to the agent again: claude \/login\n$/,
      );
      expect(told.stdout).toMatch(/exit +failed/);
    }),
  );

  const cases: readonly (readonly [readonly string[], RegExp, number])[] = [
    [['agents', 'test', 'claude'], /costs a little\.\n {2}Say that you want it: ralph agents test claude --yes/, 2],
    [['agents', 'test', 'cluade', '--yes'], /"cluade" is not an agent; did you mean claude\?/, 2],
    [['agents', 'test', 'codex', '--yes'], /The agent codex is not installed/, 7],
    [['agents', 'test', 'command', '--yes'], /The command agent needs a program/, 7],
    [['agents'], /agents needs a command: list or test/, 2],
  ];
  for (const [words, wanted, code] of cases) {
    it.concurrent(
      `ralph ${words.join(' ')} is refused with ${code}`,
      inWorkshop(async place => {
        place.install('claude', fakeClaude());
        const told = await place.ralph(words, { env: place.bare });
        expect(told).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(wanted) });
        expect(existsSync(place.home)).toBe(false);
      }),
    );
  }
});

describe('steering', () => {
  it.concurrent(
    '`tell` says that the working agent was reached, and it was',
    inWorkshop(async place => {
      const waits = `if (heard.includes('mind the gap')) say('Task US-001 complete'); else print({ type: 'assistant', message: { id: 'm0', role: 'assistant', content: [{ type: 'text', text: 'agent at work' }] } })`;
      place.install('claude', fakeClaude(waits));
      const live = place.start(['run', '--agent', 'claude', '--verify', 'true'], { env: place.path });
      await live.says('Iteration 1: US-001');
      await eventually('the agent works', async () => (await place.ralph(['logs'])).stdout.includes('agent at work'));
      const told = await place.ralph(['tell', 'mind the gap']);
      expect(told.stderr).toBe(
        'Guidance for shop: taken up by the running loop. Reached claude in iteration 1; for later iterations too, write it into PROMPT.md.\n',
      );
      expect((await live.ended).code).toBe(0);
      expect(readFileSync(join(place.project, 'PRD.json'), 'utf8')).toContain('"passes": true');
    }),
  );
});
