// Gives tasks that have no id of their own one that is made from their text: it stays when lines are put in above.

const slugCharsMax = 40;

/** FNV-1a, for telling texts apart, not for safety. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Readable where the text is; a short hash stands for what the words alone would lose. */
function textId(text: string): string {
  const plain = text.trim().replace(/\s+/g, ' ');
  const slug = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const isWhole = slug.length <= slugCharsMax && !/[^\u0000-\u007f]/.test(plain);
  if (isWhole && slug !== '') return slug;
  const cut = slug.slice(0, slugCharsMax).replace(/-[^-]*$/, '');
  return `${cut === '' ? 'task' : cut}-${shortHash(plain)}`;
}

/** Ids for one document: explicit ones are taken first, so that a made one never clashes with them. */
export class IdGiver {
  private readonly taken: Set<string>;
  private readonly counts = new Map<string, number>();

  constructor(explicit: Iterable<string>) {
    this.taken = new Set([...explicit].map(id => id.toLowerCase()));
  }

  /** The second of two equal texts gets `-2`. */
  idFor(text: string): string {
    const base = textId(text);
    let count = this.counts.get(base) ?? 0;
    let id: string;
    do {
      count += 1;
      id = count === 1 ? base : `${base}-${count}`;
    } while (this.taken.has(id));
    this.counts.set(base, count);
    this.taken.add(id);
    return id;
  }
}
