// Redacts output as it arrives: what could still become a secret is held back until the line or the key block ends.
import type { Redact } from './redactor.ts';
import { findPem } from './scan.ts';

export interface StreamRedactor {
  /** Returns what is now safe to write. */
  readonly push: (chunk: string) => string;
  readonly end: () => string;
}

/** A longer line is flushed in parts, so that a flood without line ends stays bounded. */
const heldCharsMax = 65_536;
const overlapChars = 4_096;
const bodyCharsMin = 512;

/** Where the last private key begins that has not ended before `lineAt`; `lineAt` when there is none. */
function pemOrLineAt(text: string, lineAt: number): number {
  const at = text.lastIndexOf('-----BEGIN ', lineAt);
  if (at < 0 || at >= lineAt) return lineAt;
  // Too little to tell a key from a mention yet.
  if (lineAt - at < bodyCharsMin) return at;
  return (findPem(text, at)?.end ?? 0) > lineAt || findPem(text.slice(0, lineAt), at)?.closed === false ? at : lineAt;
}

/** A cut that no secret straddles: both halves redacted apart read as the whole; all of it when there is no such cut. */
function cutOf(text: string, redact: Redact): number {
  const whole = redact(text);
  for (let back = overlapChars; back <= overlapChars * 4; back += overlapChars / 4) {
    const cut = text.length - back;
    if (redact(text.slice(0, cut)) + redact(text.slice(cut)) === whole) return cut;
  }
  return text.length;
}

export function makeStreamRedactor(redact: Redact): StreamRedactor {
  let held = '';
  return {
    push: chunk => {
      held += chunk;
      if (!chunk.includes('\n') && held.length <= heldCharsMax) return '';
      let cut = pemOrLineAt(held, held.lastIndexOf('\n') + 1);
      if (held.length - cut > heldCharsMax) cut = cutOf(held, redact);
      const out = redact(held.slice(0, cut));
      held = held.slice(cut);
      return out;
    },
    end: () => {
      const out = redact(held);
      held = '';
      return out;
    },
  };
}
