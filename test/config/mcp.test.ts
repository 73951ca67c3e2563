import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ReadMcpServers, readMcpServers } from '../../src/config/mcp.ts';

const folder = mkdtempSync(join(tmpdir(), 'ralph-mcp-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = 'hunter2-very-secret';

async function read(text: string | object, environment: Record<string, string> = {}): Promise<ReadMcpServers> {
  const path = join(folder, 'mcp.json');
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
  return await readMcpServers(path, environment);
}

const one = (server: unknown, name = 'a') => ({ mcpServers: { [name]: server } });

describe('a file of MCP servers', () => {
  it('gives programs and URLs, with comments and variables as people write them', async () => {
    const text = `{
      // mine
      "mcpServers": {
        "email-mcp": {"command": "node", "args": ["\${HERE}/mail.mjs", "$HOME"], "env": {"TOKEN": "\${MAIL_TOKEN}"},
          "timeout": "30s", "idempotent": ["read_mail"], "cwd": "\${NOWHERE:-/srv}"},
        "crm": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer \${CRM}"},},
      },
    }`;
    const read1 = await read(text, { HERE: '/opt', MAIL_TOKEN: secret, CRM: 'c', HOME: '/never' });
    expect(read1.problems).toEqual([]);
    expect(read1.servers).toEqual([
      {
        type: 'stdio',
        name: 'email-mcp',
        command: 'node',
        args: ['/opt/mail.mjs', '$HOME'],
        environment: { TOKEN: secret },
        directory: '/srv',
        timeMsMax: 30_000,
        idempotent: ['read_mail'],
      },
      {
        type: 'http',
        name: 'crm',
        url: 'http://127.0.0.1:9/mcp',
        headers: { Authorization: 'Bearer c' },
        idempotent: [],
      },
    ]);
  });

  it('may be missing, which is for the caller to judge', async () => {
    expect(await readMcpServers(join(folder, 'none.json'), {})).toEqual({
      isThere: false,
      servers: [],
      written: {},
      problems: [],
    });
  });

  const rows: readonly (readonly [what: string, text: string | object, said: string])[] = [
    ['no JSON', '{"mcpServers": {', 'ends before its JSON is complete'],
    ['a value without quotes', `{"mcpServers": {"a": {"env": {"K": ${secret}}}}}`, 'is not a JSON value'],
    ['a list', '[]', 'mcpServers'],
    ['another key beside', { mcpServer: {} }, 'did you mean "mcpServers"'],
    ['an unknown key', one({ command: 'x', arg: [] }), 'did you mean "args"'],
    ['no object', one('node x'), 'must be an object'],
    ['both ways', one({ command: 'x', url: 'http://x' }), 'both "command" and "url"'],
    ['neither way', one({}), 'needs "command"'],
    ['a type that does not fit', one({ type: 'http', command: 'x' }), 'does not fit "command"'],
    ['the old transport', one({ type: 'sse', url: 'http://x' }), 'gone'],
    ['an unknown type', one({ type: 'tcp', url: 'http://x' }), '"stdio" or "http"'],
    ['headers of a program', one({ command: 'x', headers: {} }), 'does not belong'],
    ['a bad name', one({ command: 'x' }, 'a b'), 'its name'],
    ['a number as a command', one({ command: 3 }), '"command" must be text'],
    ['an empty command', one({ command: ' ' }), '"command" is empty'],
    ['one text as arguments', one({ command: 'x', args: '-y' }), 'list of texts'],
    ['a number among the arguments', one({ command: 'x', args: ['a', 1] }), '"args[1]"'],
    ['a bad variable name', one({ command: 'x', env: { 'A=B': 'x' } }), 'cannot be one'],
    ['a time without a unit', one({ command: 'x', timeout: 30_000 }), 'with its unit'],
    ['another protocol', one({ url: 'file:///etc/passwd' }), 'http://'],
    ['a login in the URL', one({ url: `https://me:${secret}@x/mcp` }), 'put it into "headers"'],
    ['a line break in a header', one({ url: 'http://x', headers: { A: `${secret}\r\nB: c` } }), 'line break'],
    ['a variable that is not set', one({ command: 'x', env: { A: `\${NOT_SET}` } }), 'NOT_SET is not set'],
  ];
  it.each(rows)('with %s is refused whole, with the place and without its values', async (_, text, said) => {
    const { servers, problems } = await read(text, { OTHER: secret });
    expect(servers).toEqual([]);
    expect(problems.map(each => each.message).join('\n')).toContain(said);
    expect(problems[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
    expect(JSON.stringify(problems)).not.toContain(secret);
  });

  it('tells all its problems at once, each at its server', async () => {
    const text = '{"mcpServers": {\n"a": {"comand": "x"},\n"b": {"url": "ftp://x"}\n}}';
    const { problems } = await read(text);
    expect(problems.map(each => each.line)).toEqual([2, 2, 3]);
  });
});
