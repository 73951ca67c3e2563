// The entry of `ralph`: parses the command line and loads only the command that was asked for.
import { UsageError } from '../text/errors.ts';
import { flushOutput, folded, guardOutput } from './terminal.ts';

async function main(words: readonly string[]): Promise<number> {
  const { runProgram } = await import('./program.ts');
  return runProgram(words);
}

const say = (text: string): void => void process.stderr.write(`${folded(text, process.stderr)}\n`);

function complain(error: unknown): number {
  const debug = process.argv.includes('--debug');
  if (error instanceof UsageError) {
    say(`ralph: ${error.message}${error.hint === '' ? '' : `\n  ${error.hint}`}`);
    if (debug) process.stderr.write(`${error.stack}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (debug ? error.stack : `${error.name}: ${error.message}`) : String(error);
  say(
    `ralph: internal error, sorry. ${text}\n  Nothing recorded is lost; running the same command again resumes. --debug shows more.`,
  );
  return 1;
}

// Crash-only (F15): what we did not foresee ends the process, and the next start resumes from the ledger.
process.on('uncaughtException', error => process.exit(complain(error)));
process.on('unhandledRejection', error => process.exit(complain(error)));
guardOutput();

// No await out here: the bundle is CommonJS, which starts sooner and knows none.
void main(process.argv.slice(2))
  .catch(complain)
  .then(async code => {
    await flushOutput();
    process.exit(code);
  });
