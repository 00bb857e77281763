import type { ExportFormat } from '../../../shared/bridge/results.ts'

const LONGEST = 80

/** A file name for an export of a run: the run's name without what file systems refuse, and the format's ending. */
export function suggestFileName(runName: string, format: ExportFormat): string {
  const stem = runName
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[^\p{Letter}\p{Number} ._-]+/gu, '-')
    .replace(/^[. -]+|[. -]+$/g, '')
    .slice(0, LONGEST)
  return `${stem === '' ? 'run' : stem}-results.${format}`
}
