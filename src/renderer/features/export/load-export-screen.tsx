import { Radio, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Exported } from '../../../shared/bridge/results.ts'
import { LOAD_EXPORT_FORMATS, type LoadExportFormat } from '../../../shared/run/export-formats.ts'
import { bridge } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice, ExportedNotice } from '../../ui/layout/notice.tsx'
import { Panel, Screen } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** What a load test measured as a file, in the form that its reader takes. */
export function LoadExportScreen({ runId }: { runId: string }) {
  useFollowRun(runId)
  const name = useLiveRuns((live) => live.summaries[runId]?.name) ?? 'load test'
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const [format, setFormat] = useState<LoadExportFormat>('html')
  const [done, setDone] = useState<Exported | null>(null)
  const write = useMutation({
    mutationFn: async () => {
      setDone(null)
      setDone(
        await saveExport(suggestFileName(name, format), (target) =>
          bridge.exports.create({ runId, format, ...target }),
        ),
      )
    },
  })
  return (
    <Screen
      title="Export"
      subtitle={<SafeText text={name} max={80} />}
      actions={
        <PrimaryButton
          onPress={() => write.mutate()}
          busy={write.isPending}
          blocked={phase === 'ended' ? undefined : 'The load test is not over'}
          icon={<IconDownload size="1rem" />}
        >
          Write the file
        </PrimaryButton>
      }
    >
      {write.error !== null && <ErrorNotice error={write.error} onDismiss={write.reset} />}
      {done !== null && <ExportedNotice exported={done} what="Written" />}
      <Panel title="Format">
        <Radio.Group
          aria-label="Format"
          value={format}
          onChange={(value) =>
            setFormat(LOAD_EXPORT_FORMATS.find(({ ending }) => ending === value)?.ending ?? 'html')
          }
        >
          <Stack gap="sm">
            {LOAD_EXPORT_FORMATS.map(({ ending, label, meaning }) => (
              <Radio key={ending} value={ending} label={`${label} (.${ending})`} description={meaning} />
            ))}
          </Stack>
        </Radio.Group>
      </Panel>
    </Screen>
  )
}
