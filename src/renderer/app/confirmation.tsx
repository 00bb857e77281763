import { Button, Group, Modal, Stack } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CONFIRM_PATH } from '../../shared/bridge/browser-files.ts'
import { followQuestion } from '../../shared/bridge/follow.ts'
import type { WaitingQuestion } from '../../shared/bridge/production.ts'
import { bridge } from '../bridge/client.ts'
import { useStream } from '../bridge/use-stream.ts'
import { formatTimestamp } from '../ui/format-time.ts'
import { ErrorNotice } from '../ui/layout/screen.tsx'
import { SafeText } from '../ui/text/safe-text.tsx'

/** Keeps Escape from also closing a dialog underneath. */
const ESCAPE_HERE = { 'data-mantine-stop-propagation': true }

/**
 * Says that a person must confirm something before production, and links to the page for that: no page with
 * user content may answer. Closes once the question is answered, and the waiting code continues.
 */
export function Confirmation() {
  const question = useWaitingQuestion()
  const cancel = useMutation({ mutationFn: (id: string) => bridge.production.cancel({ id }) })
  if (question === null) return null
  const { id, title, untilMs } = question
  const giveUp = () => cancel.mutate(id)
  return (
    <Modal.Root
      key={id}
      opened
      onClose={giveUp}
      centered
      closeOnClickOutside={false}
      onKeyDown={(event) => {
        if (event.key === 'Escape') giveUp()
      }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Stack gap="md">
            <Modal.Title>Confirmation needed</Modal.Title>
            <p>
              <strong>
                <SafeText text={title} max={200} lines />
              </strong>
            </p>
            <p>
              Sluice asks you on a separate page, which this one can neither read nor answer. It opens in
              another tab, and may be open already. This window continues once you have answered there.
            </p>
            <p role="status">
              Waiting until {formatTimestamp(new Date(untilMs).toISOString()).slice(11)}. Nothing is sent or
              changed before you confirm.
            </p>
            {cancel.error !== null && <ErrorNotice error={cancel.error} />}
            <Group justify="flex-end" gap="xs">
              <Button loading={cancel.isPending} onClick={giveUp} {...ESCAPE_HERE}>
                Cancel
              </Button>
              <Button
                component="a"
                variant="filled"
                href={CONFIRM_PATH}
                target="_blank"
                rel="noopener noreferrer"
                data-autofocus
                {...ESCAPE_HERE}
                rightSection={<IconExternalLink size="1rem" aria-hidden />}
              >
                Open the question
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** The production question this window waits for, and until when (wall clock); null without one. */
function useWaitingQuestion(): (WaitingQuestion & { untilMs: number }) | null {
  const [waiting, setWaiting] = useState<(WaitingQuestion & { untilMs: number }) | null>(null)
  useStream({
    follow: (signal) => followQuestion(bridge, signal),
    onSaid: (question) => setWaiting(question && { ...question, untilMs: Date.now() + question.waitsMs }),
    onEnd: () => {
      // The window's requests end with its connection.
      setWaiting(null)
      return undefined
    },
  })
  return waiting
}
