import { SluiceError } from '../../../shared/errors.ts'
import type { PlanSource } from '../../../shared/plan.ts'
import { describeSheetChoice } from '../../../shared/sheet-choice.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { toPrintable } from '../terminal/printable.ts'

/** Says which sheet of a workbook the rows will be from, where it has others and the plan names none. */
export async function noteSheet(context: CliContext, workspace: string, source: PlanSource): Promise<void> {
  if (source.sheet !== undefined) return
  if (source.format !== 'xlsx' && !/\.xls[xm]$/i.test(source.path)) return
  try {
    const { sheets, sheet } = await withEngine(workspace, (engine) => engine.previewSource(source, 1))
    if (sheets === undefined || sheet === undefined) return
    const note = describeSheetChoice({ sheets, sheet }, source)
    if (note !== null) await context.err.writeLine(toPrintable(note))
  } catch (error) {
    // What cannot be read is told by the run itself.
    if (!(error instanceof SluiceError)) throw error
  }
}
