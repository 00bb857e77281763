import { Button } from '@mantine/core'
import { IconDownload, IconGauge, IconPlayerStop } from '@tabler/icons-react'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { bridge } from '../../bridge/client.ts'
import { useAction } from '../../bridge/queries.ts'
import { PrimaryButton } from '../../ui/buttons.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'

/** What can be done with a load test: start it, stop it, take its report along. It is never paused or resumed. */
export function useLoadActions(runId: string, phase: RunPhase | undefined, onExport: () => void) {
  const begin = useAction(async () => {
    await bridge.runs.begin({ runId })
  })
  const stop = useAction(async () => {
    await bridge.runs.stop({ runId })
  })
  const error = begin.error ?? stop.error
  const isGoing = phase === 'running' || phase === 'draining' || phase === 'awaiting'
  return {
    error: error !== null && <ErrorNotice error={error} />,
    buttons: (
      <>
        {isGoing && (
          <Button
            variant="default"
            disabled={phase === 'draining'}
            loading={stop.busy}
            leftSection={<IconPlayerStop size="1rem" />}
            onClick={() => void stop.run()}
          >
            Stop
          </Button>
        )}
        {phase === 'ready' && (
          <PrimaryButton onPress={() => void begin.run()} busy={begin.busy} icon={<IconGauge size="1rem" />}>
            Start the load test
          </PrimaryButton>
        )}
        {phase === 'ended' && (
          <PrimaryButton onPress={onExport} icon={<IconDownload size="1rem" />}>
            Export the report
          </PrimaryButton>
        )}
      </>
    ),
  }
}
