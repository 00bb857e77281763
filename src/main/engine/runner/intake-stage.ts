import { setImmediate } from 'node:timers/promises'
import type { Plan } from '../../../shared/plan.ts'
import { openSource } from '../intake/open-source.ts'
import { IntakeWriter } from '../journal/intake-writer.ts'
import type { Journal } from '../journal/journal.ts'
import { findPlanWarnings } from '../mapping/plan-warnings.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { isUniqueByConstruction } from '../mapping/templates.ts'
import { createTaskValidator } from '../mapping/validate-task.ts'

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
  plan: Plan
  runToken: string
  journal: Journal
  onProgress: (progress: IntakeProgress) => void
  isStopped: () => boolean
}): Promise<boolean> {
  const { plan, journal } = options
  const reader = openSource(plan.source)
  try {
    const { columns } = reader
    const mapping = resolveMapping(plan, columns)
    const resolved = { ...plan, mapping }
    const mapRow = createRowMapper(resolved, columns, options.runToken)
    const validate = createTaskValidator(resolved)
    const postId = mapping['post_id']
    const isUnique = postId?.kind === 'template' && isUniqueByConstruction(postId.template)
    const writer = new IntakeWriter(journal, (row, cells) => mapRow(row, cells).postId)
    for (const { rows, bytesRead } of reader.batches()) {
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
            uniqueId: isUnique || mapped.postId === '' ? null : mapped.postId,
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
