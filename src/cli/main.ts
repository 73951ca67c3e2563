// The entry of `ralph`: parses the command line and loads only the command that was asked for.
import { complain } from './output/complaint.ts';
import { flushOutput, guardOutput } from './terminal.ts';

const otherwise = ['--help', '-h', '--count'];

/** At the end of every turn in every session: one without a loop waits for nothing else to be loaded. */
async function isIdle([group, name, ...flags]: readonly string[]): Promise<boolean> {
  if (group !== 'hook' || name !== 'stop' || flags.some(flag => otherwise.includes(flag))) return false;
  return (await import('../hook/idle.ts')).isIdleTurn(process.env);
}

async function start(words: readonly string[]): Promise<number> {
  if (await isIdle(words)) process.exit(0);
  guardOutput();
  const { runProgram } = await import('./program.ts');
  return runProgram(words);
}

const complained = (error: unknown): number => complain(error, process.argv.slice(2));

// Crash-only (F15): what we did not foresee ends the process, and the next start resumes from the ledger.
process.on('uncaughtException', error => process.exit(complained(error)));
process.on('unhandledRejection', error => process.exit(complained(error)));

// No await out here: the bundle is CommonJS, which starts sooner and knows none.
void start(process.argv.slice(2))
  .catch(complained)
  .then(async code => {
    await flushOutput();
    process.exit(code);
  });
