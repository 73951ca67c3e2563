// What a prompt adds when the agent sits at a terminal: nobody reads its screen, so its last words go into a file.
import type { LiveIteration, State } from '../core/state.ts';
import type { PromptText } from './iteration-prompt.ts';

const closing = [
  '## You are at a terminal',
  '',
  'A person may be watching and may talk to you; nothing on the screen is read by Ralph. What is said above about your last',
  'message holds for a file: when you are finished, write that message into `done.md` in the folder you were started in.',
  'As soon as the file is there, this round is over and you are ended: write it last, and whole.',
].join('\n');

type Prompt = (state: State, live: LiveIteration, instructions: string) => PromptText;

export function atTerminal(prompt: Prompt): Prompt {
  return (state, live, instructions) => {
    const made = prompt(state, live, instructions);
    return { ...made, text: `${made.text}\n${closing}\n` };
  };
}
