// End of a turn: the loop that is bound to the session takes it as an iteration, and answers with the next one or lets it end.
import { realpathSync, statSync } from 'node:fs';
import type { Visited } from '../app/session/visit.ts';
import { type Binding, dropBinding, findBinding, newBinding, noteTrouble, takeRest, writeBinding } from './binding.ts';
import { type Answer, answerText, readTurn, type Turn } from './payload.ts';
import { readStateFile, removeStateFile, stateFilePath, writeStateFile } from './state-file.ts';
import { isEndOf, openSettled, openTranscript, type Since, type Transcript } from './transcript.ts';

/** How a turn went, as far as its host says. */
interface TurnOutcome {
  readonly message: string;
  readonly error: string | undefined;
  readonly tools: number;
  readonly usage: Since['usage'];
}

export interface Visiting {
  readonly outcome: TurnOutcome | undefined;
  readonly begins: boolean;
  readonly guidance?: string | undefined;
}

/** What stands in a state file that another tool has written. */
interface Import {
  readonly directory: string;
  readonly session: string;
  readonly prompt: string;
  readonly iterationsMax: string | undefined;
  readonly promise: string | undefined;
}

/** What the hook needs of the loop; opened only for a session that has one. */
export interface Doors {
  /** One hook at a time answers for a session; undefined: another one does. */
  alone<Result>(holder: string, work: () => Promise<Result>): Promise<Result | undefined>;
  visit(binding: Binding, visiting: Visiting): Promise<Visited>;
  begin(found: Import): Promise<Visited>;
  pause(binding: Binding, because: string): Promise<void>;
  cancel(binding: Binding): Promise<void>;
  /** Goes on with the loop outside of the session, in a process of its own. */
  headless(binding: Binding): void;
  /** Counts what a hook has no time for, in a process of its own. */
  catchUp(binding: Binding): void;
}

export interface HookPlace {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How many turns in a row the host lets be kept from ending without a tool call between; undefined: any number. */
  readonly cap: number | undefined;
  readonly open: () => Promise<Doors>;
}

interface Call extends HookPlace {
  readonly turn: Turn;
  readonly doors: Doors;
}

/** What goes to the host. Whatever goes wrong lets the turn end, keeps what there is, and notes why. */
export async function stopHook(input: Buffer, place: HookPlace): Promise<string> {
  const read = readTurn(input);
  if (read.type === 'other') return '';
  if (read.type === 'unreadable') return gaveUp(place.home, '', read.problem);
  const { turn } = read;
  // A loop of ours runs this agent itself, and reads its end otherwise.
  if (place.env['RALPH_LOOP'] !== undefined) return '';
  try {
    const answer = await answered(turn, place);
    return answerText(answer, turn.refusal);
  } catch (error) {
    return gaveUp(place.home, turn.session, (error as Error).message);
  }
}

function gaveUp(home: string, session: string, problem: string): string {
  noteTrouble(home, session, problem);
  return '';
}

const nothing: Answer = {};

/** The loop of a session, or what it could begin with; undefined: there is none. Throws where that cannot be told. */
export function lookFor(turn: Turn, { home, env }: Pick<HookPlace, 'home' | 'env'>): Binding | Import | undefined {
  const folders = foldersOf(turn, env);
  const found = findBinding(home, turn.session, folders);
  if (found.type === 'broken') throw new Error(found.problem);
  return found.type === 'found' ? found.binding : importable(turn, folders);
}

async function answered(turn: Turn, place: HookPlace): Promise<Answer> {
  const found = lookFor(turn, place);
  if (found === undefined) return nothing;
  const call = { ...place, turn, doors: await place.open() };
  const isBound = 'holder' in found;
  const answer = await call.doors.alone(isBound ? found.holder : turn.session, async () =>
    turnEnded(call, isBound ? found : await begun(call, found)),
  );
  return answer ?? nothing;
}

/** The agent may have changed its folder meanwhile; its host knows where the session began. */
function foldersOf({ directory }: Turn, env: HookPlace['env']): readonly string[] {
  const named = [env['CLAUDE_PROJECT_DIR'], env['GEMINI_PROJECT_DIR'], directory];
  const real = named.flatMap(path => {
    try {
      return path === undefined || path === '' ? [] : [realpathSync(path)];
    } catch {
      return [];
    }
  });
  return [...new Set(real)];
}

/** File systems keep time less exactly than hosts. */
const coarseMs = 2_000;

/** A file that lay there before the session began came with the folder, and may say anything: nobody here has asked for it. */
function isOfSession(directory: string, { transcript }: Turn): boolean {
  const opened = openTranscript(transcript);
  if (!opened.ok) return false;
  const begunAt = opened.transcript.begunAt();
  opened.transcript.close();
  return begunAt !== undefined && statSync(stateFilePath(directory)).mtimeMs + coarseMs >= begunAt;
}

/** A state file that is active, no view of a loop of ours, and written in this session. */
function importable(turn: Turn, folders: readonly string[]): Import | undefined {
  const { session } = turn;
  for (const directory of folders) {
    const file = readStateFile(directory);
    if (file === 'broken') throw new Error(`${stateFilePath(directory)} cannot be read as a state file`);
    const { active, loop, session_id = '' } = file?.values ?? {};
    if (file === undefined || active !== 'true' || loop !== undefined) continue;
    if (session_id !== '' && session_id !== session) continue;
    if (!isOfSession(directory, turn))
      throw new Error(`${stateFilePath(directory)} is older than this session: ralph hook start begins its loop`);
    const { max_iterations, completion_promise } = file.values;
    const promise = completion_promise === 'null' ? undefined : completion_promise;
    return { directory, session, prompt: file.prompt, iterationsMax: max_iterations, promise };
  }
  return undefined;
}

async function begun({ home, turn, doors }: Call, found: Import): Promise<Binding> {
  const visited = await doors.begin(found);
  const { loop, name, startedAt } = visited;
  const { directory } = found;
  const { session } = turn;
  const known = { loop, name, startedAt, directory, session, holder: session, headlessOk: false, hasStateFile: true };
  const binding = newBinding(known);
  showState(binding, visited, true);
  writeBinding(home, binding);
  return binding;
}

/** One loop of a folder is shown there: it stays the one that was there first, until it is over. */
const isOfAnother = (file: ReturnType<typeof readStateFile>, { name }: Binding): boolean =>
  typeof file === 'object' && file.values['active'] === 'true' && (file.values['loop'] ?? name) !== name;

/** Keeps the prompt as it stands there, unless one is given. False: it is not shown. */
export function showState(binding: Binding, visited: Visited, isActive: boolean, prompt?: string): boolean {
  const { directory, session, name } = binding;
  const file = readStateFile(directory);
  const text = prompt ?? (typeof file === 'object' ? file.prompt : undefined);
  if (text === undefined || isOfAnother(file, binding)) return false;
  const { iteration, iterationsMax, promise, startedAt } = visited;
  const state = { isActive, iteration, iterationsMax: iterationsMax ?? 0, promise, startedAt, session, loop: name };
  return writeStateFile(directory, state, text) === undefined;
}

async function turnEnded(call: Call, binding: Binding): Promise<Answer> {
  const { home, turn, doors } = call;
  if (binding.hasStateFile && readStateFile(binding.directory) === undefined) {
    await doors.cancel(binding);
    dropBinding(home, binding);
    return { message: `Ralph: loop ${binding.name} is cancelled, its state file was deleted.` };
  }
  const rest = takeRest(home, binding);
  const heard = await listen(turn, { ...binding, offset: rest?.offset ?? binding.offset }, rest?.usage);
  if (heard.outcome === undefined) throw new Error(heard.problem);
  const isTyped = !turn.isContinued && turn.prompt !== binding.prompt;
  const blocks = isTyped || heard.outcome.tools + (rest?.tools ?? 0) > 0 ? 0 : binding.blocks;
  const now = { ...binding, ...heard.counted, blocks, prompt: turn.prompt, transcript: turn.transcript };
  writeBinding(home, now);
  if (heard.isBehind) doors.catchUp(now);
  const isCapped = call.cap !== undefined && blocks >= call.cap;
  const begins = turn.error === undefined && !isCapped;
  const guidance = isTyped && binding.prompt !== '' ? (heard.typed ?? turn.typed) : undefined;
  const visited = await doors.visit(now, { outcome: heard.outcome, begins, guidance });
  return settled(call, now, visited, isCapped);
}

interface Heard {
  readonly outcome: TurnOutcome | undefined;
  readonly problem: string;
  readonly typed?: string | undefined;
  readonly counted: Partial<Binding>;
  readonly isBehind: boolean;
}

const noMessage = 'no assistant message is found in the transcript';

/** The host's own word first: the transcript may lag behind it. */
async function listen(turn: Turn, binding: Binding, more: Since['usage'] = []): Promise<Heard> {
  const opened = await openSettled(turn.transcript, turn.message);
  const transcript = opened.ok ? opened.transcript : undefined;
  try {
    const message = messageOf(turn, transcript);
    const since = transcript && sinceTurn(transcript, binding);
    const fresh = since?.usage.filter(one => one.message !== binding.counted) ?? [];
    const usage = [...more, ...fresh].map(one => ({ ...one, model: one.model || turn.model }));
    const { error } = turn;
    const isSilent = (message ?? '').trim() === '' && error === undefined;
    return {
      outcome: isSilent ? undefined : { message: message ?? '', error, tools: since?.tools ?? 0, usage },
      problem: message === '' ? 'the last message is empty' : opened.ok ? noMessage : opened.problem,
      typed: transcript?.lastTyped(turn.prompt),
      counted: since === undefined ? {} : { offset: since.offset, counted: usage.at(-1)?.message ?? binding.counted },
      isBehind: since?.isBehind ?? false,
    };
  } finally {
    transcript?.close();
  }
}

function messageOf({ message, isJoined }: Turn, transcript: Transcript | undefined): string | undefined {
  if (message !== undefined && !isJoined) return message;
  const last = transcript?.lastMessage();
  return message === undefined || (last !== undefined && isEndOf(last.trim(), message.trim())) ? last : message;
}

const firstLookBytes = 500_000;

/** What was there before the loop is not its own: of a transcript that was never looked at, the end alone. */
function sinceTurn(transcript: Transcript, { offset, transcript: before, startedAt }: Binding): Since {
  const isNew = offset < 0 || before === '';
  const since = transcript.since(isNew ? Math.max(0, transcript.size - firstLookBytes) : offset);
  return isNew ? { ...since, usage: since.usage.filter(one => one.at >= startedAt) } : since;
}

/** What the session and its user are told, and what stays on the disk. */
function settled(call: Call, binding: Binding, visited: Visited, isCapped: boolean): Answer | Promise<Answer> {
  const { home } = call;
  const told = (message: string): Answer => {
    const isNew = message !== binding.told;
    writeBinding(home, { ...binding, told: message });
    return isNew ? { message } : nothing;
  };
  switch (visited.type) {
    case 'left':
      if (binding.hasStateFile) showState(binding, visited, true);
      writeBinding(home, { ...binding, blocks: binding.blocks + 1, told: '' });
      return { prompt: visited.prompt, message: turnWords(visited, binding) };
    case 'ended':
      if (binding.hasStateFile) showEnd(binding, visited);
      dropBinding(home, binding);
      return { message: endWords(visited) };
    case 'held':
      return told(
        `Ralph: loop ${visited.name} goes on elsewhere (${visited.heldBy}); this session has nothing to do for it.`,
      );
    case 'interrupted':
      return paused(call, binding, visited, 'no time for its checks');
    case 'waiting':
      if (isCapped && !visited.isPaused) return paused(call, binding, visited, 'the host lets no more turns go on');
      return told(endWords(visited));
  }
}

/** Gone when all is done; else it says how far it came. */
function showEnd(binding: Binding, visited: Visited): void {
  if (!visited.isAchieved) showState(binding, visited, false);
  else if (!isOfAnother(readStateFile(binding.directory), binding)) removeStateFile(binding.directory);
}

const whyPaused = {
  'no time for its checks':
    'its checks would take longer than the hook may (its timeout, less 10 s), so what was claimed is not proven',
  'the host lets no more turns go on':
    'this agent ends a turn after so many in a row without a tool call, whatever a hook says',
} as const;

async function paused(
  call: Call,
  binding: Binding,
  visited: Visited,
  because: keyof typeof whyPaused,
): Promise<Answer> {
  const { home, doors } = call;
  await doors.pause(binding, `the hook (${because})`);
  if (binding.hasStateFile) showState(binding, visited, false);
  const on = `ralph resume ${visited.name}`;
  if (binding.headlessOk) doors.headless(binding);
  const way = binding.headlessOk
    ? 'It goes on headless now (--headless-ok).'
    : `Go on outside of the session: ${on} --headless (with the permissions and the bill of a headless agent); or here: ${on}, then say anything.`;
  const message = `Ralph: loop ${visited.name} is paused: ${whyPaused[because]}. ${way}`;
  writeBinding(home, { ...binding, told: message });
  return { message };
}

const endWords = ({ name, standing, next }: Visited): string =>
  [`Ralph loop ${name}: ${standing}`, ...next.map(line => `  ${line}`)].join('\n');

const refusedCharsMax = 600;

/** For the user beside the turn, and for the model with it. */
function turnWords(visited: Visited, { hasStateFile }: Binding): string {
  const { name, iteration, iterationsMax, standing, refused, claim } = visited;
  const most = iterationsMax === null ? '' : ` of ${iterationsMax}`;
  const finish = claim === undefined ? 'as the prompt says' : `the last line is exactly ${claim}`;
  const cancel = hasStateFile ? `ralph stop ${name}, or delete .claude/ralph-loop.local.md` : `ralph stop ${name}`;
  return [
    `Ralph loop ${name}, iteration ${iteration}${most}. ${standing}`,
    refused === undefined ? '' : `Not accepted last time: ${refused.slice(0, refusedCharsMax)}`,
    `To finish: ${finish}, and only when it is completely true. To cancel: ${cancel}.`,
  ]
    .filter(line => line !== '')
    .join('\n');
}
