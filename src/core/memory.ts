// What a fresh context is told of the past: four layers, each entry and the whole bounded, the stable one hashed.
import { takeCharacters } from '../text/text.ts';

/** The three moving layers of the context; the stable one is the prompt itself. */
export interface Memory {
  readonly recent: readonly string[];
  readonly errors: readonly string[];
  readonly successes: readonly string[];
}

export const entryCharsMax = 500; // seed 001
const recentMax = 5;
const errorsMax = 5;
const successesMax = 3;

const keep = (entries: readonly string[], entry: string, most: number): readonly string[] =>
  entry === '' ? entries : [...entries, takeCharacters(entry, entryCharsMax)].slice(-most);

export function remember(memory: Memory, layer: keyof Memory, entry: string): Memory {
  const most = layer === 'successes' ? successesMax : layer === 'errors' ? errorsMax : recentMax;
  return { ...memory, [layer]: keep(memory[layer], entry.trim(), most) };
}

const titles: Readonly<Record<keyof Memory, string>> = {
  errors: 'What went wrong before',
  successes: 'What worked before',
  recent: 'What the last iterations said',
};

/** Agent text is data: quoted line by line, so that nothing in it can pass for our own words. */
export function quoted(text: string): string {
  return text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n');
}

/** Errors matter most, then what worked, then what was said; the newest of each come first to stay. */
export function composeMemory(memory: Memory, charsMax: number): string {
  const sections: string[] = [];
  let left = charsMax;
  for (const layer of ['errors', 'successes', 'recent'] as const) {
    const heading = `### ${titles[layer]}`;
    const kept: string[] = [];
    let room = left - heading.length - 2;
    for (const entry of [...memory[layer]].reverse()) {
      const text = quoted(entry);
      if (text.length + 2 > room) break;
      kept.unshift(text);
      room -= text.length + 2;
    }
    if (kept.length === 0) continue;
    left = room;
    sections.push(`${heading}\n\n${kept.join('\n\n')}`);
  }
  return sections.join('\n\n');
}

/** FNV-1a: says whether the stable prefix changed (and so whether a provider's prompt cache still fits). */
export function prefixHash(stable: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < stable.length; at += 1) {
    hash = Math.imul(hash ^ stable.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
