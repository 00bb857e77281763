import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Path of the labelled messages, or null if they are not beside this checkout. */
export function findSmsFile(): string | null {
  const file = join(import.meta.dirname, '../../../../shared/data/sms-spam.csv')
  return existsSync(file) ? file : null
}
