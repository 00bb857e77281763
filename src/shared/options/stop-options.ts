import { z } from 'zod'
import type { OptionTable } from './option.ts'

/** When a run stops because too many rows do not succeed; it pauses instead if a person can be asked. */
export const STOP_OPTIONS = {
  errorPercent: {
    schema: z.number().min(0).max(100).default(20),
    words:
      'Share of rows without success, in percent, above which the run stops or pauses. 100 never stops it.',
    setting: 'stops at errors over, %',
    section: 'stop',
    flag: '--stop-at-errors <percent>',
    help: 'stop when more than this share of rows did not succeed, such as 50%; 100% never stops (default: 20%)',
  },
  afterRows: {
    schema: z.int().min(1).max(1_000_000).default(50),
    words: 'Rows that have to be settled before their share of errors counts.',
    setting: 'rows before errors count',
    section: 'stop',
    flag: '--stop-after-rows <n>',
    help: 'rows that have to be settled before --stop-at-errors counts (default: 50)',
  },
} as const satisfies OptionTable
