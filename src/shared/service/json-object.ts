import { z } from 'zod'

/** A JSON object of any keys: `user_metadata`, an index item's `metadata` (docs/interface.md §2.1, §2.4). */
export const jsonObjectSchema = z.record(z.string(), z.unknown())

export type JsonObject = z.infer<typeof jsonObjectSchema>

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An identifier as text: a non-empty string, or a number, not in the interface but possible. */
export function toTaskId(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A non-empty text; null for anything else. */
export function toTextOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
