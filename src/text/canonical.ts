// Canonical JSON: one text for one value, so that a hash over it means the same on every machine and in every version.
import { Bug } from './errors.ts';

/** Sorted keys, no spaces, members that are undefined dropped. What JSON would silently change is refused. */
export function canonical(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new Bug(`canonical JSON has no ${value}`);
      return Object.is(value, -0) ? '0' : String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? list(value) : members(value as Record<string, unknown>);
    default:
      throw new Bug(`canonical JSON has no ${typeof value}`);
  }
}

function list(values: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < values.length; index += 1) text += (index === 0 ? '' : ',') + canonical(values[index]);
  return `${text}]`;
}

function members(value: Record<string, unknown>): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null) {
    throw new Bug(`canonical JSON has no ${value.constructor?.name ?? 'class instance'}`);
  }
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member)}`;
  }
  return `{${text}}`;
}
