// Steering of a working performer: one channel per live iteration, so that words reach it or are known not to have.
import type { Note, Notes } from '../agents/performer.ts';

type Channel = ReturnType<typeof openChannel>;

function openChannel(canSteer: boolean, onClose: () => void) {
  let listener: ((note: Note) => void) | undefined;
  const early: Note[] = [];
  const waiting = new Map<string, (delivered: boolean) => void>();

  /** True when the performer can be spoken to: it gets the note as soon as it listens. */
  function send(note: Note): boolean {
    if (!canSteer) return false;
    if (listener === undefined) early.push(note);
    else listener(note);
    return true;
  }

  function settle(id: string, delivered: boolean): void {
    waiting.get(id)?.(delivered);
    waiting.delete(id);
  }

  const notes: Notes = {
    listen(next) {
      listener = next;
      for (const note of early.splice(0)) next(note);
    },
  };
  return {
    notes,
    send,
    deliver: (note: Note) =>
      new Promise<boolean>(done => {
        waiting.set(note.id, done);
        if (!send(note)) settle(note.id, false);
      }),
    /** The performer has it. */
    told: (note: string): void => settle(note, true),
    close(): void {
      onClose();
      for (const id of [...waiting.keys()]) settle(id, false);
    },
  };
}

export class NoteBoard {
  private readonly channels = new Map<number, Channel>();

  open(iteration: number, canSteer: boolean): Channel {
    const channel = openChannel(canSteer, () => this.channels.delete(iteration));
    this.channels.set(iteration, channel);
    return channel;
  }

  /** For what must act at once: whether the performer can hear it at all. */
  send(iteration: number, note: Note): boolean {
    return this.channels.get(iteration)?.send(note) ?? false;
  }

  /** For a person's words: true only when the performer has them; false at the latest when the iteration is over. */
  deliver(iteration: number, note: Note): Promise<boolean> {
    return this.channels.get(iteration)?.deliver(note) ?? Promise.resolve(false);
  }
}
