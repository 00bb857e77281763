import type { RunState } from '../../../shared/run/run.ts'
import type { Tone } from '../terminal/terminal.ts'

/** How the word for where a run stands is set off. */
export const STATE_TONES: Readonly<Record<RunState, Tone>> = {
  running: 'accent',
  completed: 'good',
  stopped: 'bad',
  interrupted: 'warn',
}
