// A loop that goes on: what it takes from the ledger, and what a typed word changes in it. One row per setting.
import { describe, expect, it } from 'vitest';
import { changedSettings, onResume, type Resuming } from '../../../src/app/session/resume-rules.ts';
import type { Key } from '../../../src/config/fields.ts';
import { presetValues } from '../../../src/config/presets.ts';
import { type Config, settingsOf } from '../../../src/config/settings.ts';
import type { Limits, Settings } from '../../../src/core/settings.ts';
import { defaultSettings, modeName } from '../../../src/modes/registry.ts';

const before: Settings = {
  ...defaultSettings('prd'),
  checkpoints: true,
  commits: true,
  checks: ['npm test', 'judge: codex'],
  performers: ['claude/sonnet', 'codex'],
  performersByTask: { 'US-1': 'pi' },
  performersByPhase: { testing: 'q' },
};

/** What a person gave now, by flag; `filed` comes from a file. */
function resuming(given: Partial<Config>, filed: Partial<Config> = {}, was = before, flags = {}): Resuming {
  const config: Config = { ...presetValues(modeName('prd')), ...filed, ...given };
  const typed = new Set(Object.keys(given) as Key[]);
  return { config, settings: settingsOf(modeName('prd'), config), typed, flags, before: was };
}
const kept = (given: Partial<Config>, filed: Partial<Config> = {}, was = before) =>
  onResume(resuming(given, filed, was));
const without = (...names: (keyof Settings)[]): object => Object.fromEntries(names.map(name => [name, undefined]));
const limits = (some: Partial<Limits>) => ({ limits: { ...before.limits, ...some } });

describe('a loop that goes on', () => {
  it('keeps all of its settings when nothing is typed, whatever files say by now', () => {
    expect(kept({})).toEqual(before);
    const filed: Partial<Config> = {
      agent: 'gemini',
      fallback: ['pi'],
      verify: ['make'],
      maxIterations: 7,
      promise: 'YES',
      noCheckpoints: true,
      noCommit: true,
      parallel: 4,
      rollbackAfter: 2,
      taskAgent: ['US-1=q'],
    };
    expect(kept({}, filed)).toEqual(before);
  });

  it('keeps that its limit of money is the preset until one is typed, be it the same number', () => {
    const preset: Settings = { ...before, costMaxIsPreset: true };
    expect(kept({}, { maxCost: 7_000_000 }, preset).costMaxIsPreset).toBe(true);
    const maxCost = before.limits.costUsdMicrosMax;
    expect(kept({ maxCost }, {}, preset).costMaxIsPreset).toBeUndefined();
    expect(changedSettings(preset, { ...preset, costMaxIsPreset: undefined })).toMatchObject({
      limits: { costUsdMicrosMax: maxCost },
    });
    expect(changedSettings(preset, preset)).toBeUndefined();
  });

  it('has nothing to keep when it begins', () => {
    expect(onResume({ ...resuming({ agent: 'pi' }), before: undefined })).toEqual({});
  });

  it.each<[string, Partial<Config>, object]>([
    ['--max-iterations', { maxIterations: 7 }, limits({ iterationsMax: 7 })],
    ['--max-cost unlimited', { maxCost: null }, limits({ costUsdMicrosMax: null })],
    ['--max-attempts', { maxAttempts: 9 }, limits({ attemptsPerTaskMax: 9 })],
    ['--agent', { agent: 'gemini' }, without('performers')],
    ['--agent-command', { agentCommand: 'x' }, without('performers')],
    ['--script', { script: 'x' }, without('performers')],
    ['--acp-command alone', { acpCommand: ['gemini', '--acp'] }, {}],
    ['--model', { model: 'opus' }, { performers: ['claude/opus', 'codex'] }],
    ['--fallback', { fallback: ['pi'] }, { performers: ['claude/sonnet', 'pi'] }],
    [
      '--model and --fallback',
      { model: 'opus', fallback: ['claude/opus', 'pi'] },
      { performers: ['claude/opus', 'pi'] },
    ],
    ['--task-agent', { taskAgent: ['US-2=codex'] }, without('performersByTask')],
    ['--phase-agent', { phaseAgent: ['planning=pi'] }, without('performersByPhase')],
    ['--verify', { verify: ['make'] }, without('checks')],
    ['--promise', { promise: 'YES' }, without('promise')],
    ['--rollback-after', { rollbackAfter: 2 }, without('rollbackAfter')],
    ['--no-checkpoints', { noCheckpoints: true }, { checkpoints: false }],
    ['--no-commit', { noCommit: true }, { commits: false }],
    ['--parallel as it was', { parallel: 1 }, {}],
    ['--context-chars', { contextChars: 5 }, {}],
    ['--backoff-base', { backoffBase: 5 }, {}],
  ])('given %s, then that is changed or decided anew, and nothing else', (_what, given, change) => {
    expect(kept(given)).toEqual({ ...before, ...change });
  });

  it('given checkpoints or commits that it began without, then a flag does not bring them back', () => {
    const was = { ...before, checkpoints: false, commits: false };
    expect(kept({ noCheckpoints: false, noCommit: false }, {}, was)).toEqual(was);
  });

  it('has no model for an agent that takes none, and no chain when there was none', () => {
    expect(kept({ model: 'opus' }, {}, { ...before, performers: ['command'] }).performers).toEqual(['command']);
    expect(kept({ model: 'opus' }, {}, { ...before, performers: [] }).performers).toEqual([]);
  });

  it('given the same time of day again, then the deadline stays; given a date, then it moves', () => {
    const was = { ...before, ...limits({ deadlineAt: 1_000 }) };
    const at = (deadline: string) => onResume(resuming({ deadline: 2_000 }, {}, was, { deadline })).limits?.deadlineAt;
    expect(at('07:00')).toBe(1_000);
    expect(at('2030-01-01T00:00:00Z')).toBe(2_000);
  });

  it.each<[string, Partial<Config>, Settings, string]>([
    ['another --parallel', { parallel: 4 }, before, '--parallel is settled when a loop begins'],
    ['no bound at all', { maxIterations: null, maxCost: null }, before, 'Nothing would bound this loop any more'],
    ['a check with a secret', {}, { ...before, checks: ['curl [redacted: key]'] }, 'holds a secret'],
    ['a check of a program', {}, { ...before, checks: ['own check: mine'] }, 'A program brought a check of this loop'],
  ])('given %s, then it is refused', (_what, given, was, sentence) => {
    expect(() => kept(given, {}, was)).toThrow(sentence);
  });
});

describe('what is recorded of it', () => {
  it.each<[string, Partial<Settings>, object | undefined]>([
    ['nothing', {}, undefined],
    ['a limit', limits({ iterationsMax: 7 }), { limits: { iterationsMax: 7 } }],
    ['another agent', { performers: ['pi'] }, { settings: { performers: ['pi'] } }],
    ['another agent of a task', { performersByTask: {} }, { settings: { performersByTask: {} } }],
    ['other checks', { checks: ['make'] }, { settings: { checks: ['make'] } }],
    ['a promise', { promise: 'YES' }, { settings: { promise: 'YES' } }],
    ['no checkpoints', { checkpoints: false }, { settings: { checkpoints: false } }],
    ['no commits', { commits: false }, { settings: { commits: false } }],
    ['a rollback', { rollbackAfter: 2 }, { settings: { rollbackAfter: 2 } }],
    ['rounds, which are only counted', { rounds: 9 }, undefined],
  ])('%s', (_what, now, change) => {
    const expected = change && { type: 'limits', limits: {}, settings: {}, ...change };
    expect(changedSettings(before, { ...before, ...now })).toEqual(expected);
  });
});
