// A scratch project with programs of its own on PATH: fake agents that speak as the real ones do.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inScratch, pinnedNode, prd, type Scratch } from './kit.ts';

/** A program that speaks as claude does: it claims the task, or does what the test says. */
export const fakeClaude = (turn = `say('Task ' + process.env.RALPH_TASK + ' complete')`): string => `#!${pinnedNode}
const print = event => process.stdout.write(JSON.stringify(event) + '\\n');
if (process.argv.includes('--version')) {
  const sawTooMuch = process.env.ANTHROPIC_API_KEY !== undefined || process.env.HOME.endsWith('/user');
  console.log(sawTooMuch ? '0.0.1' : '9.8.7 (Fake Code)');
  process.exit(0);
}
const model = process.argv[process.argv.indexOf('--model') + 1] ?? 'claude-sonnet-4-5';
const usage = { inputTokens: 1230, outputTokens: 130, cacheReadInputTokens: 3100, cacheCreationInputTokens: 300, costUSD: 0.007695, contextWindow: 200000 };
const say = text => {
  print({ type: 'assistant', message: { id: 'm1', role: 'assistant', content: [{ type: 'text', text }] } });
  print({ type: 'result', subtype: 'success', is_error: false, result: text, total_cost_usd: 0.007695, session_id: 's', modelUsage: { [model]: usage } });
  process.exit(0);
};
const refuse = (status, text) => {
  print({ type: 'result', subtype: 'success', is_error: true, terminal_reason: 'api_error', api_error_status: status, result: text, session_id: 's', modelUsage: {} });
  process.exit(1);
};
let heard = '';
process.stdin.on('data', bytes => {
  heard += bytes;
  if (!heard.includes('\\n')) return;
  print({ type: 'system', subtype: 'init', session_id: 's', model });
  ${turn};
});
`;

export interface Workshop extends Scratch {
  readonly bin: string;
  /** Puts a program on PATH. */
  readonly install: (name: string, text: string, mode?: number) => void;
  /** A PATH with our programs and the system's. */
  readonly path: { readonly PATH: string };
  /** A PATH with nothing but our programs. */
  readonly bare: { readonly PATH: string };
}

export const inWorkshop = (work: (place: Workshop) => Promise<void>) => () =>
  inScratch(async place => {
    const bin = join(place.root, 'bin');
    mkdirSync(bin);
    place.put('PRD.json', prd());
    await work({
      ...place,
      bin,
      install(name, text, mode = 0o755) {
        writeFileSync(join(bin, name), text);
        chmodSync(join(bin, name), mode);
      },
      path: { PATH: `${bin}:/usr/bin:/bin` },
      bare: { PATH: bin },
    });
  });

export const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
