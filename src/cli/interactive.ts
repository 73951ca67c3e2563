// While an agent has the terminal, Ralph keeps its own words back: they come out when the round is over.

import { type LiveView, liveView } from './live.ts';
import type { Style } from './terminal.ts';

/** A live view without a live line, whose lines wait as long as an iteration is at the terminal. */
export function asideView(style: Style, write: (text: string) => void, quiet: boolean, asks: boolean): LiveView {
  let away = 0;
  let kept = '';
  const say = (text: string): void => {
    if (away > 0) kept += text;
    else write(text);
  };
  const view = liveView(style, say, quiet, asks);
  view.hold(() => {}); // for good: no line of ours is drawn where an agent may draw
  return {
    ...view,
    tell(event, state) {
      if (event.type === 'iteration.ended') {
        away = Math.max(0, state.live.length);
        if (away === 0 && kept !== '') {
          write(kept);
          kept = '';
        }
      }
      view.tell(event, state);
      if (event.type === 'iteration.started') away = state.live.length;
    },
  };
}
