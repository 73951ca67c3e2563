// The tools of Ralph as the real agents meet them: a claim by a tool inside bubblewrap, without a word, and the check decides.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Stage } from './agents.ts';
import type { Asked } from './dialects/dialect.ts';
import type { Model, Step } from './mock.ts';
import { type LivePlace, pinnedNode } from './place.ts';
import { all, assertAchieved, assertExit, type Scenario } from './scenarios.ts';
import { storyPlace } from './story-model.ts';

/** The user's own server, in the words of each agent's own settings. */
const ownServer = { command: pinnedNode, args: [join(import.meta.dirname, '../fixtures/mcp/server.ts')] };

const withOwn = (text: string | undefined, name: string, server: object): string => {
  const settings = JSON.parse(text ?? '{}') as Record<string, object>;
  return JSON.stringify({ ...settings, [name]: { ...settings[name], mine: server } });
};

const ownSettings: Readonly<Record<string, (files: Stage['files']) => Stage['files']>> = {
  claude: files => ({
    ...files,
    '.claude.json': withOwn(files['.claude.json'], 'mcpServers', { ...ownServer, alwaysLoad: true }),
  }),
  codex: files => ({
    ...files,
    '.codex/config.toml': `${files['.codex/config.toml']}[mcp_servers.mine]\ncommand = "${ownServer.command}"\nargs = ${JSON.stringify(ownServer.args)}\n`,
  }),
  gemini: files => ({
    ...files,
    '.gemini/settings.json': withOwn(files['.gemini/settings.json'], 'mcpServers', ownServer),
  }),
  opencode: files => ({
    ...files,
    '.config/opencode/opencode.json': withOwn(files['.config/opencode/opencode.json'], 'mcp', {
      type: 'local',
      command: [ownServer.command, ...ownServer.args],
    }),
  }),
};

/** Each agent has a prefix of its own for the tools of a server. */
const call = ({ tools }: Asked, name: string, given: Readonly<Record<string, unknown>>): Step => {
  const tool = tools.find(one => one.name.endsWith(name));
  assert.ok(tool, `no tool ${name} among ${tools.map(one => one.name).join(', ')}`);
  return { call: { name: tool.name, namespace: tool.namespace, arguments: given } };
};

const evidence = [{ criterion: 1, evidence: 'the file ends with the words that are asked for' }];

/** Claims the first story too early, then does each; never says so in words. */
const silent =
  (folder: () => string): Model =>
  asked => {
    const id = /^\*\*(US-\d+)\*\*:/m.exec(asked.prompt)?.[1] ?? '';
    const isLie = id === 'US-001' && !asked.prompt.includes('Not accepted last time');
    const done = call(asked, 'report_done', { task: id, evidence });
    const write: Step = { write: `${folder()}/${storyPlace(id)}`, content: `The file of ${id}\nis finished\n` };
    const steps = isLie ? [done] : [write, done];
    return steps[asked.turn] ?? { text: 'I stop here.' };
  };

const reports = (
  name: string,
  fits: NonNullable<Scenario['fits']>,
  words: readonly string[] = [],
  more: Stage['files'] = {},
): Scenario => ({
  name: `report_done inside bubblewrap, beside a server of the user${name}: a check refuses it, then takes it`,
  fits,
  async run(stand) {
    let place: LivePlace | undefined;
    const restage = (stage: Stage): Stage => ({
      ...stage,
      files: { ...ownSettings[stand.agent.name]!(stage.files), ...more },
    });
    place = await stand.place({ model: silent(() => place!.project), restage });
    await assertExit(place.run(['--sandbox', 'bwrap', ...words]).ended, 0);
    const events = await assertAchieved(place);
    assert.deepEqual(
      all(events, 'iteration.reported').map(({ iteration, task, report }) => [iteration, task, report.type]),
      [
        [1, 'US-001', 'done'],
        [2, 'US-001', 'done'],
        [3, 'US-002', 'done'],
      ],
    );
    assert.deepEqual(
      all(events, 'check.ended').map(({ iteration, passed }) => [iteration, passed]),
      [
        [1, false],
        [2, true],
        [3, true],
      ],
    );
    assert.ok(all(events, 'signal.read').every(({ accepted, because }) => accepted && because.includes('evidence')));
    const offered = new Set(place.mock.work().flatMap(({ asked }) => asked.tools.map(one => one.name)));
    assert.ok(
      [...offered].some(name => name.endsWith('append_line')),
      'the user has their own server still',
    );
    assert.ok(
      ![...offered].some(name => /nudge|list_inbox|pause/.test(name)),
      'nothing that a person may do is offered',
    );
  },
});

const none: Scenario = {
  name: '--no-mcp: no tool of Ralph is offered',
  fits: ({ name }) => name === 'claude',
  async run(stand) {
    const place = await stand.place({ model: ({ tools }) => ({ text: tools.map(one => one.name).join(' ') }) });
    await assertExit(place.run(['--no-mcp', '--max-iterations', '1']).ended, 3);
    const offered = place.mock.work().flatMap(({ asked }) => asked.tools.map(one => one.name));
    assert.ok(offered.length > 0 && !offered.some(name => name.includes('report_done')));
  },
};

const forbidding = { '.claude/settings.json': '{"permissions":{"disableBypassPermissionsMode":"disable"}}' };
const own = ['--agent-args', "--permission-mode acceptEdits --allowedTools 'Bash(ls)'"];

export const mcpScenarios: readonly Scenario[] = [
  reports('', ({ name }) => ownSettings[name] !== undefined),
  reports(', in a permission mode that asks', ({ name }) => name === 'claude', own, forbidding),
  none,
];
