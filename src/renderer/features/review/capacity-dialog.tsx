import { Group, Modal, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import {
  type CapacityBounds,
  planCapacity,
  toCapacityThresholds,
} from '../../../shared/load/capacity-plan.ts'
import { CAPACITY_WARNING, describeCapacityPlan } from '../../../shared/load/capacity-view.ts'
import type { Load } from '../../../shared/load/load.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { ConnectionChip, ProductionNotice } from '../../ui/connection/destination-panel.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** Says what a capacity search does to the service before it begins. */
export function CapacityDialog(props: {
  load: Load
  bounds: CapacityBounds
  place: NamedPlace
  onStart: () => Promise<void>
  onClose: () => void
}) {
  const { load, bounds, place } = props
  const start = useMutation({ mutationFn: props.onStart })
  const planned = planCapacity(load, bounds)
  if (!planned.ok) return null
  const { probes, atMost } = describeCapacityPlan(planned.plan, load)
  return (
    <Modal opened onClose={props.onClose} title="Start the capacity search?">
      <Stack gap="md">
        <p>
          <strong>{CAPACITY_WARNING}</strong>
        </p>
        <dl className="facts">
          <dt>Service</dt>
          <dd>
            <ConnectionChip place={place} />
          </dd>
          <dt>Probes</dt>
          <dd>{probes}</dd>
          <dt>At most</dt>
          <dd>{atMost}</dd>
          <dt>Thresholds</dt>
          <dd>
            <ul>
              {toCapacityThresholds(load).map(({ expression }) => (
                <li key={expression}>
                  <code>
                    <SafeText text={expression} max={120} />
                  </code>
                </li>
              ))}
            </ul>
          </dd>
        </dl>
        {place.kind === 'production' && <ProductionNotice place={place} />}
        {start.error !== null && <ErrorNotice error={start.error} />}
        <Group justify="flex-end" gap="xs">
          <ActionButton label="Cancel" data-autofocus onClick={props.onClose} />
          <ActionButton
            label="Start the search"
            variant="filled"
            loading={start.isPending}
            onClick={() => start.mutate()}
          />
        </Group>
      </Stack>
    </Modal>
  )
}
