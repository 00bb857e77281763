import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import type { OptionTable } from './option.ts'

/** Default time to wait for a callback, milliseconds. */
export const CALLBACK_TIMEOUT_MS = 600_000

/** Default size limit of a callback, bytes. */
export const CALLBACK_MAX_BYTES = 5 * 1024 ** 2

/** Where callbacks of async operations arrive, and which are accepted (docs/interface.md §6). */
export const CALLBACK_OPTIONS = {
  host: {
    schema: z.string().min(1).default('127.0.0.1'),
    words: 'Callback receiver address.',
    section: 'receiver',
    flag: '--callback-host <host>',
  },
  port: {
    schema: z.int().min(1).max(65_535).optional(),
    words: 'Callback receiver port (default: a fixed port per workspace).',
    section: 'receiver',
    flag: '--callback-port <n>',
  },
  /** For a receiver behind a reverse proxy or tunnel. */
  url: {
    schema: bareUrlSchema.optional(),
    words: 'Public URL of the receiver, such as a tunnel (default: its own address).',
    setting: 'callbacks to',
    section: 'awaiting',
    flag: '--callback-url <url>',
    help: "public URL of the callback receiver, such as a tunnel (default: the receiver's address)",
  },
  /** A relay may let only the service through, or be unable to reach itself. */
  skipTest: {
    schema: z.boolean().optional(),
    words: 'Whether to send without testing that a callback to the public URL arrives (default: false).',
    setting: null,
    section: 'awaiting',
    flag: '--skip-callback-test',
    help: 'do not test before sending that a callback to --callback-url arrives',
  },
  /** From an acknowledgement until its item is overdue. */
  timeoutMs: {
    schema: z
      .int()
      .min(1)
      .max(7 * 24 * 3_600_000)
      .default(CALLBACK_TIMEOUT_MS),
    words: 'Time to wait for a callback before a row is overdue, in milliseconds.',
    setting: 'callbacks overdue after',
    section: 'awaiting',
    flag: '--callback-timeout <duration>',
  },
  /** A larger one is refused. */
  maxBytes: {
    schema: z
      .int()
      .min(1024)
      .max(1024 ** 3)
      .default(CALLBACK_MAX_BYTES),
    words: 'Maximum callback size, in bytes.',
    setting: 'largest callback, bytes',
    section: 'receiver',
    flag: '--callback-max-size <size>',
    help: 'maximum callback size (default: 5MiB)',
  },
} as const satisfies OptionTable
