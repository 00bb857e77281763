import { Anchor, Group, Modal, Select, Stack } from '@mantine/core'
import { IconEye, IconEyeOff, IconInbox } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import type { CallbackEffect, StoredCallback } from '../../../shared/run/callback-overview.ts'
import { ask } from '../../bridge/client.ts'
import { maskJson, useContentShown, useOnHideAll } from '../../ui/content/user-content.tsx'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './callbacks.module.css'

const EFFECTS: Record<CallbackEffect, string> = {
  settled: 'settled its row',
  doubled: 'duplicate, changed nothing',
  differing: 'differs from the one that counts, kept with its row',
  other_post: 'named another post or item',
  unreadable: 'unreadable, kept with its row',
  measured: 'measured by its load test',
  waiting: 'not processed yet',
  unmatched: 'matched no row',
}

const ALL = 'all'
const CHOICES = [
  { value: ALL, label: 'All' },
  ...Object.entries(EFFECTS).map(([value, words]) => ({
    value,
    label: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
  })),
]

/** The newest callbacks in the inbox with what each did; their content on request. */
export function InboxPanel(props: {
  callbacks: readonly StoredCallback[]
  onOpenRun: (runId: string) => void
}) {
  const { callbacks, onOpenRun } = props
  const [chosen, setChosen] = useState(ALL)
  const [opened, setOpened] = useState<StoredCallback | null>(null)
  const shown = callbacks.filter(({ effect }) => chosen === ALL || effect === chosen)
  if (callbacks.length === 0) {
    return (
      <Empty icon={IconInbox} title="No callbacks yet">
        Callbacks of async runs are listed here as they arrive, with the row that each settled.
      </Empty>
    )
  }
  return (
    <Panel
      title="Newest in the inbox"
      aside={
        <Group gap="sm" wrap="nowrap">
          <span>
            {chosen !== ALL && `${formatCount(shown.length)} of `}
            {formatCounted(callbacks.length, 'callback')}
          </span>
          <Select
            aria-label="What the callback did"
            w="15rem"
            data={CHOICES}
            value={chosen}
            onChange={(value) => setChosen(value ?? ALL)}
          />
        </Group>
      }
      flush
      scrolls
    >
      <Table
        className={styles.table}
        rows={shown}
        toKey={({ id }) => id}
        toRow={({ effect }) => ({ 'data-effect': effect })}
        empty="No callback matches this filter."
        columns={[
          {
            title: 'Run',
            className: styles.run,
            cell: ({ run }) =>
              run === null ? (
                <span className="quiet">not in this workspace</span>
              ) : (
                <Anchor component="button" type="button" fz="inherit" onClick={() => onOpenRun(run.runId)}>
                  <SafeText text={run.name} max={80} />
                </Anchor>
              ),
          },
          {
            title: 'Row',
            isNumber: true,
            cell: ({ row, file, record }) => (
              <>
                {row ?? `record ${record}`}
                {file !== undefined && (
                  <>
                    {' '}
                    of <SafeText text={file} max={60} />
                  </>
                )}
              </>
            ),
          },
          {
            title: 'Received',
            cell: ({ receivedAtMs }) => formatTimestamp(new Date(receivedAtMs).toISOString()),
          },
          { title: 'What it did', cell: ({ effect }) => EFFECTS[effect] },
          { title: 'Size', isNumber: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
          {
            title: 'Content',
            isTitleHidden: true,
            cell: (callback) => (
              <RowButton
                label="Open"
                name={`Open the callback for ${nameRow(callback)}`}
                onPress={() => setOpened(callback)}
              />
            ),
          },
        ]}
      />
      {opened !== null && <CallbackDialog callback={opened} onClose={() => setOpened(null)} />}
    </Panel>
  )
}

function nameRow({ row, file, record }: StoredCallback): string {
  if (row === null) return `record ${record}`
  return file === undefined ? `row ${row}` : `row ${row} of ${file}`
}

/** The content of one callback: what users wrote stays masked until it is revealed. */
function CallbackDialog({ callback, onClose }: { callback: StoredCallback; onClose: () => void }) {
  const body = useQuery(ask.receiver.readBody.queryOptions({ input: { id: callback.id } }))
  const allShown = useContentShown()
  const [isToggled, setToggled] = useState(false)
  useOnHideAll(() => setToggled(false))
  const isRevealed = isToggled !== allShown
  const text = body.data?.text ?? null
  const content = text === null ? null : { whole: prettyJson(text), masked: prettyJson(maskJson(text)) }
  return (
    <Modal opened size="lg" onClose={onClose} title={`Callback for ${nameRow(callback)}`}>
      {body.error !== null && <ErrorNotice error={body.error} onRetry={body.refetch} />}
      {body.data === null && <p>It is gone: its run was deleted.</p>}
      {text !== null && content !== null && (
        <Stack gap="sm">
          <Group justify="space-between">
            <span className="quiet">
              {formatBytes(callback.sizeBytes)}
              {body.data != null &&
                body.data.length > text.length &&
                `, its first ${formatCount(text.length)} characters`}
            </span>
            {content.whole !== content.masked && (
              <ActionButton
                label={isRevealed ? 'Hide the content' : 'Show the content'}
                small
                aria-pressed={isRevealed}
                leftSection={isRevealed ? <IconEyeOff size="1rem" /> : <IconEye size="1rem" />}
                onClick={() => setToggled(!isToggled)}
              />
            )}
          </Group>
          <LongText text={isRevealed ? content.whole : content.masked} label="Callback" />
        </Stack>
      )}
    </Modal>
  )
}
