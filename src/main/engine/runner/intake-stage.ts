import { setImmediate } from 'node:timers/promises'
import { toRowsPerItem } from '../../../shared/operation.ts'
import { openSource } from '../intake/open-source.ts'
import { IntakeWriter } from '../journal/intake-writer.ts'
import type { Journal } from '../journal/journal.ts'
import { readReceiverSettings } from '../journal/receiver-settings.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { findPlanWarnings } from '../mapping/plan-warnings.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createRowValidator } from '../mapping/validate-row.ts'
import { createRunAddresses } from '../service/run-addresses.ts'

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
  const { plan, runToken } = record
  const addresses = createRunAddresses(record, () => readReceiverSettings(options.workspace).secret)
  const reader = await openSource(plan.source)
  try {
    const { columns } = reader
    const mapping = resolveMapping(plan, columns)
    const resolved = { ...plan, mapping }
    const mapRow = createRowMapper(resolved, columns, runToken, addresses)
    const validate = createRowValidator(resolved)
    const writer = new IntakeWriter(
      journal,
      (row, cells) => mapRow(row, cells).uniqueKey?.value ?? '',
      toRowsPerItem(plan.operation),
    )
    for await (const { rows, bytesRead } of reader.batches()) {
      writer.writeRows(
        rows.map(({ row, cells, problems }) => {
          const mapped = mapRow(row, cells)
          const found = validate(row, mapped.body)
          const all =
            problems.length + mapped.problems.length + found.length === 0
              ? problems
              : [...problems, ...mapped.problems, ...found]
          return {
            row,
            cells,
            uniqueKey: mapped.uniqueKey,
            problems: all,
          }
        }),
      )
      options.onProgress({
        bytes: { read: bytesRead, total: reader.sizeBytes },
        rowsRead: writer.rowsRead,
        problems: writer.problems,
      })
      await setImmediate()
      if (options.isStopped()) return false
    }
    for (const warning of findPlanWarnings(plan, mapping)) writer.writeCommonProblem(warning)
    writer.finish(reader.columns)
    return true
  } finally {
    reader.close()
  }
}
