// Messages as JSON: with `--json` every command prints one object, also one that has no data of its own to print.
import type { Context } from '../context.ts';
import { codeOf } from './complaint.ts';
import { jsonText } from './json.ts';

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

/** `hasData`: what the command prints is its own JSON; else it belongs to what was said. */
export async function withJson(
  given: Context,
  hasData: boolean,
  work: (context: Context) => Promise<number>,
): Promise<number> {
  const said: string[] = [];
  let isPrinted = false;
  const keep = (text: string): void => void said.push(...linesOf(text));
  const data = (text: string): void => {
    isPrinted = true;
    given.out(text);
  };
  const say = (text: string): void => {
    keep(text);
    given.say(text);
  };
  const print = hasData ? data : keep;
  const exitCode = await work({ ...given, out: print, print, say });
  if (isPrinted) return exitCode;
  const [message = '', ...hints] = said.map(line => line.replace(/^ralph: /, ''));
  const error = { code: codeOf(exitCode), message, hint: hints.join(' ') };
  given.out(jsonText(exitCode === 0 ? { exitCode, said } : { exitCode, error }));
  return exitCode;
}
