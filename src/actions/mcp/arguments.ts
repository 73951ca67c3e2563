// Checks a plan's parameters against the tool's own schema before anything leaves us, and gives the tool our key.
import { Script } from 'node:vm';
import type { Tool } from '@modelcontextprotocol/client';
import { takeCharacters } from '../../text/text.ts';
import { isFields } from '../../text/fields.ts';

export type Params = Readonly<Record<string, unknown>>;

/** Undefined when the value is right. Throws when the schema itself is wrong. */
export type Judge = (schema: object, value: unknown) => string | undefined;

export type Arguments =
  /** `hasKey`: the tool gets our key, so doing it twice is as good as once. */
  { readonly params: Params; readonly hasKey: boolean } | { readonly problem: string };

const keyNames = ['idempotency_key', 'idempotencyKey'];
const problemCharsMax = 1_000;
const schemaCharsMax = 256 * 1_024;
const judgeMsMax = 2_000;

/** The SDK brings its validator (Ajv with formats) along. */
export async function loadJudge(timeMsMax = judgeMsMax): Promise<Judge> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const validator = new AjvJsonSchemaValidator();
  return (schema, value) => {
    const compiled = (): ReturnType<typeof validator.getValidator> =>
      validator.getValidator(schema as Parameters<typeof validator.getValidator>[0]);
    const verdict = within(timeMsMax, () => compiled()(value));
    if (verdict === undefined) return `the schema takes longer than ${timeMsMax / 1_000} s to check`;
    return verdict.valid ? undefined : takeCharacters(verdict.errorMessage, problemCharsMax);
  };
}

/**
 * Undefined when it takes too long: a schema is the server's own text, and one pattern in it can take for ever. Only V8 itself
 * can break off a pattern that it is matching, and it does so for scripts.
 */
function within<Value>(timeMsMax: number, work: () => Value): Value | undefined {
  try {
    return new Script('work()').runInNewContext({ work }, { timeout: timeMsMax }) as Value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

/** Of either schema, before anything leaves us: undefined when both can be used. */
function schemaProblem({ inputSchema, outputSchema }: Tool): string | undefined {
  const isTooLarge = [inputSchema, outputSchema].some(each => (JSON.stringify(each) ?? '').length > schemaCharsMax);
  return isTooLarge ? `the tool's own schema is larger than ${schemaCharsMax / 1_024} kB` : undefined;
}

export function argumentsFor(tool: Tool, given: Params, key: string | undefined, judge: Judge): Arguments {
  const unusable = schemaProblem(tool);
  if (unusable !== undefined) return { problem: unusable };
  try {
    const keyed = withKey(tool, given, key);
    if (keyed !== undefined && judge(tool.inputSchema, keyed) === undefined) return { params: keyed, hasKey: true };
    const problem = judge(tool.inputSchema, given);
    if (problem === undefined) return { params: given, hasKey: false };
    return { problem: problem.replaceAll(/(^|, )data(?=[/ ])/g, '$1Params') }; // as the plan calls them
  } catch (error) {
    const why = takeCharacters((error as Error).message, problemCharsMax);
    return { problem: `the tool's own schema is wrong (${why})` };
  }
}

function withKey(tool: Tool, given: Params, key: string | undefined): Params | undefined {
  const { properties } = tool.inputSchema;
  const name = keyNames.find(each => isFields(properties) && Object.hasOwn(properties, each));
  if (name === undefined || key === undefined || Object.hasOwn(given, name)) return undefined;
  return { ...given, [name]: key };
}
