import { z } from 'zod'
import type { OptionTable } from './option.ts'

/** Longest wait in a plan, milliseconds; timers last at most 24 days. */
const WAIT_MAX_MS = 3_600_000

/** When and how often an attempt that was not accepted is repeated (docs/architecture.md §2.2). */
export const RETRY_OPTIONS = {
  limit: {
    schema: z.int().min(0).max(100).default(3),
    words: 'Retries per request.',
    setting: 'retries',
    section: 'pace',
    flag: '--retries <n>',
    help: 'retries per request, if it is safe to repeat',
    field: { label: 'Retries', width: 6.5 },
  },
  /** Doubled each time, with full jitter. */
  baseMs: {
    schema: z.int().min(1).max(WAIT_MAX_MS).default(200),
    words: 'Pause before the first retry, in milliseconds; doubled each time, with jitter.',
    setting: 'shortest back-off',
  },
  maxMs: {
    schema: z.int().min(1).max(WAIT_MAX_MS).default(10_000),
    words: 'Longest pause between retries, in milliseconds.',
    setting: 'longest back-off',
  },
  maxRetryAfterMs: {
    schema: z.int().min(1).max(WAIT_MAX_MS).default(60_000),
    words:
      'Longest Retry-After to wait for, in milliseconds. A longer one is cut to it up to 1 minute; beyond that the run stops or pauses.',
    setting: 'longest Retry-After',
  },
} as const satisfies OptionTable
