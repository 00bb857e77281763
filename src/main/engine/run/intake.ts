import { setImmediate } from 'node:timers/promises'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { toRowsPerItem } from '../../../shared/plan/operation.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { findSheetChoice } from '../../../shared/plan/source-place.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { findPlanWarnings } from '../mapping/plan-warnings.ts'
import { isMissingAddress, resolveMapping } from '../mapping/row-mapper.ts'
import { createRowValidator } from '../mapping/validate-row.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import { openSource } from '../source/open-source.ts'
import type { SourceReader } from '../source/source-reader.ts'
import { IntakeWriter } from './journal/intake-writer.ts'

/** How far intake has come. */
export interface IntakeProgress {
  bytes: { read: number; total: number }
  rowsRead: number
  problems: { errors: number; warnings: number }
}

/**
 * Reads, maps and validates a whole source into the journal, in constant memory, letting the thread's other events
 * in between batches. Throws `BAD_SOURCE`, `BAD_PLAN` or `DISK_FULL`; nothing was sent then. Returns false where
 * `isStopped` asked to stop before the end.
 */
export async function runIntake(options: {
  workspace: string
  record: RunRecord
  journal: Journal
  onProgress: (progress: IntakeProgress) => void
  isStopped: () => boolean
}): Promise<boolean> {
  const { record, journal } = options
  const { plan } = record
  const reader = await openSource(plan.source)
  try {
    const { columns } = reader
    const mapping = resolveForSheet(plan, reader)
    const resolved = { ...plan, mapping }
    const { mapRow } = createItemRequests({ ...record, plan: resolved, columns }, options.workspace)
    const validate = createRowValidator(resolved)
    const writer = new IntakeWriter(
      journal,
      (row, cells) => mapRow(row, cells).uniqueKey?.value ?? '',
      toRowsPerItem(plan.operation),
    )
    for await (const { rows, places, bytesRead } of reader.batches()) {
      writer.writeRows(
        rows.map(({ row, cells, kinds = null, problems }) => {
          const mapped = mapRow(row, cells, kinds)
          const found = withoutConsequences(validate(row, mapped.body), [...problems, ...mapped.problems])
          const all =
            problems.length + mapped.problems.length + found.length === 0
              ? problems
              : [...problems, ...mapped.problems, ...found]
          return {
            row,
            cells,
            kinds,
            uniqueKey: mapped.uniqueKey,
            problems: all,
          }
        }),
        places,
      )
      options.onProgress({
        bytes: { read: bytesRead, total: reader.sizeBytes },
        rowsRead: writer.rowsRead,
        problems: writer.problems,
      })
      await setImmediate()
      if (options.isStopped()) return false
    }
    for (const warning of findPlanWarnings(plan, mapping, reader.columns, reader.header))
      writer.writeCommonProblem(warning)
    writer.finish(reader.columns, reader.header)
    return true
  } finally {
    reader.close()
  }
}

/** A file of a folder that has no address or cannot be sent lacks its content, which its row need not be told as well. */
function withoutConsequences(
  found: readonly FoundProblem[],
  causes: readonly FoundProblem[],
): readonly FoundProblem[] {
  const isWithoutContent = causes.some((cause) => isMissingAddress(cause) || REFUSED_FILE.has(cause.code))
  return isWithoutContent ? found.filter(({ code }) => code !== 'one_of') : found
}

const REFUSED_FILE: ReadonlySet<FoundProblem['code']> = new Set([
  'outside_folder',
  'unreadable_file',
  'unknown_kind',
  'empty_file',
])

/** Resolves the mapping; what is wrong with it may be that the columns are those of another sheet than was meant. */
function resolveForSheet(plan: Plan, { columns, workbook }: SourceReader): Mapping {
  try {
    return resolveMapping(plan, columns)
  } catch (error) {
    const sheetChoice = workbook === null ? null : findSheetChoice(workbook, plan.source)
    if (sheetChoice === null || !(error instanceof SluiceError)) throw error
    if (error.said.id !== 'mapping_unusable') throw error
    throw new SluiceError({ ...error.said, sheetChoice }, { cause: error })
  }
}
