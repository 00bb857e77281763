import { Group } from '@mantine/core'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RowExportFormat } from '../../../shared/run/export-formats.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { useFileChoice } from '../../bridge/file-choice.tsx'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { readNarrowedAgain, refreshVerdicts, useVerdicts } from '../../bridge/verdicts.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import type { FileWriter } from '../../ui/written-file.tsx'
import styles from './export.module.css'

/** The verdicts on a run as a file of their own, written and read. */
export function VerdictsPanel(props: {
  runId: string
  runName: string
  format: RowExportFormat
  file: FileWriter
}) {
  const { runId, format } = props
  const { judged, error } = useVerdicts(runId)
  const [stored, setStored] = useState<number | null>(null)
  const choice = useFileChoice('verdicts-file', async ({ sourceId }) => {
    setStored(null)
    setStored((await bridge.verdicts.import({ runId, sourceId })).verdicts)
    refreshVerdicts()
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ask.results.facets.key() }),
      readNarrowedAgain(queryClient),
    ])
  })
  const write = () =>
    props.file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'verdict')} written`,
      write: () =>
        saveExport(suggestFileName(props.runName, format, 'verdicts'), (target) =>
          bridge.verdicts.export({ runId, format, ...target }),
        ),
    })
  return (
    <Panel title="Verdicts">
      <p className={styles.about}>
        {judged === 0 ? 'No row has a verdict yet.' : `${formatCounted(judged, 'row')} with verdicts.`} The
        exported rows include verdicts as columns; a file of verdicts has one line for each. You can import
        either file again, or a filled-in sample. A file of your own needs the columns row, sluice_verdict,
        sluice_rule and sluice_note; row is the number that a spreadsheet shows, the header included. If a
        line is wrong, nothing is stored.
      </p>
      <Group gap="xs" mt="sm">
        <ActionButton
          label="Write the verdicts"
          icon={IconDownload}
          disabled={judged === 0}
          loading={props.file.isWriting}
          onClick={write}
        />
        <ActionButton
          label="Import verdicts…"
          icon={IconUpload}
          loading={choice.isBusy}
          onClick={choice.choose}
        />
        <span aria-live="polite">{stored !== null && `${formatCounted(stored, 'verdict')} stored`}</span>
      </Group>
      {choice.input}
      {(choice.error ?? error) !== null && (
        <ErrorNotice error={choice.error ?? error} onDismiss={choice.dismissError} />
      )}
    </Panel>
  )
}
