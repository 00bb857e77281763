import { Button } from '@mantine/core'
import { IconDownload, IconGauge, IconPlayerStop } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { RunPhase } from '../../../shared/run/snapshot.ts'
import { ask } from '../../bridge/client.ts'
import { PrimaryButton } from '../../ui/buttons.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'

/** What can be done with a load test: start it, stop it, take its report along. It is never paused or resumed. */
export function useLoadActions(runId: string, phase: RunPhase | undefined, onExport: () => void) {
  const begin = useMutation(ask.runs.begin.mutationOptions())
  const stop = useMutation(ask.runs.stop.mutationOptions())
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
            loading={stop.isPending}
            leftSection={<IconPlayerStop size="1rem" />}
            onClick={() => stop.mutate({ runId })}
          >
            Stop
          </Button>
        )}
        {phase === 'ready' && (
          <PrimaryButton
            onPress={() => begin.mutate({ runId })}
            busy={begin.isPending}
            icon={<IconGauge size="1rem" />}
          >
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
