// Keeps the end of a text that may be endless.

export interface Tail {
  add(text: string): void;
  text(): string;
}

export function tailOf(charsMax: number): Tail {
  const pieces: string[] = [];
  let chars = 0;
  return {
    add(text) {
      pieces.push(text);
      chars += text.length;
      while (pieces.length > 1 && chars - pieces[0]!.length >= charsMax) chars -= pieces.shift()!.length;
    },
    text() {
      const kept = pieces.join('').slice(-charsMax);
      const first = kept.charCodeAt(0);
      return first >= 0xdc00 && first <= 0xdfff ? kept.slice(1) : kept; // half a character says nothing
    },
  };
}
