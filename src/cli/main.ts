// The entry of `ralph`: parses the command line and loads only the command that was asked for.
import { complain } from './output/complaint.ts';
import { flushOutput, guardOutput } from './terminal.ts';

async function main(words: readonly string[]): Promise<number> {
  const { runProgram } = await import('./program.ts');
  return runProgram(words);
}

const complained = (error: unknown): number => complain(error, process.argv.slice(2));

// Crash-only (F15): what we did not foresee ends the process, and the next start resumes from the ledger.
process.on('uncaughtException', error => process.exit(complained(error)));
process.on('unhandledRejection', error => process.exit(complained(error)));
guardOutput();

// No await out here: the bundle is CommonJS, which starts sooner and knows none.
void main(process.argv.slice(2))
  .catch(complained)
  .then(async code => {
    await flushOutput();
    process.exit(code);
  });
