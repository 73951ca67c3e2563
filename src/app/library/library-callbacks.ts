// What a program's own functions throw, now or later, is its mistake: it is told, and never ends a loop or the process.
import { stripControls, takeCharacters } from '../../text/text.ts';

const reasonCharsMax = 500;

/** Anything can be thrown, also what cannot be shown. */
export function reasonOf(error: unknown): string {
  try {
    return takeCharacters(stripControls(String(error instanceof Error ? error.message : error)), reasonCharsMax);
  } catch {
    return 'something that cannot be shown';
  }
}

/** `failed` hears of what is thrown, and of a promise that is rejected. */
export function guarded<Given extends readonly unknown[]>(
  callback: (...given: Given) => unknown,
  failed: (reason: string, ...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    const complain = (error: unknown): void => failed(reasonOf(error), ...given);
    try {
      const later = callback(...given);
      if (later !== undefined) Promise.resolve(later).catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}
