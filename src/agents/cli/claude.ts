// Claude Code: prompt and notes as lines of JSON on its stdin, which stays open so that it can be steered and interrupted.
import type { AgentCli, Launch, LaunchOrder } from '../agent.ts';
import { networkVariables } from '../provider-variables.ts';
import { claudeReader } from './reader.ts';

/** Shapes and traps: AGENT-CLIS, claude 2.1.325. */
export const claude: AgentCli = {
  name: 'claude',
  program: 'claude',
  proof: 'live',
  can: { steer: true, resume: false, interactive: true, usage: true },
  statesCost: true,
  environment: [
    ...networkVariables,
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_SMALL_FAST_MODEL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
  ],
  fixed: {
    CLAUDE_CODE_MAX_RETRIES: '1', // it tries ten times by default, for minutes
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  },
  login: {
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
    command: 'claude /login',
  },
  systemBy: ['--append-system-prompt', '--system-prompt'],
  launch,
  reader: () => claudeReader(),
  steering: { say: userLine, interrupt: () => interruptLine },
};

const interruptLine = `${JSON.stringify({
  type: 'control_request',
  request_id: 'ralph-interrupt',
  request: { subtype: 'interrupt' },
})}\n`;

const systemFile = 'system.md';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const always = ['--dangerously-skip-permissions', ...model];
  const environment: Record<string, string> = order.isRoot ? { IS_SANDBOX: '1' } : {}; // as root it refuses that flag otherwise
  if (order.opening !== undefined) {
    return { args: [...always, ...order.args, order.opening], input: '', environment };
  }
  const headless = ['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  const { system } = order;
  const more = system === undefined ? [] : ['--append-system-prompt-file', `${order.folder}/${systemFile}`];
  const args = [...headless, '--include-partial-messages', ...always, ...more, ...order.args];
  const files = system === undefined ? undefined : { [systemFile]: system };
  return { args, input: userLine(order.prompt), files, environment };
}

function userLine(text: string): string {
  const message = { role: 'user', content: [{ type: 'text', text }] };
  return `${JSON.stringify({ type: 'user', message, parent_tool_use_id: null, session_id: '' })}\n`;
}
