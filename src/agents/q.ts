// Amazon Q Developer's CLI, the elder of Kiro's, by its manual and its public source: plain text out, its end is its exit.
import type { AgentCli, Launch, LaunchOrder } from '../ports/agent.ts';
import { plainAnswer, type Transcript } from '../process/plain-answer.ts';
import { networkVariables } from '../process/provider-variables.ts';

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
  fixed: { Q_DISABLE_TELEMETRY: '1' },
  login: {
    variables: [],
    files: [], // its login is a row of a database that is there without one too
    command: 'q login',
    missing: ['error: You are not logged in', 'You are not logged in'],
  },
  launch,
  reader: () => plainAnswer(transcript),
};

const transcript: Transcript = {
  complaints: [
    { start: 'you are not logged in', kind: 'auth' },
    { start: 'error: you are not logged in', kind: 'auth' },
    { start: 'monthly request limit reached', kind: 'billing' },
    { start: "the model you've selected is temporarily unavailable", kind: 'overloaded' },
    { start: 'amazon q is having trouble responding' },
  ],
};

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  if (order.opening !== undefined) {
    const args = ['chat', '--trust-all-tools', ...model, ...order.args, order.opening];
    return { args, input: '' };
  }
  return { args: ['chat', '--no-interactive', '--trust-all-tools', ...model, ...order.args], input: order.prompt };
}
