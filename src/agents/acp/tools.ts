// Follows the tools of an ACP session: each is told once, with what it does, and ends with its turn at the latest.
import type { Heard } from '../agent.ts';
import { detailOf, type Fields, textOf } from '../../text/fields.ts';

export interface Tools {
  /** A word about a tool: `tool_call`, `tool_call_update`, or the one in a request for permission. */
  tell(call: Fields): readonly Heard[];
  /** Something else happened: no tool that is known waits any longer for a better description. */
  announceAll(): readonly Heard[];
  endAll(): readonly Heard[];
  isAtWork(): boolean;
}

interface Tool {
  readonly name: string;
  readonly detail: string;
  announced: boolean;
}

const detailCharsMax = 500;

/** `onNew` is called for every tool that was not known before. */
export function watchTools(onNew: () => void): Tools {
  const open = new Map<string, Tool>();
  const seen = new Set<string>();

  function announce(tool: Tool): readonly Heard[] {
    if (tool.announced) return [];
    tool.announced = true;
    return [{ type: 'tool', name: tool.name, detail: tool.detail.slice(0, detailCharsMax), phase: 'began' }];
  }

  function end(id: string, tool: Tool): readonly Heard[] {
    open.delete(id);
    return [...announce(tool), { type: 'tool', name: tool.name, detail: '', phase: 'ended' }];
  }

  return {
    tell(call) {
      const id = textOf(call['toolCallId']);
      const known = open.get(id);
      const isNew = !seen.has(id);
      if (id === '' || (known === undefined && !isNew)) return []; // late words about one that has ended
      const title = textOf(call['title']);
      const tool: Tool = {
        name: known?.name || textOf(call['name']) || textOf(call['kind']) || title || 'tool',
        detail: detailOf(call['rawInput']) || title || known?.detail || '',
        announced: known?.announced ?? false,
      };
      open.set(id, tool);
      if (isNew) {
        seen.add(id);
        onNew();
      }
      const status = textOf(call['status']);
      if (status === 'completed' || status === 'failed') return end(id, tool);
      // The first word about a pending one is often empty of detail, so it is told with the second.
      return isNew && status !== 'in_progress' ? [] : announce(tool);
    },
    announceAll: () => [...open.values()].flatMap(announce),
    isAtWork: () => open.size > 0,
    endAll: () => [...open].flatMap(([id, tool]) => end(id, tool)),
  };
}
