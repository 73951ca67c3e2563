// The contract of every check, written once.
import { describe, expect, it } from 'vitest';
import type { Check } from '../../src/checks/check.ts';

/** What the check that is asked for shall do; `hangs` never ends by itself. */
type CheckBehaviour = 'passes' | 'fails' | 'hangs' | 'hangs-past-its-time';

export interface CheckSubject {
  readonly name: string;
  make(behaviour: CheckBehaviour): Check;
  directory(): string;
}

const never = (): AbortSignal => new AbortController().signal;

export function checkContract(subject: CheckSubject): void {
  describe(`the check ${subject.name}`, () => {
    it('passes when the proof holds', async () => {
      const check = subject.make('passes');
      const result = await check.run(subject.directory(), never());
      expect(result).toMatchObject({ name: check.name, passed: true });
      expect(result.durationMs).toBeGreaterThanOrEqual(0);
      expect(Number.isInteger(result.durationMs)).toBe(true);
    });

    it('does not pass when the proof fails, and says why', async () => {
      const result = await subject.make('fails').run(subject.directory(), never());
      expect(result.passed).toBe(false);
      expect(result.detail).not.toBe('');
    });

    it('says it in plain data of bounded size, and never that a single run was flaky', async () => {
      for (const behaviour of ['passes', 'fails'] as const) {
        const result = await subject.make(behaviour).run(subject.directory(), never());
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
        expect(result.detail.length).toBeLessThanOrEqual(2_000);
        expect(result.flaky).toBeUndefined();
      }
    });

    it('does not pass when its time is up (F37)', async () => {
      const result = await subject.make('hangs-past-its-time').run(subject.directory(), never());
      expect(result.passed).toBe(false);
      expect(result.detail).not.toBe('');
    });

    it('does not pass when it is aborted', async () => {
      const result = await subject.make('hangs').run(subject.directory(), AbortSignal.timeout(50));
      expect(result.passed).toBe(false);
    });

    it('does not pass when it was aborted before it began', async () => {
      expect((await subject.make('passes').run(subject.directory(), AbortSignal.abort())).passed).toBe(false);
    });

    it('does not pass, and does not throw, where there is no directory', async () => {
      expect((await subject.make('passes').run('/no/such/directory', never())).passed).toBe(false);
    });

    it('proves the same twice', async () => {
      const check = subject.make('passes');
      const results = [await check.run(subject.directory(), never()), await check.run(subject.directory(), never())];
      expect(results.map(result => result.passed)).toEqual([true, true]);
    });
  });
}
