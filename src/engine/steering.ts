// Steering of a working performer: one channel per live iteration, so that words reach it or are known not to have.
import type { Note, Notes } from '../agents/performer.ts';

interface Channel {
  readonly notes: Notes;
  /** The performer has it. */
  told(note: string): void;
  close(): void;
}

class OpenChannel implements Channel {
  private listener: ((note: Note) => void) | undefined;
  private readonly early: Note[] = [];
  private readonly waiting = new Map<string, (delivered: boolean) => void>();
  private readonly canSteer: boolean;

  constructor(canSteer: boolean) {
    this.canSteer = canSteer;
  }

  readonly notes: Notes = {
    listen: listener => {
      this.listener = listener;
      for (const note of this.early.splice(0)) listener(note);
    },
  };

  /** True when the performer can be spoken to: it gets the note as soon as it listens. */
  send(note: Note): boolean {
    if (!this.canSteer) return false;
    if (this.listener === undefined) this.early.push(note);
    else this.listener(note);
    return true;
  }

  deliver(note: Note): Promise<boolean> {
    return new Promise(done => {
      this.waiting.set(note.id, done);
      if (!this.send(note)) this.settle(note.id, false);
    });
  }

  told(note: string): void {
    this.settle(note, true);
  }

  close(): void {
    for (const id of [...this.waiting.keys()]) this.settle(id, false);
  }

  private settle(id: string, delivered: boolean): void {
    this.waiting.get(id)?.(delivered);
    this.waiting.delete(id);
  }
}

export class NoteBoard {
  private readonly channels = new Map<number, OpenChannel>();

  open(iteration: number, canSteer: boolean): Channel {
    const channel = new OpenChannel(canSteer);
    this.channels.set(iteration, channel);
    return {
      notes: channel.notes,
      told: note => channel.told(note),
      close: () => {
        this.channels.delete(iteration);
        channel.close();
      },
    };
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
