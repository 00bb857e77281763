import { z } from 'zod'
import { LOAD_MAX_MS, RATE_MAX } from '../load/load-pace.ts'
import type { OptionTable } from './option.ts'

/** Default highest level, as a multiple of the first: six doublings. */
export const MAX_FACTOR = 64

/** Limits of a capacity search (docs/load-tests.md §11); the plan's load test is its probe. */
export const CAPACITY_OPTIONS = {
  max: {
    schema: z.number().positive().max(RATE_MAX).exactOptional(),
    words: 'Highest rate or concurrency to send.',
    section: 'bounds',
    flag: '--max-level <n>',
    help: `highest rate or concurrency to send (default: ${MAX_FACTOR} times the start)`,
  },
  maxProbes: {
    schema: z.int().min(1).max(1_000).default(25),
    words: 'Maximum number of probes.',
    section: 'bounds',
    flag: '--max-probes <n>',
    field: { label: 'Probes at most', width: 8 },
  },
  maxTimeMs: {
    schema: z.int().min(1).max(LOAD_MAX_MS).default(3_600_000),
    words: 'Maximum duration of the whole search.',
    section: 'bounds',
    flag: '--max-time <duration>',
    field: {
      label: 'Longest time',
      width: 8,
      expected: 'Expected a duration such as 1h, at most a week.',
    },
  },
  coolDownMs: {
    schema: z.int().min(0).max(3_600_000).default(5_000),
    words: 'Pause between probes.',
    section: 'pause',
    flag: '--cool-down <duration>',
    field: {
      label: 'Pause between probes',
      expected: 'Expected a duration such as 5s, at most an hour; 0s for none.',
    },
  },
} as const satisfies OptionTable
