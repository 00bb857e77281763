/** Longest name of a file, in characters, that every system takes, ending and run included. */
const LONGEST = 120

/** A file name that says which run it is of: `posts-9f3c2a.csv`. Every system takes it. */
export function toExportName(runName: string, runId: string, format: string): string {
  const base = runName
    .normalize('NFC')
    .replace(/\.(csv|tsv|txt|xlsx|jsonl|ndjson)$/i, '')
    .replace(/[^\p{Letter}\p{Mark}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  const short = Array.from(base).slice(0, LONGEST).join('').replace(/-+$/, '')
  return `${[short, runId].filter((part) => part !== '').join('-')}.${format}`
}
