// Builds the environment that a child may see: a short list of harmless names and what the user allowed, nothing else.

const harmless = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TERM', 'TMPDIR']);

export function minimalEnvironment(source: NodeJS.ProcessEnv, allowed: readonly string[]): Record<string, string> {
  const wanted = new Set(allowed);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    if (harmless.has(name) || name.startsWith('LC_') || wanted.has(name)) kept[name] = value;
  }
  return kept;
}
