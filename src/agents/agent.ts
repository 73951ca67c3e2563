// The record of one agent CLI (AgentCli) and its types: how it is found, started, read and steered. Data and pure functions.
import type { LimitWindow } from '../core/event.ts';
import type { FailureKind } from '../core/failure.ts';
import type { Fields } from '../text/fields.ts';
import type { PerformerAbilities, ToolServer } from './performer.ts';

/** How we know that the adapter is right: the real program was run, its real output was kept, or only its manual was read. */
export type Proof = 'live' | 'recorded' | 'documented';

export interface AgentCli {
  readonly name: string;
  /** Looked for on PATH. */
  readonly program: string;
  readonly proof: Proof;
  readonly can: PerformerAbilities;
  /** What a person types to get it. */
  readonly install: string;
  /**
   * Who says what it cost: sooner or later the agent itself, our price tables by its tokens, or nobody. Of one that says it
   * itself a model without a known price is not charged at an upper bound while it works, only at the end when it never said.
   */
  readonly cost: 'agent' | 'tokens' | 'none';
  /** Its stream names the model, so that a price is found without --model. */
  readonly namesModel: boolean;
  /** Whose models it uses unless told: a judge of another vendor makes other mistakes. */
  readonly vendor?: string;
  /** For what it is taken where nobody named an agent; only one with models of its own may judge unasked. */
  readonly chosenFor: readonly ('work' | 'judge')[];
  /** What its page in docs/agents.md warns of. */
  readonly beware: string;
  /** Names of variables that it may see besides the harmless ones: keys, addresses, folders of its own. */
  readonly environment: readonly string[];
  /** Clouds that it can use: while the switch is on, it sees the variables too. */
  readonly clouds?: readonly Cloud[];
  /** Set in every run: no telemetry, no updates, few retries (the retry policy is ours). */
  readonly fixedEnvironment: Readonly<Record<string, string>>;
  /** Any of these present: a login is there. None: unknown. */
  readonly login: {
    readonly variables: readonly string[];
    /** Relative to HOME. */
    readonly files: readonly string[];
    /** What a person types to log in. */
    readonly command: string;
    /** How a line begins that it writes, on stderr or instead of its stream, when it has no login. */
    readonly missing?: readonly string[];
    /** Its exit code then, where no other end has it. */
    readonly missingCode?: number;
  };
  /** What its own variables and files show about who pays and which model works, before it is started. */
  account?(own: OwnPlace): Account;
  /** What it will ask a person before it begins, when it gets the terminal in this folder; none: it begins at once. */
  firstQuestions?(own: OwnPlace, directory: string): readonly string[];
  /**
   * It takes a text for its system prompt (`LaunchOrder.system`) beside its own. The words are those with which its user can
   * do the same: where one is in the user's arguments or names a variable of theirs, theirs stays, and ours goes before the
   * prompt.
   */
  readonly systemFlags?: readonly string[];
  launch(order: LaunchOrder): Launch;
  /** The same start with one more MCP server, called `ralph`, beside its user's own; absent: it takes none in this way. */
  withTools?(launch: Launch, tools: ToolOrder): Launch;
  /** A fresh one for each iteration: it has memory. */
  reader(order: LaunchOrder): Reader;
  /** What is written to its stdin while it lives; present exactly when `can.steer`. */
  readonly steering?: SteeringLines;
  /** How a program is called at the end of its turns; absent: it cannot be, or nobody has tried it. */
  readonly hooks?: AgentHooks;
}

/** The hooks of an agent: where its user names a program that is called at the end of each turn. */
export interface AgentHooks {
  /** A file of JSON, relative to HOME or to this folder of its own where that is set. */
  readonly file: { readonly path: string; readonly folderVariable?: string; readonly inFolder: string };
  /** Of a project, relative to it; absent: there is none. */
  readonly projectFile?: string;
  readonly events: readonly string[];
  readonly timeoutUnitMs: number;
  /** The program and its arguments stand apart, so that no shell reads them. */
  readonly takesArguments?: true;
  /** What must stand in the file beside them. */
  readonly alsoNeeds?: Fields;
  /** It names its session so, in the environment of its tools. */
  readonly sessionVariable?: string;
  /** It ends a turn after so many in a row without a tool call, unless this variable says another number. */
  readonly cap?: { readonly turns: number; readonly variable: string };
  /** What else its user must do. */
  readonly beware?: string;
}

export interface Cloud {
  readonly switch: string;
  readonly variables: readonly string[];
}

/** A subscription covers what it uses, or somebody is billed for every token. What is not known counts as paid. */
export type Billing = 'subscription' | 'paid';

/** What is there for an agent where it will work. Values of secrets are never looked at. */
export interface OwnPlace {
  /** The variables that it will see. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's own arguments. */
  readonly args: readonly string[];
  /** A file of its own, relative to HOME or absolute; undefined: it cannot be read. */
  text(path: string): string | undefined;
  /** The same as an object. Of all texts in it only those under the names in `keep` are told; of the others that they are there. */
  json(path: string, keep: readonly string[]): Fields;
}

export interface Account {
  /** Undefined: not known. */
  readonly billing?: Billing | undefined;
  /** The variable whose key is billed although a subscription is logged in. */
  readonly billedInstead?: string | undefined;
  /** The model that works unless one is asked for, and where that stands. */
  readonly model?: { readonly name: string; readonly from: string } | undefined;
}

export interface LaunchOrder {
  readonly prompt: string;
  /** To be added to its system prompt; short enough for an argument. Never present for one without `systemFlags`. */
  readonly system?: string;
  readonly model?: string;
  /** The user's own arguments (--agent-args), already split; they come last. */
  readonly args: readonly string[];
  /** A private folder, gone after the iteration, for files that the agent is pointed to. */
  readonly folder: string;
  readonly isRoot: boolean;
  /**
   * Present when the agent gets the terminal, without its headless flags: the first that it is told, which points to the
   * prompt. That lies as `prompt.md` in `folder`.
   */
  readonly openingPrompt?: string;
}

/** What `withTools` may know. Its variables are set for the agent too, which passes them on or has them named. */
export interface ToolOrder extends Pick<ToolServer, 'command' | 'args' | 'environment'>, Pick<LaunchOrder, 'folder'> {
  /** All that the agent may see, without the variables of the launch. */
  readonly visible: Readonly<Record<string, string>>;
}

export interface Launch {
  readonly args: readonly string[];
  /** For stdin. Never put a prompt into an argument: the system's limit is 128 kB for one. */
  readonly input: string;
  /** Written into `folder` before the start: name and content. */
  readonly files?: Readonly<Record<string, string>>;
  /** Folders in `folder`, each with links to all that is in another one; what `files` has there is not linked. */
  readonly linked?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface SteeringLines {
  /** A message to the working agent, as a line for its stdin. */
  say(text: string): string;
  /** Its own way to stop what it does, as a line for its stdin. */
  interrupt(): string;
}

/** Counts as the agent states them; `input` without what came from or went into a cache. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What one event of a stream means. */
export type AgentEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string; readonly detail: string; readonly phase: 'began' | 'ended' }
  /** Running totals of this iteration by model. A cost in US dollars only when the agent gave one; it may be nonsense. */
  | {
      readonly type: 'usage';
      readonly tokens: Tokens;
      readonly model?: string;
      readonly costUsd?: unknown;
    }
  | {
      readonly type: 'context';
      readonly usedTokens: number;
      readonly windowTokens?: number;
      readonly model?: string;
    }
  | { readonly type: 'session'; readonly id: string }
  /** What it may do unasked, by its own name for it. `powerless`: it changes no file so; what to type for more. */
  | { readonly type: 'permissions'; readonly mode: string; readonly powerless?: string | undefined }
  /** Who pays for what follows, as the stream itself shows. */
  | { readonly type: 'billing'; readonly by: Billing }
  /** All windows that the provider reports. */
  | { readonly type: 'windows'; readonly windows: readonly LimitWindow[] }
  | { readonly type: 'limit'; readonly resetAtMs: number; readonly detail: string };

/** Understands one run's stream. Never throws, whatever the events hold: unknown ones are nothing. */
export interface Reader {
  /** True for a line that cannot matter, told by its first characters: it is not even parsed. */
  skips?(line: string): boolean;
  read(event: Readonly<Record<string, unknown>>): readonly AgentEvent[];
  /**
   * For agents whose output is plain text and whose end is their exit: it gets every line, and `finished` stays false.
   * Absent: lines that are not JSON are only counted.
   */
  readPlain?(line: string): readonly AgentEvent[];
  /** How a line begins that was too long to be kept: for an event that matters although it cannot be read. */
  readCut?(head: string): readonly AgentEvent[];
  /** A line of its stderr: for agents that say only there that they try in vain. Absent: stderr is kept for people. */
  onErrorLine?(line: string): void;
  result(): AgentResult;
}

/** Asked after every chunk of the stream, so its message is made only when it is wanted. */
export interface AgentResult {
  /** The final message: the only text in which signals are read. */
  message(): string;
  /** A terminal event was seen: the agent has said its last word. False again when it goes on after all. */
  readonly finished: boolean;
  /** It has spoken and waits for what it left at work, which will make it speak again: until then its silence means nothing. */
  readonly waits?: boolean;
  /** Programs that it began still run, and nobody waits for their end. */
  readonly leaves?: boolean;
  /** What the stream says went wrong. Structured fields where it has them; the text is for people and the last resort. */
  readonly problem?: StreamProblem;
}

export interface StreamProblem {
  /** When the stream itself names the class. */
  readonly kind?: FailureKind;
  /** HTTP status from a structured field. */
  readonly status?: number;
  readonly resetAtMs?: number;
  readonly text: string;
  /** All that was said, where `text` is a part: a reset may stand beside the message. */
  readonly full?: string;
}

/** Prices and context windows of models. */
export interface PriceBook {
  /** Micro-dollars; an upper bound for a model that it does not know. Never 0 for tokens. */
  costUsdMicros(tokens: Tokens, model: string | undefined): number;
  windowTokens(model: string | undefined): number | undefined;
  knows(model: string): boolean;
}
