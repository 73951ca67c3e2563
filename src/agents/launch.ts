// Parts of a launch that agents share: names of environment variables, the model flag, the prompt and the system text.
import type { LaunchOrder } from './agent.ts';
import type { Assignment } from './performer.ts';

/** The way through the network, for agents of any provider. */
export const networkVariables: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
];

/** Keys that only model providers give: those of a cloud, which open more than models, must be allowed by the user. */
export const providerKeys: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'OPENROUTER_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'AI_GATEWAY_API_KEY',
  'CEREBRAS_API_KEY',
  'DEEPSEEK_API_KEY',
  'FIREWORKS_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'TOGETHER_API_KEY',
  'XAI_API_KEY',
  'ZAI_API_KEY',
];

/** The environment of one iteration: what it may see, and which iteration it is. */
export function iterationEnvironment(
  allowed: Readonly<Record<string, string>>,
  { environment, loop, task, iteration }: Assignment,
): Readonly<Record<string, string>> {
  return { ...allowed, ...environment, RALPH_LOOP: loop, RALPH_TASK: task, RALPH_ITERATION: String(iteration) };
}

/** The system text and the prompt as one text, for an agent that has no other way to take the former. */
export function fullPrompt({ system, prompt }: Pick<Assignment, 'system' | 'prompt'>): string {
  return system === undefined || system === '' ? prompt : `${system}\n\n${prompt}`;
}

export const modelArgs = ({ model }: LaunchOrder): readonly string[] => (model === undefined ? [] : ['--model', model]);

const systemFileName = 'system.md';

/** The system text as a file in the private folder, for an agent that takes the path of one. */
export function systemFile({ system, folder }: LaunchOrder) {
  if (system === undefined) return undefined;
  return { path: `${folder}/${systemFileName}`, files: { [systemFileName]: system } };
}
