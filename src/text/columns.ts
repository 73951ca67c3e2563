// Columns of a terminal: East Asian characters and emoji take two, marks that join the character before them none.

/** One column each: ASCII, and the signs that our own sentences use. */
const plain = /^[\t -~·…—–─✓✗→]*$/;

/** Made when the first text needs it: its Unicode classes would cost every start. */
let patterns: { readonly none: RegExp; readonly two: RegExp } | undefined;

function columnsOfCharacter(character: string): number {
  patterns ??= {
    none: /[\p{Mn}\p{Me}\p{Emoji_Modifier}]|[\u200b-\u200d]|\u2060|[\u{e0020}-\u{e007f}]/u,
    two: /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u,
  };
  const point = character.codePointAt(0)!;
  if (point < 0x300 || point === 0xfe0f) return 1; // the sign that makes a letter an emoji makes it wider
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return 1; // two of them are one flag
  if (patterns.none.test(character)) return 0;
  return patterns.two.test(character) ? 2 : 1;
}

export function columnsOf(text: string): number {
  if (plain.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

/** The beginning of `text` that fits, with the marks of its last character. */
export function takeColumns(text: string, columnsMax: number): string {
  if (plain.test(text)) return text.slice(0, Math.max(0, columnsMax));
  let [columns, end] = [0, 0];
  for (const character of text) {
    columns += columnsOfCharacter(character);
    if (columns > columnsMax) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** With spaces up to so many columns. */
export const padColumns = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
