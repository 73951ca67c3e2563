// What the actions that write one file have in common: stopped or not, recorded first, and failure as a value.
import type { Failure, FailureKind } from '../core/failure.ts';
import type { Activity, Assignment, Performer } from '../agents/performer.ts';

export interface Written {
  readonly message: string;
  readonly failure?: Failure;
}

/** Checked before the record is made, written after it. */
export type Prepared = { readonly failure: Failure } | { readonly write: () => Promise<Written> };

export function fileAction(name: string, prepare: (assignment: Assignment) => Promise<Prepared>): Performer {
  return {
    name,
    can: { steer: false, resume: false, interactive: false, usage: false },
    async *perform(assignment, stop): AsyncGenerator<Activity, void, void> {
      const { message, failure } = await act(prepare, assignment, stop).catch(ofError);
      if (message !== '') yield { type: 'text', text: `${message}\n`, channel: 'output' };
      yield { type: 'ended', message, failure };
    },
  };
}

export const failed = (kind: FailureKind, detail: string): { message: ''; failure: Failure } => ({
  message: '',
  failure: { kind, detail },
});

async function act(
  prepare: (assignment: Assignment) => Promise<Prepared>,
  assignment: Assignment,
  stop: AbortSignal,
): Promise<Written> {
  if (stop.aborted) return failed('stopped', 'stopped before it began');
  const prepared = await prepare(assignment);
  if ('failure' in prepared) return { message: '', failure: prepared.failure };
  // Without a record nothing may happen: it could not be known after a crash.
  const mayGoOn = await unlessStopped(assignment.intend?.(true), stop);
  if (mayGoOn !== true || stop.aborted) return failed('stopped', 'it was called off before anything was written');
  return await prepared.write();
}

function unlessStopped<Value>(work: Promise<Value> | undefined, stop: AbortSignal): Promise<Value | undefined> {
  if (work === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined);
    stop.addEventListener('abort', giveUp, { once: true });
    if (stop.aborted) giveUp();
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', giveUp));
  });
}

function ofError(error: unknown): Written {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return failed('permission', `the file may not be written (${code})`);
  return failed('refused', `the file could not be written (${code ?? message})`);
}
