import type { z } from 'zod'

/** Whether each `T`, and each of its members, optional ones too, is let through by a schema that takes `Input`. */
type Fits<T, Input> = [T] extends [Input] ? ([keyof T] extends [keyof Input] ? unknown : never) : never

/**
 * Gives a schema back unchanged and compiles only while it fits `T` in both directions: what it lets through is a
 * `T`, and every `T` is let through whole.
 */
export function matchType<T>() {
  return <S extends z.ZodType<T>>(schema: S & Fits<T, z.input<S>>): S => schema
}
