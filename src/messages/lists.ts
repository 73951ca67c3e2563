// Lists of a message: an item that claims counts alone, or where everything beside it is ticked or claimed as well.

export type Item = 'claim' | 'claimed' | 'ticked-claim' | 'ticked' | 'open' | 'plain';

interface List {
  readonly mark: string;
  readonly isAnnounced: boolean;
  isOpen: boolean;
  hasPlain: boolean;
  claim: number;
  tickedClaim: number;
}

const mark = /^(?:([-*+])|\d{1,9}([.)]))[ \t]+/;
const open = /^(?:\[ ?\]|[\u2610\u2b1c\u25fb\u{1f532}])/u;
const ticked = /^(?:\[[xX]\]|[\u2705\u2713\u2714\u2611])/u;

interface Begun {
  readonly mark: string;
  readonly item: Item;
}

const beginningCharsMax = 40;
const plainItems: Readonly<Record<string, Begun>> = {
  '-': { mark: '-', item: 'plain' },
  '*': { mark: '*', item: 'plain' },
  '+': { mark: '+', item: 'plain' },
};

/** The item that a line begins, or undefined when it begins none; most are turned away, or are plain, by two characters. */
export function readItem(text: string, first: number, end: number): Begun | undefined {
  const code = text.charCodeAt(first);
  const isBullet = code >= 0x2a && code <= 0x2d && code !== 0x2c;
  if (isBullet && text[first + 1] !== ' ' && text[first + 1] !== '\t') return undefined;
  if (!isBullet && (code < 0x30 || code > 0x39)) return undefined;
  const next = text.charCodeAt(first + 2);
  if (isBullet && next > 0x20 && next < 0x5b) return plainItems[text[first]!];
  if (isBullet && next > 0x5b && next < 0x2000) return plainItems[text[first]!];
  const line = text.slice(first, Math.min(end, first + beginningCharsMax));
  const found = mark.exec(line);
  if (found === null) return undefined;
  const rest = line.slice(found[0].length, found[0].length + 4);
  const item = open.test(rest) ? 'open' : ticked.test(rest) ? 'ticked' : 'plain';
  return { mark: found[1] ?? found[2] ?? '', item };
}

/** Lists by their indent; an item deeper than another belongs to that one. `settle` hears of each claim that counts, or not. */
export class Lists {
  private readonly byIndent: (List | undefined)[] = [];
  private readonly settle: (at: number, counts: boolean) => void;

  constructor(settle: (at: number, counts: boolean) => void) {
    this.settle = settle;
  }

  /** An item begins at `at`; `isDirect`: directly under a line that announces it, which the first one says for all. */
  add(indent: number, mark: string, item: Item, { at, isDirect }: { at: number; isDirect: boolean }): void {
    this.close(indent + 1);
    const known = this.byIndent[indent];
    if (known !== undefined && known.mark !== mark) this.close(indent);
    this.byIndent[indent] ??= {
      mark,
      isAnnounced: isDirect,
      isOpen: false,
      hasPlain: false,
      claim: -1,
      tickedClaim: -1,
    };
    const list = this.byIndent[indent];
    if (item === 'open') this.markOpen();
    else if (item === 'plain') list.hasPlain = true;
    else if (item === 'claim') list.claim = at;
    else if (item === 'ticked-claim') list.tickedClaim = at;
  }

  /** What is open in an item is open in the lists that hold it. */
  private markOpen(): void {
    for (const list of this.byIndent) if (list !== undefined) list.isOpen = true;
  }

  /** Another plain item of this list would say nothing new. */
  isPlain(indent: number, mark: string): boolean {
    const list = this.byIndent[indent];
    return this.byIndent.length === indent + 1 && list?.mark === mark && list.hasPlain;
  }

  get areThere(): boolean {
    return this.byIndent.length > 0;
  }

  /** The lists of this indent and deeper are over. */
  close(from = 0): void {
    if (this.byIndent.length <= from) return;
    for (const list of this.byIndent.splice(from)) {
      if (list === undefined) continue;
      const { isOpen, isAnnounced, hasPlain, claim, tickedClaim } = list;
      if (claim >= 0) this.settle(claim, !isOpen && !isAnnounced && !hasPlain);
      if (tickedClaim >= 0) this.settle(tickedClaim, !isOpen);
    }
  }
}
