// A parent to be killed: runs the fake agent named on its command line and prints each event as a line of JSON.
import { minimalEnvironment } from '../../src/processes/limits.ts';
import { runProcess } from '../../src/processes/spawn.ts';

const [directory = '.', containment = 'namespace', command = 'true', ...args] = process.argv.slice(2);
const run = runProcess({
  command,
  args,
  directory,
  ...(containment === 'group' || containment === 'recorded' ? { containment } : {}),
  ...(containment === 'confined' ? { confinement: { hidden: [], readOnly: [], writable: [] } } : {}),
  environment: minimalEnvironment(process.env, []),
  input: '',
  timeMsMax: 60_000,
  stop: new AbortController().signal,
});
for await (const event of run) console.log(JSON.stringify(event));
