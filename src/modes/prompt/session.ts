// Prompt input of the prompt mode: the scratchpad that agents keep.

import { readTextInside } from '../../documents/text-file.ts';
import type { ModeSession } from '../mode.ts';

export const promptSession: ModeSession = {
  async promptInputs(_state, _live, { directory }) {
    return { scratchpad: await readTextInside(directory, '.agent', 'scratchpad.md') };
  },
};
