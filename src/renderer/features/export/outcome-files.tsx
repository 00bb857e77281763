import { IconFiles } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { BatchExportFormat, RowExportFormat } from '../../../shared/run/export-formats.ts'
import { IN_NEITHER } from '../../../shared/run/results.ts'
import { bridge } from '../../bridge/client.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import type { SecondaryAction } from '../../ui/controls.tsx'
import { type FileWriter, useFileWriter } from '../../ui/written-file.tsx'

/** Follows the number of cells that were guarded as formulas. */
export const LOSSLESS_UNCHANGED = '“Lossless” on Export writes them unchanged'

/** Writes a run's succeeded rows to one file, and unsuccessful ones to another, each with its reason. */
export function writeOutcomes(
  file: FileWriter,
  run: { runId: string; name: string },
  options: { format: RowExportFormat | BatchExportFormat; lossless?: boolean },
): void {
  let said = ''
  file.write({
    describe: () => said,
    unchanged: LOSSLESS_UNCHANGED,
    write: () =>
      saveExport(suggestFileName(run.name, options.format, 'success'), async (target) => {
        const { success, errors, inNeither } = await bridge.exports.createOutcomes({
          runId: run.runId,
          ...options,
          ...target,
        })
        said = [
          `${formatCounted(success.rows, 'row')} in the success file`,
          `${formatCount(errors.rows)} in the error file`,
          ...(inNeither === 0 ? [] : [`${formatCount(inNeither)} in neither (${IN_NEITHER})`]),
        ].join(', ')
        return [success, errors]
      }),
  })
}

/** An action that writes the two files as CSV, and a notice that says where they are. */
export function useOutcomeFiles(run: { runId: string; name: string }): {
  action: SecondaryAction
  notice: ReactNode
} {
  const file = useFileWriter()
  const action = {
    label: 'Success and error files',
    title: 'Two CSV files: rows that succeeded with their results, and rows that did not with the reasons',
    icon: IconFiles,
    isBusy: file.isWriting,
    onPress: () => writeOutcomes(file, run, { format: 'csv' }),
  }
  return { action, notice: file.notice }
}
