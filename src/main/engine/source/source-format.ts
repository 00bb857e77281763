import { statSync } from 'node:fs'
import { extname } from 'node:path'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import type { SourceFormat } from './source-reader.ts'

/** Endings of names and what they say; old and foreign workbooks are named by the reader of workbooks. */
const FORMATS: Record<string, SourceFormat> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.jsonlines': 'jsonl',
  '.json': 'jsonl',
  '.xlsx': 'xlsx',
  '.xlsm': 'xlsx',
  '.xltx': 'xlsx',
  '.xltm': 'xlsx',
  '.xlsb': 'xlsx',
  '.xls': 'xlsx',
  '.ods': 'xlsx',
  '.numbers': 'xlsx',
}

/** The format that the person gave, else that of a folder, else that of the name's ending, else CSV. */
export function findSourceFormat({ path, format }: Pick<PlanSource, 'path' | 'format'>): SourceFormat {
  if (format !== undefined) return format
  return isFolder(path) ? 'folder' : (FORMATS[extname(path).toLowerCase()] ?? 'csv')
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Whoever opens the file says what is wrong with it.
    return false
  }
}
