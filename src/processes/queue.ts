// Holds events between a producer that is pushed and a consumer that pulls, and says when the producer must wait.

/** The producer's side. */
export interface Intake<Item> {
  push(item: Item, weight: number): void;
  readonly isFull: boolean;
  /** Resolves when a full queue has been emptied to half, or closed. */
  room(): Promise<void>;
}

export interface Queue<Item> extends Intake<Item> {
  /** Nothing more comes; what is inside can still be taken. */
  close(): void;
  /** For one consumer. Undefined after `close` when everything was taken. */
  take(): Promise<Item | undefined>;
}

export function openQueue<Item>(weightMax: number): Queue<Item> {
  const items: { readonly item: Item; readonly weight: number }[] = [];
  let weight = 0;
  let full = false;
  let closed = false;
  let taker: ((item: Item | undefined) => void) | undefined;
  const blocked: (() => void)[] = [];

  function unblock(): void {
    full = false;
    for (const go of blocked.splice(0)) go();
  }

  return {
    get isFull() {
      return full;
    },
    room: () => (full ? new Promise(go => blocked.push(go)) : Promise.resolve()),
    push(item, itemWeight) {
      if (closed) return;
      if (taker) {
        taker(item);
        taker = undefined;
        return;
      }
      items.push({ item, weight: itemWeight });
      weight += itemWeight;
      full ||= weight > weightMax;
    },
    close() {
      closed = true;
      taker?.(undefined);
      taker = undefined;
      unblock();
    },
    take() {
      const next = items.shift();
      if (next) {
        weight -= next.weight;
        if (full && weight <= weightMax / 2) unblock();
        return Promise.resolve(next.item);
      }
      return closed ? Promise.resolve(undefined) : new Promise(give => (taker = give));
    },
  };
}
