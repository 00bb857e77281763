import { z } from 'zod'
import { bareUrlSchema } from './connection.ts'

/** How long a callback is awaited unless the plan says otherwise, milliseconds. */
export const CALLBACK_TIMEOUT_MS = 600_000

/** Longest time a callback may be awaited, milliseconds. */
const CALLBACK_TIMEOUT_MAX_MS = 7 * 24 * 3_600_000

/** Largest callback that is taken unless the plan says otherwise, bytes. */
export const CALLBACK_MAX_BYTES = 5 * 1024 * 1024

/** Where callbacks of async operations come to, and what is taken of them (docs/interface.md §6). */
export const callbackSchema = z.object({
  /** Address the receiver listens on. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port the receiver listens on (default: the workspace's own, the same every time). */
  port: z.int().min(1).max(65_535).optional(),
  /** The receiver's public base, behind a reverse proxy or tunnel (default: its own address). */
  url: bareUrlSchema.optional(),
  /** From an acknowledgement until its item is overdue. */
  timeoutMs: z.int().min(1).max(CALLBACK_TIMEOUT_MAX_MS).default(CALLBACK_TIMEOUT_MS),
  /** Size of the largest callback that is taken; a larger one is refused. */
  maxBytes: z
    .int()
    .min(1024)
    .max(1024 * 1024 * 1024)
    .default(CALLBACK_MAX_BYTES),
})
