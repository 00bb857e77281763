import { existsSync } from 'node:fs'
import { guessColumns, matchColumns } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { saySheetChoice } from '../../../shared/messages/mapping-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { findSheetChoice } from '../../../shared/plan/source-place.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { toPrintable } from '../terminal/output.ts'

/**
 * The plan with a column guessed for each required field that neither the plan nor a column's name fills. Every guess is
 * written to the terminal before anything is sent, and stands in the plan that is kept. Says, unless `quiet`, which sheet
 * of a workbook is read where it has others.
 */
export async function completePlan(
  context: CliContext,
  engine: Engine,
  plan: Plan,
  options: { quiet: boolean },
): Promise<Plan> {
  const preview = await readPreview(engine, plan)
  if (preview === null) return plan
  const { columns, sheets, sheet } = preview
  const isSheetOpen = plan.source.sheet === undefined && !options.quiet
  if (isSheetOpen && sheets !== undefined && sheet !== undefined) {
    const choice = findSheetChoice({ sheets, sheet }, plan.source)
    if (choice !== null) await context.err.writeLine(toPrintable(saySheetChoice(choice, 'terminal')))
  }
  const certain = { ...matchColumns(columns, plan.operation), ...plan.mapping }
  const guessed = guessColumns(columns, plan.operation, certain)
  for (const [field, column] of listColumns(guessed)) {
    await context.err.writeLine(
      toPrintable(
        `Using column \`${column}\` for ${field} (guessed from its name). To change it, add --map ${field}=COLUMN.`,
      ),
    )
  }
  return { ...plan, mapping: { ...plan.mapping, ...guessed } }
}

function listColumns(mapping: Mapping): [field: string, column: string | number][] {
  return Object.entries(mapping).flatMap(([field, source]) =>
    source.kind === 'column' ? [[field, source.column]] : [],
  )
}

/** The head of the source; null where it cannot be read, which the run itself tells. */
async function readPreview(engine: Engine, { source }: Plan): Promise<SourcePreview | null> {
  // No thread is started for a source that is not there.
  if (!existsSync(source.path)) return null
  try {
    return await engine.previewSource(source, 1)
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return null
  }
}
