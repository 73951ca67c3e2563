// Loaded into a real `ralph` before anything else: when it exits, says how late its event loop was and how large it became.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on('exit', () => {
  const ms = nanoseconds => nanoseconds / 1_000_000;
  const seen = {
    delayMsP99: ms(delay.percentile(99)), // the 5 ms between two looks are in it
    delayMsMax: ms(delay.max),
    residentBytesMax: process.resourceUsage().maxRSS * 1_024,
  };
  writeFileSync(process.env.FLOOD_REPORT, JSON.stringify(seen));
});
