import { NumberInput, Radio, Stack, TextInput } from '@mantine/core'
import type { SandboxOffers } from '../../../shared/bridge/app.ts'
import { type Operation, TERMS_PER_REQUEST_MAX } from '../../../shared/plan/operation.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { OverwriteNotice } from '../../ui/operations/overwrite-notice.tsx'
import { ModeChoice } from './mode-choice.tsx'
import styles from './operation.module.css'

type IndexOperation = Extract<Operation, { indexId: string }>
type WatchlistOperation = Extract<Operation, { watchlist: string }>

/** Which custom index, and how its answers come. */
export function IndexOptions(props: {
  offers: SandboxOffers | null
  operation: IndexOperation
  onOperation: (operation: IndexOperation) => void
}) {
  const { operation, offers, onOperation } = props
  return (
    <Stack gap="md">
      <TextInput
        label="Custom index id"
        description={
          offers === null ? (
            'As the dashboard of the service shows it.'
          ) : (
            <Offer
              name={offers.indexId}
              onUse={() => onOperation({ ...operation, indexId: offers.indexId })}
            />
          )
        }
        value={operation.indexId}
        onChange={(event) => onOperation({ ...operation, indexId: event.currentTarget.value })}
        spellCheck={false}
        autoComplete="off"
      />
      <ModeChoice mode={operation.mode} onMode={(mode) => onOperation({ ...operation, mode })} />
      {operation.kind === 'index-add' && (
        <Notice kind="info" title="The service cannot list what is in an index">
          The ids it gives are kept with this run. Export them: that file is what removes the items again.
        </Notice>
      )}
    </Stack>
  )
}

/** Which watchlist, how many terms go into one request, and what an update does with empty notes. */
export function WatchlistOptions(props: {
  offers: SandboxOffers | null
  operation: WatchlistOperation
  onOperation: (operation: WatchlistOperation) => void
}) {
  const { operation, offers, onOperation } = props
  return (
    <Stack gap="md">
      <TextInput
        label="Watchlist"
        description={
          offers === null ? (
            'Its API field name, as the dashboard of the service shows it. The watchlist must exist.'
          ) : (
            <Offer
              name={offers.watchlist}
              onUse={() => onOperation({ ...operation, watchlist: offers.watchlist })}
            />
          )
        }
        value={operation.watchlist}
        onChange={(event) => onOperation({ ...operation, watchlist: event.currentTarget.value })}
        spellCheck={false}
        autoComplete="off"
      />
      <NumberInput
        label="Terms in one request, at most"
        description="A request that the service finds too large is split and sent again."
        maw="18rem"
        value={operation.termsPerRequest}
        min={1}
        max={TERMS_PER_REQUEST_MAX}
        clampBehavior="strict"
        allowDecimal={false}
        thousandSeparator=","
        onChange={(value) => {
          if (typeof value === 'number' && value >= 1) onOperation({ ...operation, termsPerRequest: value })
        }}
      />
      {operation.kind === 'watchlist-update' && (
        <Radio.Group
          label="Where the notes are empty"
          value={operation.emptyNotes}
          onChange={(value) =>
            onOperation({ ...operation, emptyNotes: value === 'clear' ? 'clear' : 'keep' })
          }
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="keep"
              label="Leave the term’s notes alone"
              description="An empty cell changes nothing."
            />
            <Radio
              value="clear"
              label="Clear the term’s notes"
              description="An empty cell empties the notes in the watchlist."
            />
          </Stack>
        </Radio.Group>
      )}
      {operation.kind === 'watchlist-add' && <OverwriteNotice />}
    </Stack>
  )
}

/** The one that the sandbox has, to be taken by a press. */
function Offer({ name, onUse }: { name: string; onUse: () => void }) {
  return (
    <>
      The sandbox has{' '}
      <button type="button" className={styles.offer} onClick={onUse}>
        {name}
      </button>
    </>
  )
}
