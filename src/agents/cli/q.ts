// Amazon Q Developer's CLI, the elder of Kiro's, by its manual and its public source: plain text out, its end is its exit.
import type { AgentCli } from '../agent.ts';
import { networkVariables } from '../launch.ts';
import { chatLaunch, plainAnswer } from '../plain-answer.ts';

/**
 * Source: aws/amazon-q-developer-cli, the chat command: what comes on stdin is added to the prompt, and the answer goes
 * to stdout when it is not interactive (#878). Without a login it ends with code 1 and says so on stderr.
 */
export const q: AgentCli = {
  name: 'q',
  program: 'q',
  proof: 'documented',
  can: { steer: false, resume: false, interactive: true, usage: false },
  environment: [...networkVariables, 'AMAZON_Q_SIGV4'],
  fixedEnvironment: { Q_DISABLE_TELEMETRY: '1' },
  login: {
    variables: [],
    files: [], // its login is a row of a database that is there without one too
    command: 'q login',
    missing: ['error: You are not logged in', 'You are not logged in'],
  },
  launch: chatLaunch,
  reader: () => plainAnswer([{ start: 'amazon q is having trouble responding' }]),
};
