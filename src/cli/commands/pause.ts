// `ralph pause`: lets the live iteration finish (or not, with --now) and begins no other until `ralph resume`.
import { type Context, type Flags, steer, type Words } from '../context.ts';

export const execute = (context: Context, [name]: Words, flags: Flags): Promise<number> =>
  steer(context, name, { type: 'pause', now: flags['now'] === true }, 'Go on: ralph resume');
