// Hears Claude Code's text once, although it comes in pieces and then whole; and only that of the main thread.
import type { Heard } from '../agent.ts';
import { detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import { tailOf } from '../../processes/tail.ts';

export interface Words {
  /** A part of a message that is being written. */
  piece(id: unknown, piece: Fields): readonly Heard[];
  /** A whole block: text that was not heard in pieces, and tools. */
  whole(event: Fields, isOwn: boolean): readonly Heard[];
  /** The last message that has text. */
  last(): string;
}

const nothing: readonly Heard[] = Object.freeze([]);
const messageCharsMax = 1_000_000;

export function hearWords(): Words {
  let message = tailOf(messageCharsMax);
  let messageId: unknown;
  /** The message whose text came in pieces: it comes whole once more. */
  let heardId: unknown;
  let isTextOpen = false;

  function say(id: unknown, text: string): void {
    if (id !== messageId) message = tailOf(messageCharsMax);
    messageId = id;
    message.add(text);
  }

  return {
    last: () => message.text().trimEnd(),
    piece(id, piece) {
      const text = piece['type'] === 'content_block_delta' ? textOf(fieldsOf(piece['delta'])['text']) : '';
      if (text !== '') {
        heardId = id;
        isTextOpen = !text.endsWith('\n');
        say(id, text);
        return [{ type: 'text', text }];
      }
      if (!isTextOpen || piece['type'] !== 'content_block_stop') return nothing;
      isTextOpen = false;
      message.add('\n');
      return [{ type: 'text', text: '\n' }];
    },
    whole(event, isOwn) {
      const written = fieldsOf(event['message']);
      const id = written['id'];
      const isNew = event['parent_tool_use_id'] == null && (id === undefined || id !== heardId);
      const heard: Heard[] = [];
      for (const block of listOf(written['content']).map(fieldsOf)) {
        if (block['type'] === 'tool_use') {
          heard.push({ type: 'tool', name: textOf(block['name']), detail: detailOf(block['input']), phase: 'began' });
        } else if (block['type'] === 'text' && isNew) {
          const text = `${textOf(block['text'])}\n`;
          if (!isOwn) say(id ?? block, text);
          heard.push({ type: 'text', text });
        }
      }
      return heard;
    },
  };
}
