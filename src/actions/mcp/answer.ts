// What a tool's answer says as text: bounded and clean, so that 10 MB of it break neither the memory nor the ledger (F63).
import type { CallToolResult } from '@modelcontextprotocol/client';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { fieldsOf, textOf } from '../../text/fields.ts';

const messageCharsMax = 100_000;

export function wordsOf(result: CallToolResult): string {
  const pieces: string[] = [];
  let chars = 0;
  for (const block of result.content) {
    if (chars >= messageCharsMax) break;
    const piece = blockText(block);
    chars += piece.length;
    pieces.push(piece.slice(0, messageCharsMax + 1)); // one more, so that the cut is seen
  }
  if (pieces.length === 0 && result.structuredContent !== undefined)
    pieces.push(JSON.stringify(result.structuredContent) ?? '');
  return cut(stripControls(cut(pieces.join('\n'))));
}

function blockText(block: CallToolResult['content'][number]): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.uri}]`;
  if (block.type !== 'resource') return `[${block.type}: ${block.mimeType}]`;
  return textOf(fieldsOf(block.resource)['text']) || `[${block.resource.uri}]`;
}

function cut(text: string): string {
  if (text.length <= messageCharsMax) return text;
  const marker = '\n[… cut]';
  return takeCharacters(text, messageCharsMax - marker.length) + marker;
}
