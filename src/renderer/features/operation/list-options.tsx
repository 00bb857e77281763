import { NumberInput, Radio, Stack, TextInput } from '@mantine/core'
import { type Operation, TERMS_PER_REQUEST_MAX } from '../../../shared/operation.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { ModeChoice } from './mode-choice.tsx'

type IndexOperation = Extract<Operation, { indexId: string }>
type WatchlistOperation = Extract<Operation, { watchlist: string }>

/** Which custom index, and how its answers come. */
export function IndexOptions(props: {
  operation: IndexOperation
  onOperation: (operation: IndexOperation) => void
}) {
  const { operation, onOperation } = props
  return (
    <Stack gap="md">
      <TextInput
        label="Custom index id"
        description="As the dashboard of the service shows it."
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
  operation: WatchlistOperation
  onOperation: (operation: WatchlistOperation) => void
}) {
  const { operation, onOperation } = props
  return (
    <Stack gap="md">
      <TextInput
        label="Watchlist"
        description="Its API field name, as the dashboard of the service shows it. The watchlist must exist."
        value={operation.watchlist}
        onChange={(event) => onOperation({ ...operation, watchlist: event.currentTarget.value })}
        spellCheck={false}
        autoComplete="off"
      />
      <NumberInput
        label="Terms in one request, at most"
        description="A request that the service finds too large is split and sent again."
        w="14rem"
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

/** Said before terms are added: what the service does to those it has already. */
function OverwriteNotice() {
  return (
    <Notice kind="warning" title="Notes of existing terms are overwritten">
      A term that is in the watchlist already gets the notes of this file in place of its own, and is counted
      as pre-existing. The old notes cannot be read back.
    </Notice>
  )
}
