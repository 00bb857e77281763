import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a file into a folder and returns its path. */
export function writeSource(folder: string, name: string, content: string | Uint8Array): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

/** A CSV of that many rows that are all in order. */
export function createRows(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `p${index + 1},u${index % 7},Text number ${index + 1}`,
  )
  return `post_id,user_id,text_data\n${lines.join('\n')}\n`
}
