// Terms of an approval: the limits and servers that files named when a person said yes. Less than that counts at once, more
// only after another yes.
import { type McpServer, usualCallMs } from '../actions/mcp/server.ts';
import type { RunConfig } from '../config/resolve.ts';
import {
  type ApprovedTerms,
  type LimitName,
  type Limits,
  limitFlag,
  limitNames,
  limitTable,
  type Settings,
} from '../core/settings.ts';
import { UsageError } from '../text/errors.ts';
import { formatDuration, formatUsd, isoTime } from '../text/format.ts';

const files: readonly string[] = ['.env', 'project file', 'user file'];

/** Limits that files set; what was typed, and what nobody set, is not among them. */
export function limitsInFiles({ settings, sources }: Pick<RunConfig, 'settings' | 'sources'>): Partial<Limits> {
  const isFiled = (name: LimitName): boolean =>
    files.includes(sources[limitTable[name].key]) ||
    (name === 'attemptsPerTaskMax' && settings.policy.countsRetries && files.includes(sources.retries));
  return Object.fromEntries(limitNames.filter(isFiled).map(name => [name, settings.limits[name]]));
}

export const callMs = ({ timeMsMax }: McpServer): number => timeMsMax ?? usualCallMs;

const isTighter = (one: number | null, than: number | null): boolean => one !== null && (than === null || one < than);

/** What files say now and did not say when it was approved, against the limits that hold. */
export function filedSince(
  approved: ApprovedTerms | undefined,
  now: Partial<Limits>,
  holding: Limits,
): { readonly tighter: Partial<Limits>; readonly looser: readonly LimitName[] } {
  const names = limitNames.filter(name => name in now && approved !== undefined && now[name] !== approved.limits[name]);
  const tighter = names.filter(name => isTighter(now[name] ?? null, holding[name]));
  const looser = names.filter(name => isTighter(holding[name], now[name] ?? null));
  return { tighter: Object.fromEntries(tighter.map(name => [name, now[name]])), looser };
}

const amounts = { count: String, dollars: formatUsd, minutes: formatDuration, instant: isoTime } as const;

/** As it would be typed. */
function looserLimit(name: LimitName, now: Partial<Limits>, { limits, policy }: Settings): string {
  const isRetries = name === 'attemptsPerTaskMax' && policy.countsRetries;
  const amount = (value: number | null | undefined): string =>
    value === null || value === undefined ? 'unlimited' : amounts[limitTable[name].unit](isRetries ? value - 1 : value);
  return `${isRetries ? '--retries' : limitFlag(name)} is ${amount(now[name])} in a file; ${amount(limits[name])} holds`;
}

/** In sentences: what counts only after another yes. */
export function looserWords(
  approved: ApprovedTerms | undefined,
  now: ApprovedTerms,
  holding: Settings,
): readonly string[] {
  if (approved === undefined) return [];
  const { looser } = filedSince(approved, now.limits, holding.limits);
  const limits = looser.map(name => looserLimit(name, now.limits, holding));
  const servers = Object.entries(now.servers).flatMap(([name, server]) => {
    const before = approved.servers[name];
    if (before === undefined) return [];
    const more = server.idempotent.filter(tool => !before.idempotent.includes(tool));
    return [
      ...(server.hash === before.hash ? [] : [`the MCP server ${name} is another command or address`]),
      ...(server.callMsMax > before.callMsMax ? [`calls of the MCP server ${name} may take longer`] : []),
      ...(more.length === 0 ? [] : [`more tools of the MCP server ${name} are called idempotent: ${more.join(', ')}`]),
    ];
  });
  return [...limits, ...servers];
}

/** The server as it may be used: what was approved or less. Exit 5 when it is another program by now. */
export function withinTerms(server: McpServer, hash: string, approved: ApprovedTerms | undefined): McpServer {
  const before = approved?.servers[server.name];
  if (before === undefined) return server;
  if (before.hash !== hash)
    throw new UsageError(
      `The MCP server ${server.name} is not the one that was there when the plan was approved: its command, address or variables differ.`,
      'Look at it in its file; when it is right, say yes again: ralph plan approve PLAN',
      5,
    );
  const timeMsMax = Math.min(callMs(server), before.callMsMax);
  return { ...server, timeMsMax, idempotent: server.idempotent.filter(tool => before.idempotent.includes(tool)) };
}
