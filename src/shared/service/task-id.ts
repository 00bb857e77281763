/** An identifier as text: a string that is not empty, or a number, which the interface does not show but may come. */
export function toTaskId(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}
