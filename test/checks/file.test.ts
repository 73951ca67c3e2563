// A file as proof: there or not, with a text or without, and never by way of a link that leaves the folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileCheck, fileProofOf } from '../../src/checks/file.ts';
import { checkContract } from '../contracts/check.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const never = new AbortController().signal;

function check(text: string) {
  const read = fileProofOf(text);
  if (!read?.ok) throw new Error(`${text} is no proof`);
  return fileCheck(text, read.proof);
}

function withGuide(): string {
  const directory = scratchDirectory();
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(directory, 'docs/guide.md'), '# Guide\n\nVersion 1.2.0 (stable)\n');
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  return directory;
}

checkContract({
  name: 'files',
  make: behaviour =>
    check({ passes: 'file:docs/guide.md', fails: 'file:docs/none.md' }[behaviour as string] ?? 'file:pipe contains x'),
  directory: withGuide,
});

describe('what is a proof by file', () => {
  it.each([
    ['file:docs/guide.md', { path: 'docs/guide.md' }],
    ['file: done.md ', { path: 'done.md' }],
    ['file:CHANGELOG.md contains 1.2.0', { path: 'CHANGELOG.md', contains: '1.2.0' }],
    ['file:a b.md contains it contains this', { path: 'a b.md', contains: 'it contains this' }],
  ])('%s', (text, proof) => expect(fileProofOf(text)).toEqual({ ok: true, proof }));

  it.each(['file:', 'file:a contains ', 'file:/etc/passwd', 'file:../x', 'file:a/../../x', 'file:a\0b'])(
    '%j is refused',
    text => expect(fileProofOf(text)).toMatchObject({ ok: false }),
  );

  it('anything else is a command', () => expect(fileProofOf('test -f file:x')).toBeUndefined());
});

describe('a file as a check', () => {
  const run = (text: string, directory = withGuide()) => check(text).run(directory, never);

  it('takes its text literally', async () => {
    expect((await run('file:docs/guide.md contains 1.2.0 (stable)')).passed).toBe(true);
    expect((await run('file:docs/guide.md contains 1.2.*')).passed).toBe(false);
  });

  it.each([
    ['file:docs/none.md', 'does not exist'],
    ['file:docs/guide.md/x', 'does not exist'],
    ['file:docs contains x', 'is a folder'],
    ['file:pipe', 'neither a file nor a folder'],
    ['file:docs/guide.md contains 3.0', 'does not contain "3.0"'],
  ])('%s does not pass, because it %s', async (text, why) => {
    expect(await run(text)).toMatchObject({ passed: false, detail: expect.stringContaining(why) });
  });

  it('follows links inside the folder and none out of it', async () => {
    const [directory, outside] = [withGuide(), scratchDirectory()];
    writeFileSync(join(outside, 'secret.md'), 'x');
    symlinkSync('docs/guide.md', join(directory, 'inside.md'));
    symlinkSync(join(outside, 'secret.md'), join(directory, 'outside.md'));
    symlinkSync(outside, join(directory, 'away'));
    symlinkSync('nowhere', join(directory, 'dangling.md'));
    const passed = async (text: string) => (await run(text, directory)).passed;
    expect(await passed('file:inside.md contains 1.2.0')).toBe(true);
    expect(await passed('file:outside.md')).toBe(false);
    expect(await passed('file:away/secret.md contains x')).toBe(false);
    expect(await passed('file:dangling.md')).toBe(false);
  });
});
