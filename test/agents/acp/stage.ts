// What the tests of ACP agents share: the fake agent as a performer, and one run of it told whole.
import { type AcpAgentOptions, acpAgent } from '../../../src/agents/acp/acp.ts';
import type { PriceBook } from '../../../src/agents/agent.ts';
import type { Activity, Assignment } from '../../../src/agents/performer.ts';
import { activitiesOf, assignmentIn, endOf } from '../../contracts/performer.ts';
import { agentPath, plainEnvironment, scratchDirectory } from '../../processes/fixture.ts';

/** m1 costs a micro-dollar per token, every other model ten. */
const prices: PriceBook = {
  costUsdMicros: ({ input, output, cacheRead, cacheWrite }, model) =>
    (input + output + cacheRead + cacheWrite) * (model === 'm1' ? 1 : 10),
  windowTokens: () => 1_000,
  knows: model => model === 'm1',
};

export const agent = (behaviour: string, detail = '', more: Partial<AcpAgentOptions> = {}) =>
  acpAgent({
    name: 'acp',
    command: [process.execPath, agentPath('acp-agent.mjs'), behaviour, detail],
    environment: plainEnvironment,
    prices,
    permission: 'allow',
    graceMs: 200,
    cancelMs: 2_000,
    ...more,
  });

interface Ran {
  readonly activities: readonly Activity[];
  readonly end: Extract<Activity, { type: 'ended' }>;
  all<Type extends Activity['type']>(type: Type): readonly Extract<Activity, { type: Type }>[];
}

export async function run(
  performer: ReturnType<typeof agent>,
  assignment: Partial<Assignment> = {},
  heard: (activity: Activity, stop: () => void) => void = () => {},
): Promise<Ran> {
  const stopping = new AbortController();
  const whole = { ...assignmentIn(assignment.directory ?? scratchDirectory()), ...assignment };
  const activities = await activitiesOf(performer, whole, stopping.signal, activity =>
    heard(activity, () => stopping.abort()),
  );
  return {
    activities,
    end: endOf(activities),
    all: type => activities.filter(each => each.type === type) as never,
  };
}
