import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useCallback, useState } from 'react'
import { ConnectionChip } from '../connection/connection-chip.tsx'
import type { NamedPlace } from '../connection/destination.ts'

/** Asks once more before something is done at a production connection. */
export interface ProductionGuard {
  /** Does it at once where the place is no production, else when the person says so. */
  ask: (act: () => void) => void
  /** To be shown by whoever asks. */
  dialog: ReactNode
}

/** See {@link ProductionGuard}. */
export function useProductionGuard(place: NamedPlace): ProductionGuard {
  const [wish, setWish] = useState<{ act: () => void } | null>(null)
  const isProduction = place.kind === 'production'
  const ask = useCallback(
    (act: () => void) => {
      if (isProduction) setWish({ act })
      else act()
    },
    [isProduction],
  )
  const close = () => setWish(null)
  const dialog = wish !== null && (
    <Modal opened onClose={close} title="This is production" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <p>
          The rows go to <ConnectionChip place={place} />, where they are real: what is submitted, added or
          removed there stays so.
        </p>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={close}>
            Cancel
          </Button>
          <Button
            color="danger"
            onClick={() => {
              close()
              wish.act()
            }}
          >
            Send to production
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
  return { ask, dialog }
}
