// Values and their look: random text, what only stands for a value, and what tells a key from a word.

/** Bits per character. */
export function entropy(text: string): number {
  const counts = new Uint16Array(0x100);
  for (let at = 0; at < text.length; at += 1) counts[text.charCodeAt(at) & 0xff]! += 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

export const camelCase = /^[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*$/;

/** Random text changes between small, capital and digit at every second character; a camel-case name does not. */
export function looksRandom(text: string): boolean {
  if (camelCase.test(text)) return false;
  const digits = text.match(/[0-9]/g)?.length ?? 0;
  if (digits < 3 && !/[A-Z]/.test(text)) return false;
  const changes = text.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  if (digits < 3 && changes < text.length * 0.33) return false;
  return entropy(text) >= Math.min(3, Math.log2(text.length) * 0.85);
}

/** Two digits, or capitals among small letters: no word of a text. */
export const telling = (secret: string): boolean =>
  (secret.match(/[0-9]/g)?.length ?? 0) > 1 ||
  (/[a-z][A-Z]/.test(secret) && /[A-Z][a-z]/.test(secret)) ||
  /^[A-Z0-9-]{14,}$/.test(secret);
export const hasBoth = (secret: string): boolean => /[0-9]/.test(secret) && /[A-Za-z]/.test(secret);
export const mixed = (secret: string): boolean => /[0-9=]/.test(secret) && /[a-z]/.test(secret) && /[A-Z]/.test(secret);
export const literalPassword = (secret: string): boolean =>
  !/^(?:\$|%[({]|\{|\[|<|\*+$|x+$|\.+$|(?:my|your|db|the)?[-_]?(?:pass|password|pwd|passwd|secret|token)$)/i.test(
    secret,
  );
export const flagPassword = (secret: string): boolean =>
  /[0-9]|[a-z][A-Z]/.test(secret) && literalPassword(secret) && !/[/.\\]\w+$|^[0-9]{1,5}$/.test(secret);
/** What stands behind a verb or a short flag: long and random, no name of a host, a file or a branch. */
export const randomRun = (secret: string): boolean => looksRandom(secret) && !/[a-z]{4}-[a-z]{4}/.test(secret);
/** Of `-u a:b`; two numbers are ids, and ports. */
export const userPassword = (secret: string): boolean =>
  literalPassword(secret) && !/^[0-9.]+,/.test(secret) && /[^0-9a-z_-]|[0-9].*[a-z]|[a-z].*[0-9]/.test(secret);
