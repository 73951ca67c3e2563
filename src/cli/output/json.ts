// JSON for programs: one version of all outputs, and times as ISO 8601 in UTC; inside Ralph they are epoch milliseconds.

/** Of everything that `--json` prints. 1 was what 0.4 printed; docs/schemas says what 2 is. */
const version = 2;

/** `startedAt`, `until`, `waitUntil`; in what an agent reports of its provider's limits also `resetAtMs`. */
const timeName = /^(?:at|since|until)$|(?:At(?:Ms)?|Until)$/;
/** Below are numbers of checkpoints and the like: no loop was begun in 1973. */
const earliest = 100_000_000_000;

/** The value as it leaves. What a plan sends to others (`params`) is theirs. */
function outward(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outward);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const isTime = typeof one === 'number' && timeName.test(name) && one > earliest;
      if (name === 'params') return [name, one];
      return isTime ? [name.replace(/Ms$/, ''), new Date(one).toISOString()] : [name, outward(one)];
    }),
  );
}

/** One object of an answer, on one line or on several. */
export const jsonText = (value: object, indent = 2): string =>
  JSON.stringify({ version, ...(outward(value) as object) }, null, indent);
