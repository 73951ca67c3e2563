// The user's world as the real agents meet it: permissions, clouds, proxies, two vendors in one review.
import assert from 'node:assert/strict';
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { liveAgents, type Stage } from './agents.ts';
import { cachedBin, nodeFolder, systemPath } from './install.ts';
import { all, assertAchieved, assertExit, failuresOf, type Scenario, withStories } from './scenarios.ts';

const isClaude = ({ name }: { readonly name: string }): boolean => name === 'claude';

/** A server on the loopback for as long as the work takes. */
async function serving(
  answer: (request: IncomingMessage, end: (status: number, body?: NodeJS.ReadableStream) => void) => void,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) =>
    answer(request, (status, body) => {
      response.writeHead(status, (body as IncomingMessage | undefined)?.headers ?? {});
      if (body === undefined) response.end('{}');
      else body.pipe(response);
    }),
  );
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const forbidding = (stage: Stage): Stage => ({
  ...stage,
  files: { ...stage.files, '.claude/settings.json': '{"permissions":{"disableBypassPermissionsMode":"disable"}}' },
});

const powerless: Scenario = {
  name: 'a permission mode that changes no file ends it at once, and says what to type',
  fits: isClaude,
  async run(stand) {
    const place = await withStories(stand, undefined, { restage: forbidding });
    const said = (await place.run().ended).stderr;
    assert.match(said.replaceAll(/\s+/g, ' '), /--permission-mode acceptEdits/);
    const events = await place.events();
    assert.deepEqual(failuresOf(events), ['permission']);
    assert.deepEqual(
      all(events, 'permissions.stated').map(({ mode }) => mode),
      ['default'],
    );
    assert.ok(place.mock.work().length <= 1, 'at most the request that was on its way'); // seen: none, or that one
    const better = await withStories(stand, undefined, { restage: forbidding });
    await assertExit(better.run(['--agent-args', '--permission-mode acceptEdits']).ended, 0);
    await assertAchieved(better);
  },
};

const bedrock: Scenario = {
  name: 'Bedrock: the whole credential set reaches it while its switch is on; without one a login is needed',
  fits: isClaude,
  async run(stand) {
    const seen: string[] = [];
    const refusal = (request: IncomingMessage, end: (status: number) => void): void => {
      seen.push(`${request.url} ${request.headers.authorization ?? ''}`);
      end(403);
    };
    await serving(refusal, async url => {
      const cloud = { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'eu-west-1', ANTHROPIC_BEDROCK_BASE_URL: url };
      const key = { AWS_ACCESS_KEY_ID: 'AKIADUMMY', AWS_SECRET_ACCESS_KEY: 'dummy' };
      const place = await withStories(stand, undefined, { environment: { ...cloud, ...key } });
      await assertExit(place.run().ended, 7);
      assert.ok(seen.some(one => /^\/model\/\S+ AWS4-HMAC-SHA256 Credential=AKIADUMMY\/\d+\/eu-west-1\//.test(one)));
      const without = { ...cloud, AWS_EC2_METADATA_DISABLED: 'true' };
      const bare = await withStories(stand, undefined, { environment: without });
      await assertExit(bare.run(['--agent-env', 'AWS_EC2_METADATA_DISABLED']).ended, 7);
      assert.deepEqual(failuresOf(await bare.events()), ['auth']);
    });
  },
};

/** A name that nobody can look up: only who goes through the proxy gets there. */
const farAway = 'http://model.corp.invalid';

const moved = (stage: Stage, from: string): Stage =>
  JSON.parse(JSON.stringify(stage).replaceAll(from, farAway)) as Stage;

const proxied: Scenario = {
  name: 'a corporate proxy is the only way to the model',
  fits: ({ name }) => name !== 'pi', // it does not look at these variables (0.87.1)
  async run(stand) {
    let target = '';
    let served = 0;
    const pass = (request: IncomingMessage, end: (status: number, body?: IncomingMessage) => void): void => {
      const { pathname, search, origin } = new URL(request.url ?? '', 'http://here');
      assert.equal(origin, farAway);
      served += 1;
      const { method, headers } = request;
      const passed = ask(`${target}${pathname}${search}`, { method, headers }, answer =>
        end(answer.statusCode ?? 500, answer),
      );
      request.pipe(passed);
    };
    await serving(pass, async url => {
      const environment = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url };
      const restage = (stage: Stage): Stage => {
        target = /http:\/\/127\.0\.0\.1:\d+/.exec(JSON.stringify(stage))?.[0] ?? '';
        return moved(stage, target);
      };
      const place = await withStories(stand, undefined, { environment, restage });
      await assertExit(place.run().ended, 0);
      await assertAchieved(place);
      assert.ok(served > 0);
    });
  },
};

const codex = liveAgents.find(({ name }) => name === 'codex')!;

const vendors: Scenario = {
  name: 'reviewers of two vendors look at one document',
  fits: agent => isClaude(agent) && cachedBin(codex) !== undefined,
  async run(stand) {
    const content = { text: '<review>{"confidence": 99, "issues": []}</review>' };
    const restage = (stage: Stage): Stage => {
      const url = stage.environment['ANTHROPIC_BASE_URL'] ?? '';
      const { files } = codex.stage({ home: '', url });
      return { ...stage, files: { ...stage.files, ...files } };
    };
    const place = await stand.place({
      model: () => content,
      environment: {
        OPENAI_API_KEY: 'sk-dummy',
        PATH: [stand.bin, cachedBin(codex), nodeFolder, systemPath].join(':'),
      },
      restage,
    });
    const words = ['review', 'PRD.json', '--rounds', '1', '--no-input', '--agent', 'claude/claude-sonnet-4-5'];
    const told = await place.ralph([...words, '--task-agent', 'R1-facilitator=codex/gpt-5.4', '--yes']);
    assert.equal(told.code, 0, told.stderr);
    const paths = new Set(place.mock.work().map(({ path }) => path));
    assert.deepEqual([...paths].sort(), ['/v1/messages', '/v1/responses']);
  },
};

export const worldScenarios: readonly Scenario[] = [powerless, bedrock, proxied, vendors];
