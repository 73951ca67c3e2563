// The doctor's findings: what each means for the exit code, and that it says unknown where it does not know.
import { describe, expect, it } from 'vitest';
import { exitCodeOf, type Finding, fileSystemFinding, nodeFinding } from '../../src/app/doctor.ts';

const bad = (exitCode?: 1 | 7): Finding => ({
  name: 'x',
  verdict: 'bad',
  detail: '',
  ...(exitCode === undefined ? {} : { exitCode }),
});
const fine = (verdict: 'ok' | 'warning' | 'unknown'): Finding => ({ name: 'x', verdict, detail: '', exitCode: 1 });

describe('the exit code', () => {
  it('is 0 while nothing is bad: a warning is no failure, nor is what is unknown', () => {
    expect(exitCodeOf([])).toBe(0);
    expect(exitCodeOf([fine('ok'), fine('warning'), fine('unknown')])).toBe(0);
  });

  it('is 7 when only an agent is missing, and 1 when our own ground is broken', () => {
    expect(exitCodeOf([fine('ok'), bad(7)])).toBe(7);
    expect(exitCodeOf([bad(7), bad(1)])).toBe(1);
    expect(exitCodeOf([bad()])).toBe(1);
  });
});

describe('node', () => {
  it.each(['22.18.0', '22.19.1', '24.0.0', '30.1.0'])('%s is new enough', version => {
    expect(nodeFinding(version)).toMatchObject({ verdict: 'ok' });
  });
  it.each(['22.17.9', '20.20.0', 'x'])('%s is too old, with a fix', version => {
    expect(nodeFinding(version)).toMatchObject({ verdict: 'bad', fix: expect.stringContaining('22.18') });
  });
});

describe('the file system', () => {
  it('is ok when local, bad on a network, a warning when that was allowed, unknown elsewhere', () => {
    expect(fileSystemFinding(undefined, false, 'linux')).toMatchObject({ verdict: 'ok' });
    expect(fileSystemFinding('NFS', false, 'linux')).toMatchObject({
      verdict: 'bad',
      detail: expect.stringContaining('NFS'),
    });
    expect(fileSystemFinding('NFS', true, 'linux')).toMatchObject({ verdict: 'warning' });
    expect(fileSystemFinding(undefined, false, 'darwin')).toMatchObject({ verdict: 'unknown' });
  });
});
