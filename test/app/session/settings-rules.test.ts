// The truth table of settings: who decides each, in order. A row adds one voice to those below it, and that voice wins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { decideSettings, type Known } from '../../../src/app/session/settings-rules.ts';
import { type Key, keys } from '../../../src/config/fields.ts';
import { presetValues } from '../../../src/config/presets.ts';
import { type Config, settingsOf } from '../../../src/config/settings.ts';
import type { Settings } from '../../../src/core/settings.ts';
import type { TaskSpec } from '../../../src/core/task.ts';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { interviewMode } from '../../../src/modes/interview/mode.ts';
import { interviewRounds } from '../../../src/modes/interview/rules.ts';
import type { Mode } from '../../../src/modes/mode.ts';
import { prdMode } from '../../../src/modes/prd/mode.ts';
import { defaultSettings, modeName } from '../../../src/modes/registry.ts';

const directory = mkdtempSync(join(tmpdir(), 'ralph-settings-'));
for (const program of ['claude', 'npm']) writeFileSync(join(directory, program), '', { mode: 0o755 });
writeFileSync(join(directory, 'package.json'), '{"scripts":{"test":"node --test"}}');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Voices {
  readonly typed?: Partial<Config>;
  readonly filed?: Partial<Config>;
  readonly before?: Partial<Settings>;
  readonly document?: Partial<ParsedDocument>;
  readonly provided?: Partial<Known['provided']>;
  readonly mode?: Mode;
  readonly repository?: boolean;
  readonly isMidway?: boolean;
  readonly isOnlyRecorded?: boolean;
}

const story: TaskSpec = {
  id: 'US-1',
  title: '',
  description: '',
  criteria: [],
  dependsOn: [],
  done: false,
  skipped: false,
};
const action = { ...story, performer: 'create_file' };

function decided({ typed = {}, filed = {}, before, document, provided, mode = prdMode, ...given }: Voices) {
  const name = modeName(mode === interviewMode ? 'interview' : 'prd');
  const config: Config = { ...presetValues(name), ...filed, ...typed };
  const source = (key: Key): string => (key in typed ? 'flag' : key in filed ? 'project file' : 'preset');
  const known = {
    config,
    settings: settingsOf(name, config),
    sources: Object.fromEntries(keys.map(key => [key, source(key)])),
    untrusted: {},
    typed: new Set([
      ...Object.keys(typed),
      ...(provided?.chain ? ['agent'] : []),
      ...(provided?.checkNames ? ['verify'] : []),
    ]),
    flags: {},
    before: before && { ...defaultSettings('prd'), checkpoints: true, ...before },
    env: { PATH: directory },
    directory,
    path: join(directory, 'PRD.json'),
    mode,
    document: { project: 'x', goal: '', tasks: [story], notices: [], ...document },
    provided: { chain: [], checkNames: [], ...provided },
    isOnlyRecorded: given.isOnlyRecorded,
    repositoryInfo: {
      repository: given.repository ? {} : undefined,
      notices: [],
      filters: [],
      isMidway: given.isMidway ?? false,
    },
  };
  return decideSettings(known as unknown as Known);
}

/** Each row holds the voice of every row before it, from the weakest to the strongest. */
async function ladder(name: keyof Settings | 'verify' | 'judge', rows: readonly (readonly [Voices, unknown])[]) {
  let all: Voices = {};
  for (const [voice, value] of rows) {
    for (const [key, more] of Object.entries(voice) as [keyof Voices, object][])
      all = { ...all, [key]: key === 'mode' || typeof more !== 'object' ? more : { ...(all[key] as object), ...more } };
    const { settings, config } = await decided(all);
    const found = name === 'verify' || name === 'judge' ? config[name] : settings[name];
    expect(found, `${name} with ${Object.keys(all).join(', ')}`).toEqual(value);
  }
}

const noTest = { detectChecks: 'none' as const };

it('performers: machine < file < ledger < flag < program < recorded only < only actions', () =>
  ladder('performers', [
    [{}, ['claude']],
    [{ filed: { agent: 'pi', fallback: ['q'] } }, ['pi', 'q']],
    [{ before: { performers: ['codex'] } }, ['codex']],
    [{ typed: { agent: 'gemini' } }, ['gemini', 'q']],
    [{ provided: { chain: ['mine'] } }, ['mine']],
    [{ isOnlyRecorded: true }, ['gemini', 'q']],
    [{ document: { tasks: [action] } }, []],
  ]));

it('says when nobody named the agent', async () => {
  expect(await decided({})).toMatchObject({ isFound: true });
  expect(await decided({ filed: { agent: 'pi' } })).toMatchObject({ isFound: false });
});

it('agents of tasks and phases: file < ledger < flag', async () => {
  await ladder('performersByTask', [
    [{ filed: { taskAgent: ['US-1=pi'] } }, { 'US-1': 'pi' }],
    [{ before: { performers: ['codex'], performersByTask: { 'US-1': 'q' } } }, { 'US-1': 'q' }],
    [{ typed: { taskAgent: ['US-1=codex'] } }, { 'US-1': 'codex' }],
  ]);
  await ladder('performersByPhase', [
    [{ filed: { phaseAgent: ['testing=pi'] } }, { testing: 'pi' }],
    [{ before: { performers: ['codex'], performersByPhase: { testing: 'q' } } }, { testing: 'q' }],
    [{ typed: { phaseAgent: ['testing=codex'] } }, { testing: 'codex' }],
  ]);
});

it('checks: preset < detected < file < ledger < flag < a conversation', async () => {
  await ladder('checks', [
    [{ typed: noTest }, []],
    [{ typed: { detectChecks: 'auto' } }, ['npm test']],
    [{ filed: { verify: ['make'] } }, ['make']],
    [{ before: { performers: ['codex'], checks: ['old', 'judge: pi'] } }, ['old', 'judge: pi']],
    [{ typed: { verify: ['new'] } }, ['new']],
    [{ provided: { checkNames: ['own check: mine'] } }, ['new', 'own check: mine']],
    [{ mode: interviewMode }, [interviewMode.conversation?.check]],
  ]);
  await ladder('verify', [
    [{ filed: { verify: ['make'] } }, ['make']],
    [{ before: { performers: ['codex'], checks: ['old', 'judge: pi'] } }, ['old']],
    [{ typed: { verify: ['new'] } }, ['new']],
    [{ mode: interviewMode }, []],
  ]);
  await ladder('judge', [
    [{ filed: { judge: 'q', ...noTest } }, 'q'],
    [{ before: { performers: ['codex'], checks: ['old', 'judge: pi'] } }, 'pi'],
    [{ typed: { verify: ['new'] } }, 'q'],
  ]);
});

it('limits and promise: preset < document < file < ledger < flag', async () => {
  const { limits } = defaultSettings('prd');
  const is = (iterationsMax: number | null) => ({ ...limits, iterationsMax });
  await ladder('limits', [
    [{ filed: noTest }, limits],
    [{ document: { defaults: { iterationsMax: 3, promise: 'DOC' } } }, is(3)],
    [{ filed: { maxIterations: 5 } }, is(5)],
    [{ before: { performers: ['codex'], limits: is(7) } }, is(7)],
    [{ typed: { maxIterations: 9 } }, is(9)],
  ]);
  await ladder('promise', [
    [{ document: { defaults: { promise: 'DOC' } } }, 'DOC'],
    [{ filed: { promise: 'FILE' } }, 'FILE'],
    [{ before: { performers: ['codex'], promise: 'LEDGER' } }, 'LEDGER'],
    [{ typed: { promise: 'FLAG' } }, 'FLAG'],
  ]);
  await expect(
    decided({ filed: { maxCost: null }, document: { defaults: { iterationsMax: null as never } } }),
  ).rejects.toThrow('Nothing would bound');
});

it('rounds: only of a mode that has them; its own < ledger < said, in a conversation', () =>
  ladder('rounds', [
    [{ typed: noTest }, null],
    [{ mode: interviewMode }, interviewRounds],
    [{ before: { performers: ['codex'], rounds: 4 } }, 4],
    [{ filed: { rounds: 5 } }, 5],
  ]));

it('checkpoints, commits, screen, rollback: the folder < what is said < the ledger', async () => {
  const [off, on] = [{ repository: false }, { repository: true }];
  await ladder('checkpoints', [
    [off, false],
    [on, true],
    [{ filed: { noCheckpoints: true } }, false],
    [{ before: { performers: ['codex'] } }, true],
    [{ typed: { noCheckpoints: true } }, false],
  ]);
  await ladder('commits', [
    [off, false],
    [on, true],
    [{ isMidway: true }, false],
    [{ mode: interviewMode }, false],
    [{ before: { performers: ['codex'], commits: true } }, true],
    [{ typed: { noCommit: true } }, false],
  ]);
  await ladder('tamperScreen', [
    [off, false],
    [on, true],
    [{ mode: interviewMode }, false],
    [{ before: { performers: ['codex'], tamperScreen: true } }, true],
  ]);
  await ladder('rollbackAfter', [
    [off, null],
    [{ ...on, filed: { rollbackAfter: 3 } }, 3],
    [{ before: { performers: ['codex'], rollbackAfter: null } }, null],
    [{ typed: { rollbackAfter: 2 } }, 2],
  ]);
});

it('parallel: file < ledger, and what needs git is refused without it', async () => {
  await ladder('parallel', [
    [{ repository: true, filed: { parallel: 3 } }, 3],
    [{ before: { performers: ['codex'], parallel: 2 } }, 2],
  ]);
  await expect(decided({ typed: { parallel: 3 } })).rejects.toThrow('--parallel needs a git repository');
  await expect(decided({ typed: { rollbackAfter: 3 } })).rejects.toThrow('--rollback-after needs checkpoints');
  const bare = { worktree: true, noCheckpoints: true };
  await expect(decided({ repository: true, typed: bare })).rejects.toThrow('--worktree needs checkpoints.');
});
