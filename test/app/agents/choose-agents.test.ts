// A loop that goes on keeps its performers unless a person names others; one word changes only what it says.
import { describe, expect, it } from 'vitest';
import { agentsOnResume } from '../../../src/app/agents/choose-agents.ts';
import type { RunConfig } from '../../../src/config/resolve.ts';
import { type Config, presetValues, settingsOf } from '../../../src/config/settings.ts';
import { defaultSettings, usualMode } from '../../../src/modes/registry.ts';

const before = {
  ...defaultSettings('prd'),
  performers: ['claude/sonnet', 'codex'],
  performersByTask: { 'US-1': 'pi' },
  performersByPhase: { testing: 'q' },
};

/** What a person gave now, by flag; `filed` comes from a file. */
function run(given: Partial<Config>, filed: Partial<Config> = {}): RunConfig {
  const config: Config = { ...presetValues(usualMode), ...filed, ...given };
  return {
    config,
    settings: settingsOf(usualMode, config),
    notices: [],
    isSet: key => Object.hasOwn(given, key),
    isPreset: () => false,
  };
}
const chain = (given: Partial<Config>, filed: Partial<Config> = {}, was = before) =>
  agentsOnResume(run(given, filed), was).settings.performers;

describe('the chain', () => {
  it('stays when nothing is said, whatever a file says by now', () => {
    expect(chain({})).toEqual(['claude/sonnet', 'codex']);
    expect(chain({}, { agent: 'gemini', fallback: ['pi'] })).toEqual(['claude/sonnet', 'codex']);
    expect(chain({ acpCommand: ['gemini', '--acp'] })).toEqual(['claude/sonnet', 'codex']);
  });

  it('is the one that is named now', () => {
    expect(chain({ agent: 'gemini' })).toEqual(['gemini']);
    expect(chain({ agent: 'command', agentCommand: 'x', fallback: ['pi'] })).toEqual(['command', 'pi']);
  });

  it('gets another model or other fallbacks alone', () => {
    expect(chain({ model: 'opus' })).toEqual(['claude/opus', 'codex']);
    expect(chain({ fallback: ['pi'] })).toEqual(['claude/sonnet', 'pi']);
    expect(chain({ model: 'opus', fallback: ['claude/opus', 'pi'] })).toEqual(['claude/opus', 'pi']);
  });

  it('has no model for an agent that takes none, and is empty when there was none', () => {
    expect(chain({ model: 'opus' }, {}, { ...before, performers: ['command'] })).toEqual(['command']);
    expect(chain({ model: 'opus' }, {}, { ...before, performers: [] })).toEqual([]);
  });
});

describe('the agents of tasks and phases', () => {
  it('stay too, each unless it is said anew', () => {
    expect(agentsOnResume(run({ agent: 'gemini' }), before).settings).toMatchObject({
      performersByTask: { 'US-1': 'pi' },
      performersByPhase: { testing: 'q' },
    });
    expect(agentsOnResume(run({ taskAgent: ['US-2=codex'] }), before).settings).toMatchObject({
      performersByTask: { 'US-2': 'codex' },
      performersByPhase: { testing: 'q' },
    });
    expect(agentsOnResume(run({ phaseAgent: ['planning=pi'] }), before).settings.performersByPhase).toEqual({
      planning: 'pi',
    });
  });
});
