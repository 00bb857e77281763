import { Stack } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { hasModes } from '../../../shared/operations/operations.ts'
import { bridge } from '../../bridge/client.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { PrimaryButton } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, Screen } from '../../ui/layout/screen.tsx'
import { AnswerPanels, nameAnswer } from './answer-panels.tsx'
import { RequestEditor } from './request-editor.tsx'
import styles from './scratchpad.module.css'
import { keepSent, type SentRequest, useScratchpad } from './scratchpad.ts'
import { SentPanel } from './sent-panel.tsx'

/** One request by hand, with all of its answer. */
export function ScratchpadScreen(props: { connections: readonly ConnectionEntry[] }) {
  const { connections } = props
  const { endpoint, text, destination, callbackUrl, isOwn, sent, set } = useScratchpad()
  // What a person had shown is hidden again at the next visit.
  useEffect(() => () => set({ isRevealed: false }), [set])
  const [shownId, setShownId] = useState<string | null>(null)
  const send = useMutation({
    mutationFn: async () => {
      if (destination === null) return
      const address = callbackUrl.trim().replace(/\/+$/, '')
      const isAsync = hasModes(endpoint) && endpoint.mode === 'async'
      const exchange = await bridge.scratchpad.send({
        ...{ destination, endpoint, text },
        ...(isAsync && address !== '' && { callbackUrl: address }),
      })
      keepSent({ exchange, endpoint, destination, text, callbackUrl, isOwn, callback: null })
      setShownId(exchange.id)
    },
  })
  const answer = useRef<HTMLParagraphElement>(null)
  // Under the request in a narrow window, the answer would come unseen.
  useEffect(() => {
    if (shownId !== null) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [shownId])
  const shown = sent.find(({ exchange }) => exchange.id === shownId) ?? sent[0] ?? null
  const again = ({ exchange: _exchange, callback: _callback, ...request }: SentRequest) =>
    set({ ...request, isRevealed: false })
  return (
    <Screen
      title="Scratchpad"
      subtitle="Sends one request by hand, once. It is not part of any run or file."
      actions={
        <>
          <ContentSwitch />
          <PrimaryButton
            onPress={send.mutate}
            busy={send.isPending}
            blocked={destination === null ? 'Choose where to send it' : undefined}
            icon={<IconSend size="1rem" />}
          >
            Send
          </PrimaryButton>
        </>
      }
    >
      {send.error !== null && <ErrorNotice error={send.error} onDismiss={send.reset} />}
      <Columns least="26rem" areApart>
        <RequestEditor connections={connections} />
        <Stack gap="md" miw={0}>
          <p ref={answer} className={`visually-hidden ${styles.answerTop}`} role="status">
            {shown !== null && nameAnswer(shown)}
          </p>
          <AnswerPanels request={shown} connections={connections} isSending={send.isPending} />
        </Stack>
      </Columns>
      {sent.length > 0 && (
        <SentPanel
          sent={sent}
          shownId={shown?.exchange.id ?? null}
          onShow={(request) => setShownId(request.exchange.id)}
          onAgain={again}
        />
      )}
    </Screen>
  )
}
