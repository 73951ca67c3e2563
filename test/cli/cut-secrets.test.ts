// Output is redacted before it is cut: of a token whose beginning falls to the cut nothing is left, wherever the cut lies.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inScratch, prd, type Scratch } from './kit.ts';

const tail = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
/** How much of the token is before the cut; the rest is kept in its place. */
const spares = [0, 3, 4, 5, 12, 30];

/** Eight characters of it in anything that was stored: the ledger, its spool, reports, prompts, files beside the document. */
function leaked(place: Scratch): readonly string[] {
  const parts = Array.from({ length: tail.length - 7 }, (_none, at) => tail.slice(at, at + 8));
  return [place.home, place.project].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => {
      const path = join(folder, name);
      if (!statSync(path).isFile() || name === 'PRD.json') return false;
      const text = readFileSync(path, 'latin1');
      return parts.some(part => text.includes(part));
    }),
  );
}

/** Outside of everything that is searched. */
const speaking = (chars: number, spare: number): string =>
  `printf 'the token is ghp_${tail} in use\\n'; head -c ${chars - 8 - spare} /dev/zero | tr '\\0' '.'; echo; exit 1\n`;

it.concurrent.each([
  ['a check, of which the last 2,000 characters are kept', 2_000],
  ['an agent, of which the last 4,000 are kept', 4_000],
])('%s', (what, chars) =>
  inScratch(async place => {
    const isCheck = what.startsWith('a check');
    const agent = isCheck ? 'read -r _; echo "Task US-001 complete"' : 'read -r _; sh ../speaks.sh';
    const words = ['--agent-command', agent, '--verify', isCheck ? 'sh ../speaks.sh' : 'true', '--allow-red-start'];
    for (const spare of spares) {
      place.put('PRD.json', prd());
      place.put('../speaks.sh', speaking(chars, spare));
      await place.ralph(['run', 'PRD.json', '--new', ...words, '--max-iterations', '1', '--no-input']);
    }
    expect((await place.ralph(['events', '--json'])).stdout).toContain('....');
    expect(leaked(place)).toEqual([]);
  }),
);
