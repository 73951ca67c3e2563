// What bounds a process: only what was set differs from the presets, and `unlimited` turns a bound off.
import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../src/agents/cli/claude.ts';
import { environmentOf, processLimits, timersOf } from '../../../src/app/agents/process-limits.ts';
import { presetValues } from '../../../src/config/presets.ts';
import type { Config } from '../../../src/config/settings.ts';
import { usualMode } from '../../../src/modes/registry.ts';

const config = (part: Partial<Config> = {}): Config => ({ ...presetValues(usualMode), sandbox: 'none', ...part });
const limits = (part: Partial<Config> = {}) =>
  processLimits({ config: config(part), directory: '/w', home: '/h', env: {} }).limits;

describe('memory and processes (F30)', () => {
  it('are bounded unless it is said that they are not', () => {
    expect(limits().processesMax).toBe(4_000);
    expect(limits().memoryBytesMax).toBeGreaterThan(0);
    expect(limits().memoryBytesMax).toBeLessThanOrEqual(totalmem() * 0.75);
    expect(limits({ maxMemory: null, maxProcesses: null })).toEqual({});
    expect(limits({ maxMemory: 2 ** 30, maxProcesses: 7 })).toEqual({ memoryBytesMax: 2 ** 30, processesMax: 7 });
  });
});

describe('silence', () => {
  it('is left to the agent’s presets unless it is set', () => {
    expect(timersOf(config())).toEqual({});
    expect(timersOf(config({ firstByteTimeout: 5_000 }))).toEqual({ firstByteMs: 5_000 });
  });

  it('may be longer while a tool works, never shorter than what was set', () => {
    expect(timersOf(config({ silenceTimeout: 1_000 }))).toEqual({ silenceMs: 1_000, busySilenceMs: 1_800_000 });
    expect(timersOf(config({ silenceTimeout: 7_200_000 })).busySilenceMs).toBe(7_200_000);
  });

  it('is never too long when it is unlimited', () => {
    const off = Number.POSITIVE_INFINITY;
    expect(timersOf(config({ firstByteTimeout: null, silenceTimeout: null }))).toEqual({
      firstByteMs: off,
      silenceMs: off,
      busySilenceMs: off,
    });
  });
});

describe('the environment', () => {
  it('holds what is harmless, what the agent’s adapter names and what the user allowed', () => {
    const env = { PATH: '/bin', HOME: '/h', KEY: 'k', MINE: 'm', OTHER: 'o', UNSET: undefined };
    expect(environmentOf({ env, config: config({ agentEnv: ['MINE', 'UNSET'] }) }, { environment: ['KEY'] })).toEqual({
      PATH: '/bin',
      HOME: '/h',
      KEY: 'k',
      MINE: 'm',
    });
  });

  it('holds all credentials of a cloud while its switch is on, and none of the others', () => {
    const clouds = { AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'r', GOOGLE_APPLICATION_CREDENTIALS: 'g' };
    const seen = (more: Readonly<Record<string, string>>) =>
      Object.keys(environmentOf({ env: { ...clouds, ...more }, config: config({}) }, claude)).sort();
    expect(seen({})).toEqual([]);
    expect(seen({ CLAUDE_CODE_USE_BEDROCK: '0' })).toEqual(['CLAUDE_CODE_USE_BEDROCK']);
    expect(seen({ CLAUDE_CODE_USE_BEDROCK: '1' })).toEqual([
      'AWS_REGION',
      'AWS_SECRET_ACCESS_KEY',
      'CLAUDE_CODE_USE_BEDROCK',
    ]);
    expect(seen({ CLAUDE_CODE_USE_VERTEX: '1' })).toEqual(['CLAUDE_CODE_USE_VERTEX', 'GOOGLE_APPLICATION_CREDENTIALS']);
  });

  it('holds the way through a company’s network', () => {
    const env = {
      ALL_PROXY: 'p',
      SSL_CERT_DIR: 'd',
      REQUESTS_CA_BUNDLE: 'b',
      CURL_CA_BUNDLE: 'c',
      GIT_SSL_CAINFO: 'i',
    };
    expect(environmentOf({ env, config: config({}) }, claude)).toEqual(env);
  });
});
