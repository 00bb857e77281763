import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { LOAD_EXPORT_FORMATS, type LoadExportFormat } from '../../../shared/run/export-formats.ts'
import { bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { PrimaryButton, RadioField } from '../../ui/controls.tsx'
import { Panel, Screen } from '../../ui/layout/screen.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'

/** What a load test measured as a file, in the form that its reader takes. */
export function LoadExportScreen({ runId }: { runId: string }) {
  const name = useLiveRuns((live) => live.summaries[runId]?.name) ?? 'load test'
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const [format, setFormat] = useState<LoadExportFormat>('html')
  const file = useFileWriter()
  const write = () =>
    file.write({
      write: () =>
        saveExport(suggestFileName(name, format), (target) =>
          bridge.exports.create({ runId, format, ...target }),
        ),
    })
  return (
    <Screen
      title="Export"
      actions={
        <PrimaryButton
          onPress={write}
          busy={file.isWriting}
          blocked={phase === 'ended' ? undefined : 'The load test is not over'}
          icon={<IconDownload size="1rem" />}
        >
          Write the file
        </PrimaryButton>
      }
    >
      {file.notice}
      <Panel title="Format">
        <RadioField
          aria-label="Format"
          gap="sm"
          value={format}
          onValue={setFormat}
          choices={LOAD_EXPORT_FORMATS.map(({ ending, label, meaning }) => ({
            value: ending,
            label: `${label} (.${ending})`,
            description: meaning,
          }))}
        />
      </Panel>
    </Screen>
  )
}
