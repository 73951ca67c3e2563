// OpenAI's /responses, which codex speaks.
import {
  type Asked,
  billed,
  type Dialect,
  event,
  halves,
  json,
  listOf,
  type OfferedTool,
  parametersOf,
  type Said,
  stream,
  textOf,
} from './dialect.ts';
import { refuseLikeOpenAi } from './openai-chat.ts';

const outputTypes = ['function_call_output', 'custom_tool_call_output', 'local_shell_call_output'];

/** Those of a namespace are told inside it. */
function toolsIn(tool: Readonly<Record<string, unknown>>): readonly OfferedTool[] {
  const name = textOf(tool['name']);
  if (tool['type'] !== 'namespace') return [{ name, parameters: parametersOf(tool['parameters']) }];
  return listOf(tool['tools'])
    .flatMap(toolsIn)
    .map(one => ({ ...one, namespace: name }));
}

function read(_path: string, body: Readonly<Record<string, unknown>>): Asked {
  const items = typeof body['input'] === 'string' ? [] : listOf(body['input']);
  const users = items.filter(item => item['role'] === 'user');
  const words = users.map(item =>
    typeof item['content'] === 'string'
      ? item['content']
      : listOf(item['content'])
          .map(part => textOf(part['text']))
          .join('\n'),
  );
  return {
    model: textOf(body['model']),
    streams: body['stream'] === true,
    tools: listOf(body['tools']).flatMap(toolsIn),
    prompt: [textOf(body['input']), ...words].join('\n'),
    turn: items.filter(item => outputTypes.includes(textOf(item['type']))).length,
  };
}

/** Here, too, the input includes what came from the cache. */
const usage = {
  input_tokens: billed.input + billed.cacheRead,
  input_tokens_details: { cached_tokens: billed.cacheRead },
  output_tokens: billed.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: billed.input + billed.cacheRead + billed.output,
};

function say(asked: Asked, said: Said, id: string) {
  const isCall = 'call' in said;
  const item = isCall
    ? {
        type: 'function_call',
        id: `fc_${id}`,
        call_id: `call_${id}`,
        name: said.call.name,
        namespace: said.call.namespace,
        arguments: JSON.stringify(said.call.arguments),
      }
    : {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said.text, annotations: [] }],
      };
  const response = { id: `resp_${id}`, object: 'response', model: asked.model, output: [item], usage };
  if (!asked.streams) return json(200, { ...response, status: 'completed' });
  const deltas = isCall
    ? []
    : halves(said.text).map(delta => ({
        type: 'response.output_text.delta',
        item_id: item.id,
        output_index: 0,
        content_index: 0,
        delta,
      }));
  const events: readonly { readonly type: string }[] = [
    { type: 'response.created', ...{ response: { id: response.id, object: 'response', status: 'in_progress' } } },
    {
      type: 'response.output_item.added',
      ...{ output_index: 0, item: isCall ? { ...item, arguments: '' } : { ...item, content: [] } },
    },
    ...deltas,
    { type: 'response.output_item.done', ...{ output_index: 0, item } },
    { type: 'response.completed', ...{ response: { ...response, status: 'completed' } } },
  ];
  return stream(events.map(one => event(one, one.type)));
}

export const openAiResponses: Dialect = {
  name: 'openai-responses',
  serves: path => path.endsWith('/responses'),
  read,
  say,
  refuse: refuseLikeOpenAi,
  tooLong: {
    status: 400,
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    code: 'context_length_exceeded',
  },
};
