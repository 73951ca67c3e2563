// Kiro's CLI, by its manual and by what its users report: plain text out, and an exit code 0 that may mean no login.
import type { AgentCli } from '../agent.ts';
import { networkVariables } from '../launch.ts';
import { chatLaunch, plainReader } from './q.ts';

/**
 * Manual: kiro.dev/docs/cli/headless and /reference/exit-codes. It reads stdin only when there is no prompt among the
 * arguments (kirodotdev/Kiro#10069) and colours its output in a pipe too (#8352).
 */
export const kiro: AgentCli = {
  name: 'kiro',
  program: 'kiro-cli',
  proof: 'documented',
  can: { steer: false, resume: false, interactive: true, usage: false },
  install: 'see https://kiro.dev/docs/cli',
  cost: 'none',
  namesModel: false,
  vendor: 'anthropic',
  chosenFor: ['work'],
  beware:
    'It was never run by us: it cannot be installed where this was built. It prints plain text, and exit code 0 may mean that nobody is logged in.',
  environment: [...networkVariables, 'KIRO_API_KEY'],
  fixedEnvironment: { KIRO_DISABLE_TELEMETRY: '1', Q_DISABLE_TELEMETRY: '1', KIRO_NO_AUTO_UPDATE: '1' },
  login: {
    variables: ['KIRO_API_KEY'],
    files: [], // its login is a row of a database that is there without one too
    command: 'kiro-cli login',
    missing: ['Authentication failed', 'error: You are not logged in', 'You are not logged in'],
  },
  launch: chatLaunch,
  reader: () =>
    plainReader([{ start: 'authentication failed', kind: 'auth' }, { start: 'kiro is having trouble responding' }]),
};
