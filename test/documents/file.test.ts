// Proves the file source with real files: what it reads, what it writes, and what it puts back.
import { createHash } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lostTasks } from '../../src/documents/damage.ts';
import type { FormatOptions } from '../../src/documents/document.ts';
import { type FileAccess, fileSource } from '../../src/documents/file.ts';
import { checklist } from '../../src/documents/formats/checklist.ts';
import { prd } from '../../src/documents/formats/prd.ts';
import { replaceFile } from '../../src/documents/replace-file.ts';
import { readText } from '../../src/documents/text-file.ts';
import { sourceContract } from '../contracts/source.ts';

const story = (id: string) => ({ id, title: 'T', description: 'D', criteria: ['C'], passes: false });
const backlog = JSON.stringify({ project: 'p', description: 'd', userStories: [story('one'), story('two')] }, null, 2);
const closed = [{ id: 'one', done: true, skipped: false }];

let folder: string;
let path: string;
let copyPath: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-file-'));
  path = join(folder, 'PRD.json');
  copyPath = join(folder, 'home', 'document');
  await writeFile(path, backlog);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function sourceOf(
  disk: Partial<FileAccess> = {},
  changes: { path?: string; options?: FormatOptions; redact?: (text: string) => string } = {},
) {
  const instructions = { path: join(folder, 'PROMPT.md'), text: 'Work.', isWritten: true };
  return fileSource({ path, format: prd, copyPath, instructions, ...changes }, disk);
}

sourceContract('a PRD.json file', async () => ({
  source: sourceOf(),
  again: () => sourceOf(),
  ids: ['one', 'two'],
  edited: text => {
    const at = text.lastIndexOf('"passes": false');
    return `${text.slice(0, at)}"passes": true${text.slice(at + '"passes": false'.length)}`;
  },
  read: () => readFile(path, 'utf8'),
  write: text => writeFile(path, text),
  remove: () => rm(path),
}));

sourceContract('a PRD.json file behind a format without an index', async () => {
  const { name, recognises, parse, mark } = prd;
  const make = () =>
    fileSource({
      path,
      format: { name, recognises, parse, mark },
      copyPath,
      instructions: { path: join(folder, 'PROMPT.md'), text: 'Work.', isWritten: true },
    });
  return {
    source: make(),
    again: make,
    ids: ['one', 'two'],
    edited: text => prd.mark(text, [{ id: 'two', done: true, skipped: false }]),
    read: () => readFile(path, 'utf8'),
    write: text => writeFile(path, text),
    remove: () => rm(path),
  };
});

describe('reading', () => {
  function countingDisk() {
    const reads: string[] = [];
    const disk: Partial<FileAccess> = {
      read: (from, bytesMax) => {
        reads.push(from);
        return readText(from, bytesMax);
      },
    };
    return { reads, disk };
  }

  it('happens once while the file stays the same, and not after our own saves', async () => {
    const { reads, disk } = countingDisk();
    const source = sourceOf(disk);
    await source.load();
    await source.load();
    await source.save(closed);
    await source.load();
    await source.save([{ id: 'two', done: true, skipped: true }]);
    expect(await source.load()).toEqual({ type: 'unchanged' });
    expect(reads).toEqual([path]);
  });

  it('reads no text again that it knows: not its own, not one that somebody wrote once more, not for the damage', async () => {
    const parsed: string[] = [];
    const counted =
      <Rest extends unknown[], Result>(work: (text: string, ...rest: Rest) => Result) =>
      (text: string, ...rest: Rest): Result => {
        parsed.push(text);
        return work(text, ...rest);
      };
    const source = fileSource({
      path,
      format: { ...prd, parse: counted(prd.parse), read: counted(prd.read) },
      copyPath,
      damage: lostTasks,
    });
    await source.load();
    await source.save(closed);
    const ours = await readFile(path, 'utf8');
    await writeFile(path, ours);
    expect(await source.load(true)).toMatchObject({ document: { tasks: [{ id: 'one', done: true }, { id: 'two' }] } });
    const edit = ours.replace('"passes": false', '"passes": true');
    await writeFile(path, edit);
    expect(await source.load(true)).toMatchObject({ document: { tasks: [{ done: true }, { id: 'two', done: true }] } });
    expect(parsed).toEqual([backlog, edit]);
  });

  it('looks for secrets only around what changed since it looked last', async () => {
    let looked = 0;
    const source = sourceOf(
      {},
      {
        redact: text => {
          looked += text.length;
          return text.replace('hunter2', '[redacted]');
        },
      },
    );
    const stories = (title: string) =>
      Array.from({ length: 5_000 }, (_, at) => ({ ...story(`s${at}`), title: at === 2_500 ? title : 'T' }));
    const textWith = (title: string) => JSON.stringify({ project: 'p', userStories: stories(title) });
    const lookedAt = async (title: string) => {
      const before = looked;
      await writeFile(path, textWith(title));
      expect(await source.load()).toMatchObject({ type: 'loaded' });
      return looked - before;
    };
    expect(await lookedAt('one')).toBe(textWith('one').length);
    expect(await lookedAt('two')).toBeLessThan(2 * 65_536 + 100);
    const good = await readFile(copyPath, 'utf8');
    expect(await lookedAt('hunter2')).toBeLessThan(2 * 65_536 + 100);
    expect(await readFile(copyPath, 'utf8')).toBe(good); // no copy is made of it
    expect(await lookedAt('hunter2, said again')).toBe(textWith('hunter2, said again').length);
    await lookedAt('three');
    expect(await readFile(copyPath, 'utf8')).toBe(textWith('three'));
  });

  it('reads a text of a format without an index once for each change of it', async () => {
    let parsed = 0;
    const parse: typeof checklist.parse = (text, options) => {
      parsed += 1;
      return checklist.parse(text, options);
    };
    await writeFile(path, '- [ ] one\n- [ ] two\n');
    const source = fileSource({ path, format: { ...checklist, parse }, copyPath, damage: lostTasks });
    await source.load();
    await writeFile(path, '- [x] one\n- [ ] two\n');
    await source.load(true);
    await source.save([{ id: 'one', done: true, skipped: false }]);
    await writeFile(path, '- [x] one\n- [x] two\n');
    await source.load(true);
    expect(parsed).toBe(3);
  });

  it('happens again when only the time of change differs', async () => {
    const { reads, disk } = countingDisk();
    const source = sourceOf(disk);
    await source.load();
    await utimes(path, 1, 1);
    expect(await source.load()).toMatchObject({ type: 'loaded' });
    expect(reads).toHaveLength(2);
  });

  it('gives the SHA-256 of the bytes', async () => {
    const hash = createHash('sha256').update(backlog).digest('hex');
    expect(await sourceOf().load()).toMatchObject({ type: 'loaded', hash });
  });

  it('hashes a large document to the same value', async () => {
    const large = JSON.stringify({ project: 'p', userStories: [story('one')], notes: 'x'.repeat(300_000) });
    await writeFile(path, large);
    expect(await sourceOf().load()).toMatchObject({ hash: createHash('sha256').update(large).digest('hex') });
  });

  it('hands the options to the format', async () => {
    await writeFile(path, backlog.replaceAll(/\[\s*"C"\s*\]/g, '[]'));
    expect(await sourceOf().load()).toMatchObject({
      type: 'failed',
      problems: [{ message: expect.stringContaining('how will we know') }, {}],
    });
    expect(await sourceOf({}, { options: { allowEmptyCriteria: true } }).load()).toMatchObject({ type: 'loaded' });
  });

  it('keeps a copy of the loaded bytes that only its owner may read', async () => {
    const source = sourceOf();
    await source.load();
    await source.save(closed);
    expect(await readFile(copyPath, 'utf8')).toBe(backlog);
    expect((await stat(copyPath)).mode & 0o777).toBe(0o600);
  });

  it('keeps no copy of a document with a secret in our folder, yet puts it back from memory', async () => {
    const source = sourceOf({}, { redact: text => text.replaceAll('Add', '[redacted]') });
    await writeFile(path, backlog.replace(/"title": "[^"]*"/, '"title": "Add"'));
    await source.load();
    await expect(stat(copyPath)).rejects.toThrow('ENOENT');
    await writeFile(path, '{ "Add" broken');
    expect(await source.save([])).toMatchObject({ type: 'saved', restored: expect.stringContaining('was broken') });
    expect(await readFile(path, 'utf8')).toContain('"title": "Add"');
    expect(await readFile(`${copyPath}.broken`, 'utf8')).toBe('{ "[redacted]" broken');
  });

  it('writes the copy again only when the bytes are others', async () => {
    const copies: string[] = [];
    const source = sourceOf({
      replace: (target, bytes, how) => {
        copies.push(bytes.toString());
        return replaceFile(target, bytes, how);
      },
    });
    await source.load();
    await utimes(path, 1, 1);
    await source.load();
    await writeFile(path, `${backlog}\n`);
    await source.load();
    expect(copies).toEqual([backlog, `${backlog}\n`]);
  });

  it('goes on without a copy when none can be kept, and says so', async () => {
    await writeFile(join(folder, 'home'), 'a file where the folder should be');
    const loaded = await sourceOf().load();
    expect(loaded).toMatchObject({ document: { notices: [expect.stringMatching(/^No copy could be kept/)] } });
  });
});

describe('writing', () => {
  it('keeps the mode, CRLF, the BOM and the missing last newline', async () => {
    const before = `\uFEFF${backlog.replaceAll('\n', '\r\n')}`;
    await writeFile(path, before);
    await chmod(path, 0o640);
    const source = sourceOf();
    await source.load();
    await source.save(closed);
    expect(await readFile(path, 'utf8')).toBe(before.replace('"passes": false', '"passes": true'));
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });

  it('follows a symbolic link and leaves it a link', async () => {
    const link = join(folder, 'linked.json');
    await symlink('PRD.json', link);
    const source = sourceOf({}, { path: link });
    await source.load();
    await source.save(closed);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(path, 'utf8')).toContain('"passes": true');
    await rm(path);
    expect(await source.save(closed)).toMatchObject({ type: 'saved', restored: expect.any(String) });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(path, 'utf8')).toContain('"passes": true');
  });

  it('does not happen when the marks change nothing', async () => {
    const source = sourceOf({ replace: () => Promise.reject(new Error('must not write')) });
    expect(await source.save([{ id: 'one', done: false, skipped: false }])).toMatchObject({ type: 'saved' });
  });

  it('leaves no other file behind', async () => {
    const source = sourceOf();
    await source.load();
    await source.save(closed);
    expect((await readdir(folder)).sort()).toEqual(['PRD.json', 'home']);
  });

  it.each(['EACCES', 'EROFS', 'ENOSPC'])(
    'that fails with %s is told, and is tried again by the next save',
    async code => {
      let isBroken = true;
      const failure = Object.assign(new Error(code), { code });
      const source = sourceOf({
        replace: (target, bytes, how) =>
          isBroken && target === path ? Promise.reject(failure) : replaceFile(target, bytes, how),
      });
      await source.load();
      expect(await source.save(closed)).toMatchObject({
        type: 'failed',
        problems: [{ message: expect.stringContaining(code), fix: expect.any(String) }],
      });
      expect(await readFile(path, 'utf8')).toBe(backlog);
      isBroken = false;
      expect(await source.save(closed)).toMatchObject({ type: 'saved' });
      expect(await readFile(path, 'utf8')).toContain('"passes": true');
    },
  );

  it('that really fails leaves the file as it was', async () => {
    // The temporary file beside it would need a longer name than file systems allow.
    const long = join(folder, `${'x'.repeat(246)}.json`);
    await writeFile(long, backlog);
    const source = sourceOf({}, { path: long });
    await source.load();
    expect(await source.save(closed)).toMatchObject({
      type: 'failed',
      problems: [{ message: expect.stringContaining('ENAMETOOLONG') }],
    });
    expect(await readFile(long, 'utf8')).toBe(backlog);
  });
});

describe('given somebody who writes the document at the same time', () => {
  it('then an edit just before our rename is read and kept', async () => {
    let edits = 0;
    const source = sourceOf({
      async replace(target, bytes, how) {
        if (target === path && edits++ === 0) {
          await writeFile(path, prd.mark(backlog, [{ id: 'two', done: true, skipped: true }]));
        }
        return replaceFile(target, bytes, how);
      },
    });
    await source.load();
    expect(await source.save(closed)).toMatchObject({ type: 'saved' });
    expect(await source.load()).toMatchObject({
      document: {
        tasks: [
          { id: 'one', done: true },
          { id: 'two', done: true, skipped: true },
        ],
      },
    });
  });

  it('then a save gives up on a file that never rests, and leaves it to them', async () => {
    let edits = 0;
    const source = sourceOf({
      async replace(target, bytes, how) {
        if (target === path) await writeFile(path, `${backlog}${' '.repeat(++edits)}`);
        return replaceFile(target, bytes, how);
      },
    });
    await source.load();
    expect(await source.save(closed)).toMatchObject({ type: 'failed' });
    expect((await readFile(path, 'utf8')).trimEnd()).toBe(backlog);
  });

  it('then a document that was only half written is not taken for broken', async () => {
    let reads = 0;
    const source = sourceOf({
      async read(from, bytesMax) {
        const seen = await readText(from, bytesMax);
        if (++reads === 2) await writeFile(path, `${backlog}\n`);
        return seen;
      },
    });
    await source.load();
    await writeFile(path, backlog.slice(0, 30));
    const saved = await source.save(closed);
    expect(saved).toMatchObject({ type: 'saved' });
    expect(saved).toEqual(expect.not.objectContaining({ restored: expect.anything() }));
    expect(await readFile(path, 'utf8')).toBe(`${prd.mark(backlog, closed)}\n`);
  });
});

describe('given an agent that harms the document', () => {
  it('then the broken bytes are saved beside our copy and the sentence says where they broke', async () => {
    const source = sourceOf();
    await source.load();
    const broken = backlog.replace('"passes": false', '"passes": maybe');
    await writeFile(path, broken);
    const saved = await source.save(closed);
    expect(saved).toMatchObject({ restored: expect.stringContaining('line 12, column 17: maybe is not a JSON value') });
    expect(await readFile(`${copyPath}.broken`, 'utf8')).toBe(broken);
    expect(await readFile(path, 'utf8')).toBe(prd.mark(backlog, closed));
  });

  it('then bytes that are no text are kept as they are', async () => {
    const source = sourceOf();
    await source.load();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00]);
    await writeFile(path, bytes);
    expect(await source.save(closed)).toMatchObject({ type: 'saved', restored: expect.any(String) });
    expect(await readFile(`${copyPath}.broken`)).toEqual(bytes);
  });

  it('then a rule that it breaks is as bad as broken JSON', async () => {
    const source = sourceOf();
    await source.load();
    await writeFile(path, backlog.replace('"passes": false', '"passes": "true"'));
    expect(await source.save([])).toMatchObject({ restored: expect.stringContaining('must be true or false') });
    expect(await readFile(path, 'utf8')).toBe(backlog);
  });

  it('then a directory or a huge file in its place is not ours to replace', async () => {
    const source = sourceOf();
    await source.load();
    await truncate(path, 64 * 1024 * 1024 + 1);
    expect(await source.save(closed)).toMatchObject({ type: 'failed' });
    await rm(path);
    await mkdir(path);
    expect(await source.save(closed)).toMatchObject({ type: 'failed' });
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  it('then a file is put back with the mode that it had, also after a restart', async () => {
    await chmod(path, 0o640);
    const source = sourceOf();
    await source.load();
    await rm(path);
    await source.save(closed);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    await writeFile(path, 'broken');
    await sourceOf().save(closed);
    expect(await readFile(path, 'utf8')).toBe(prd.mark(backlog, closed));
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });
});
