// Task documents in files: read only when changed, marked atomically, put back when an iteration broke them.

import { hash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TaskMark } from '../core/task.ts';
import { visible } from '../text/text.ts';
import type {
  Format,
  FormatOptions,
  IndexedFormat,
  Loaded,
  Parsed,
  ParsedDocument,
  Problem,
  Saved,
  TaskSource,
  TextIndex,
} from './document.ts';
import { difference } from './edits.ts';
import { replaceFile } from './replace-file.ts';
import {
  checkInstructions,
  documentBytesMax,
  errorCode,
  type FileIdentity,
  type InstructionsFile,
  identify,
  instructionsReader,
  readText,
} from './text-file.ts';

const triesMax = 5;
const settleMs = 50;
/** No secret is longer, as where streams are redacted. */
const secretCharsMax = 65_536;

export interface FileSourceSettings {
  readonly path: string;
  readonly format: Format | IndexedFormat;
  readonly options?: FormatOptions;
  /** In our own folder, out of the agent's reach: the last good bytes as they were loaded. */
  readonly copyPath: string;
  /** Nothing that it would change is kept in our folder: a document with a secret has its copy in memory only. */
  readonly redact?: (text: string) => string;
  /** Absent: the document says all. */
  readonly instructions?: InstructionsFile;
  /** Signal files that an iteration may leave; removed when it has ended. */
  readonly signals?: readonly string[];
  /** What an iteration has spoiled although the document can be read, as the end of a sentence about it. */
  readonly damage?: (before: ParsedDocument, now: ParsedDocument) => string | undefined;
}

/** What touches the disk, so that a test can count the reads and let the writes fail. */
export interface FileAccess {
  readonly read: typeof readText;
  readonly replace: typeof replaceFile;
}

/** The last text that we read or wrote and know to be good. */
interface Known {
  /** Undefined: somebody wrote the file just after us, so it must be read again. */
  readonly identity: FileIdentity | undefined;
  readonly text: string;
  readonly hash: string;
  readonly mode: number | undefined;
  /** What it says; undefined when a mark was put on it since it was read. */
  readonly document?: ParsedDocument | undefined;
  /** What the format remembers about it. */
  readonly index?: TextIndex;
  /** It holds nothing that is to be redacted; undefined when nobody has looked. */
  readonly isClean?: boolean;
  /** False while it holds an edit of somebody else that no `load` has told yet. */
  readonly isTold: boolean;
}

type Good = { readonly type: 'good'; readonly known: Known; readonly document: ParsedDocument; readonly bytes: Buffer };
type Bad = { readonly type: 'missing' | 'broken' | 'unusable'; readonly problems: readonly Problem[] };

export function fileSource(settings: FileSourceSettings, disk: Partial<FileAccess> = {}): TaskSource {
  const file = new DocumentFile(settings, { read: readText, replace: replaceFile, ...disk });
  const instructions =
    settings.instructions === undefined ? async () => '' : instructionsReader(settings.instructions, disk.read);
  let turn: Promise<unknown> = Promise.resolve();
  // One at a time: a load between the steps of a save would take our own bytes for somebody else's.
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
  return {
    load: isDuring => inTurn(() => file.load(isDuring)),
    save: marks => inTurn(() => file.save(marks)),
    hashNow: () => inTurn(async () => readFile(settings.path).then(sha256, () => undefined)),
    instructions: () => inTurn(instructions),
    tidy: async () => {
      for (const path of settings.signals ?? []) await rm(path, { force: true });
    },
  };
}

class DocumentFile {
  private readonly settings: FileSourceSettings;
  private readonly disk: FileAccess;
  private known: Known | undefined;
  private copiedHash = '';
  /** The version of the file that may not stand, and why. */
  private damaged: { readonly identity: FileIdentity; readonly why: string } | undefined;

  constructor(settings: FileSourceSettings, disk: FileAccess) {
    this.settings = settings;
    this.disk = disk;
  }

  async load(isDuring = false): Promise<Loaded> {
    if (this.known?.isTold && this.known.identity !== undefined) {
      if (identify(this.settings.path) === this.known.identity) return { type: 'unchanged' };
    }
    const read = await this.read(this.settings.path);
    if (read.type !== 'good') return { type: 'failed', problems: read.problems };
    const why = isDuring ? this.damageOf(read.document) : undefined;
    if (why !== undefined && read.known.identity !== undefined && this.known !== undefined) {
      this.damaged = { identity: read.known.identity, why };
      return { type: 'loaded', document: read.document, hash: this.known.hash, isDamaged: true };
    }
    const known = { ...read.known, isTold: true, isClean: this.isClean(read.known.text) };
    this.known = known;
    const warning = await this.writeCopy(read.bytes, known);
    const document = { ...read.document, notices: [...read.document.notices, ...warning] };
    return { type: 'loaded', document, hash: read.known.hash };
  }

  private damageOf(document: ParsedDocument): string | undefined {
    const { damage } = this.settings;
    if (damage === undefined || this.known === undefined) return undefined;
    const before = this.documentOf(this.known);
    return before && damage(before, document);
  }

  /** What a text says that was good when it was marked: read at most once. */
  private documentOf(known: Known): ParsedDocument | undefined {
    if (known.document !== undefined) return known.document;
    const parsed = this.settings.format.parse(known.text, this.settings.options);
    if (!parsed.ok) return undefined;
    if (known === this.known) this.known = { ...known, document: parsed.document };
    return parsed.document;
  }

  async save(marks: readonly TaskMark[]): Promise<Saved> {
    for (let tries = 1; ; tries++) {
      const saved = await this.trySave(marks);
      if (saved !== 'changed') return saved;
      if (tries < triesMax) continue;
      const message = `${visible(this.settings.path)} changed each time we were about to write it.`;
      return { type: 'failed', problems: [{ message, fix: 'Close what keeps writing it.' }] };
    }
  }

  private async trySave(marks: readonly TaskMark[]): Promise<Saved | 'changed'> {
    const identity = identify(this.settings.path);
    if (this.known && identity !== undefined && identity === this.known.identity)
      return this.write(this.known, marks, { expected: identity });
    if (this.known && identity !== undefined && identity === this.damaged?.identity)
      return this.putBack(this.known, marks, { why: this.damaged.why, as: 'edited', expected: identity }, []);
    let read = await this.read(this.settings.path);
    if (read.type === 'missing' || read.type === 'broken') {
      // An editor may be in the middle of writing; only what stays broken is restored.
      await setTimeout(settleMs);
      read = await this.read(this.settings.path);
    }
    if (read.type === 'good') return this.write(read.known, marks, { expected: read.known.identity });
    if (read.type === 'unusable') return { type: 'failed', problems: read.problems };
    return this.restore(read, marks);
  }

  /** Puts the marks on a good text and writes it when that changed anything, or when it is not what the file holds. */
  private async write(
    base: Known,
    marks: readonly TaskMark[],
    why: { readonly expected?: FileIdentity | undefined; readonly restored?: string },
  ): Promise<Saved | 'changed'> {
    const marked = this.marked(base, marks);
    if (marked.text === base.text && why.restored === undefined) {
      this.known = { ...base, ...marked };
      return { type: 'saved', hash: base.hash };
    }
    const bytes = Buffer.from(marked.text, 'utf8');
    try {
      const [replaced, hash] = await Promise.all([
        this.disk.replace(this.settings.path, bytes, { mode: base.mode, expected: why.expected }),
        sha256(bytes),
      ]);
      if (replaced.type === 'changed') return 'changed';
      this.known = { ...base, ...marked, identity: replaced.identity, hash };
      return { type: 'saved', hash, restored: why.restored };
    } catch (error) {
      return { type: 'failed', problems: [writeProblem(this.settings.path, error)] };
    }
  }

  private marked(base: Known, marks: readonly TaskMark[]): Pick<Known, 'text' | 'index' | 'document'> {
    const { format, options } = this.settings;
    if ('markWithIndex' in format) {
      const { text, index } = format.markWithIndex(base.text, base.index, marks, options);
      return { text, index, document: index.document };
    }
    const text = format.mark(base.text, marks);
    return { text, document: text === base.text ? base.document : undefined };
  }

  /** The file is broken or gone: our last good version takes its place. */
  private async restore({ type, problems }: Bad, marks: readonly TaskMark[]): Promise<Saved | 'changed'> {
    const copy = this.known === undefined ? await this.read(this.settings.copyPath) : undefined;
    const good = copy?.type === 'good' ? { ...copy.known, mode: undefined } : this.known;
    if (good === undefined) return { type: 'failed', problems };
    if (type !== 'missing')
      return this.putBack(good, marks, { why: `was broken (${sentence(problems)})`, as: 'broken' }, problems);
    const name = visible(basename(this.settings.path));
    return this.write(good, marks, { restored: `${name} was gone, so Ralph put its last good version back.` });
  }

  /** What the file holds is saved beside our copy first: a person may have written it. */
  private async putBack(
    good: Known,
    marks: readonly TaskMark[],
    { why, as, expected }: { readonly why: string; readonly as: 'broken' | 'edited'; readonly expected?: FileIdentity },
    problems: readonly Problem[],
  ): Promise<Saved | 'changed'> {
    const { path, copyPath } = this.settings;
    const backupPath = `${copyPath}.${as}`;
    try {
      await mkdir(dirname(backupPath), { recursive: true });
      const bytes = await readFile(path);
      const text = bytes.toString('utf8');
      const shown = this.redacted(text);
      await writeFile(backupPath, shown === text ? bytes : shown, { mode: 0o600 });
    } catch (error) {
      return { type: 'failed', problems: [...problems, writeProblem(backupPath, error)] };
    }
    const restored =
      `${visible(basename(path))} ${why}, so Ralph put its last good version back ` +
      `and kept the ${as} one as ${visible(backupPath)}.`;
    return this.write(good, marks, { restored, expected });
  }

  private redacted(text: string): string {
    return this.settings.redact?.(text) ?? text;
  }

  /** Of a text like one that was clean only what stands around the difference is looked at. */
  private isClean(text: string): boolean {
    const { known } = this;
    if (known?.isClean !== true) return this.redacted(text) === text;
    const { start, same } = difference(known.text, text);
    const part = text.slice(Math.max(0, start - secretCharsMax), text.length - same + secretCharsMax);
    return this.redacted(part) === part;
  }

  private async read(path: string): Promise<Good | Bad> {
    const read = await this.disk.read(path, documentBytesMax);
    if (read.type !== 'text') return { type: read.type, problems: [read.problem] };
    const { text, bytes, identity, mode } = read;
    const parsed = this.parsed(text);
    if (!parsed.ok) return { type: 'broken', problems: parsed.problems };
    const { document, index } = parsed;
    const known: Known = { identity, text, mode, document, index, hash: await sha256(bytes), isTold: false };
    return { type: 'good', known, document, bytes };
  }

  /** Nothing that we know already is read again. */
  private parsed(text: string): Parsed & { readonly index?: TextIndex } {
    const { known } = this;
    const { format, options } = this.settings;
    if (known?.text === text) {
      const document = this.documentOf(known);
      if (document !== undefined) return { ok: true, document, index: known.index };
    }
    if (!('read' in format)) return format.parse(text, options);
    return format.read(text, options, known?.index && { text: known.text, index: known.index });
  }

  /** Without a copy the loop can still run; the reader is told what is weaker then. */
  private async writeCopy(bytes: Buffer, { hash, isClean }: Known): Promise<readonly string[]> {
    if (hash === this.copiedHash || !isClean) return [];
    const { copyPath } = this.settings;
    try {
      await mkdir(dirname(copyPath), { recursive: true });
      await this.disk.replace(copyPath, bytes, { mode: 0o600, isPassing: true });
      this.copiedHash = hash;
      return [];
    } catch (error) {
      const what = `No copy could be kept at ${visible(copyPath)} (${errorCode(error)})`;
      return [`${what}: a broken document cannot be put back after a restart.`];
    }
  }
}

function writeProblem(path: string, error: unknown): Problem {
  const code = errorCode(error);
  const fix = writeFixes[code] ?? 'Check the path and the disk.';
  return { message: `${visible(path)} could not be written (${code}) and is as it was.`, fix };
}

const writeFixes: Readonly<Record<string, string>> = {
  EACCES: 'Give yourself the permission to write it.',
  EPERM: 'Give yourself the permission to write it.',
  EROFS: 'The file system is read-only: work in a writable one.',
  ENOSPC: 'The disk is full: make room.',
  EDQUOT: 'Your disk quota is used up: make room.',
};

/** Large documents are hashed on another thread: the loop's own thread has agents to serve. */
async function sha256(bytes: Buffer): Promise<string> {
  if (bytes.length < 256 * 1024) return hash('sha256', bytes);
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
}

function sentence(problems: readonly Problem[]): string {
  const [first, ...rest] = problems;
  if (!first) return 'unreadable';
  const { line, column, message } = first;
  const place = line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}: `;
  return `${place}${message.replace(/\.$/, '')}${rest.length > 0 ? `, and ${rest.length} more` : ''}`;
}

/** Reads and checks a document before there is a loop: nothing is written, every problem is said. */
export async function readParsed(
  path: string,
  format: Format,
  options: FormatOptions,
  instructionsPath: string | undefined,
): Promise<Parsed> {
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text') return { ok: false, problems: [read.problem] };
  const parsed = format.parse(read.text, options);
  if (!parsed.ok) return parsed;
  const problems = instructionsPath === undefined ? [] : await checkInstructions(instructionsPath);
  return problems.length > 0 ? { ok: false, problems } : parsed;
}
