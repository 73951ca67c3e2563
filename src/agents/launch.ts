// Parts of a launch that agents share: names of environment variables, the model flag, the prompt and the system text.
import type { LaunchOrder, ToolOrder } from './agent.ts';
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

/** Account, address, models and limits, where Anthropic itself is asked. */
export const anthropicVariables: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
  'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
  'MAX_THINKING_TOKENS',
  'API_TIMEOUT_MS',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CONFIG_DIR',
];

/** What a cloud that serves models needs, all of it: with a part of them every request would fail. */
export const bedrockVariables: readonly string[] = [
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_PROFILE',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_BEARER_TOKEN_BEDROCK',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'ANTHROPIC_BEDROCK_BASE_URL',
  'ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION',
  'CLAUDE_CODE_SKIP_BEDROCK_AUTH',
];

export const vertexVariables: readonly string[] = [
  'CLOUD_ML_REGION',
  'ANTHROPIC_VERTEX_PROJECT_ID',
  'ANTHROPIC_VERTEX_BASE_URL',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GOOGLE_CLOUD_PROJECT',
  'GCLOUD_PROJECT',
  'CLOUDSDK_CONFIG',
  'CLAUDE_CODE_SKIP_VERTEX_AUTH',
];

export const foundryVariables: readonly string[] = [
  'ANTHROPIC_FOUNDRY_API_KEY',
  'ANTHROPIC_FOUNDRY_RESOURCE',
  'ANTHROPIC_FOUNDRY_BASE_URL',
  'AZURE_CLIENT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_TENANT_ID',
  'CLAUDE_CODE_SKIP_FOUNDRY_AUTH',
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

/** Variables of the server by name, where an agent fills them in itself: their values stand in no file and no argument. */
export const named = ({ environment }: Pick<ToolOrder, 'environment'>, form: (name: string) => string) =>
  Object.fromEntries(Object.keys(environment).map(name => [name, form(name)]));

const systemFileName = 'system.md';

/** The system text as a file in the private folder, for an agent that takes the path of one. */
export function systemFile({ system, folder }: LaunchOrder) {
  if (system === undefined) return undefined;
  return { path: `${folder}/${systemFileName}`, files: { [systemFileName]: system } };
}
