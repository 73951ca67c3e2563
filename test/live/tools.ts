// Calls the tools that an agent offers by what they can do, as each agent names them differently.
import type { OfferedTool, ToolCall } from './dialects/dialect.ts';

const shells = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'run_shell_command', 'local_shell'];
const writers = ['Write', 'write', 'write_file'];

/** Some tools want to be told why. */
const reasons = ['description'];

export function shellCall(tools: readonly OfferedTool[], command: string): ToolCall {
  const tool = tools.find(one => shells.includes(one.name));
  if (tool === undefined) throw new Error(`no shell among ${tools.map(one => one.name).join(', ')}`);
  const wanted = ['command', 'cmd'].find(name => tool.parameters.includes(name));
  const spoken: Record<string, unknown> = {};
  if (wanted !== undefined) spoken[wanted] = command;
  else spoken['command'] = ['bash', '-lc', command];
  for (const name of reasons) if (tool.parameters.includes(name)) spoken[name] = 'what the story asks for';
  return { name: tool.name, arguments: spoken };
}

/** By the agent's own writing tool where it has one, else by its shell. */
export function writeCall(tools: readonly OfferedTool[], path: string, content: string): ToolCall {
  const tool = tools.find(one => writers.includes(one.name));
  const place = ['file_path', 'filePath', 'path'].find(name => tool?.parameters.includes(name));
  if (tool === undefined || place === undefined) {
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
    return shellCall(tools, `mkdir -p '${folder}' && cat > '${path}' <<'END'\n${content}END`);
  }
  return { name: tool.name, arguments: { [place]: path, content } };
}
