import { NativeSelect, Select, Stack, TagsInput } from '@mantine/core'
import type { SandboxOffers } from '../../../shared/bridge/sandbox.ts'
import { hasEmptyNotes, type Operation, type TaskOperation } from '../../../shared/operations/operations.ts'
import { TERMS_PER_REQUEST_MAX } from '../../../shared/operations/watchlist.ts'
import { findModel, MODELS } from '../../../shared/service/models.ts'
import { RadioField, SwitchField, TextField, WholeNumber } from '../../ui/controls.tsx'
import { OperationNotice } from '../../ui/operations/operation-looks.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { chooseVersion } from './operation-settings.ts'

/** Which version of the interface, which models, which form of answer; the defaults suit text. */
export function TaskOptions(props: {
  operation: TaskOperation
  /** The column that names the models of each row; null where none does. */
  modelsColumn: string | null
  onOperation: (operation: TaskOperation) => void
}) {
  const { operation, onOperation } = props
  const { api, mode, models } = operation
  const { modelsColumn } = props
  // A cell goes before what is chosen here.
  const usedFor = modelsColumn !== null && (
    <>
      Used for rows without a model in the “<SafeText text={modelsColumn} max={60} />” column.
    </>
  )
  return (
    <Stack gap="md">
      <ModeChoice mode={mode} onMode={(chosen) => onOperation({ ...operation, mode: chosen })} />
      <NativeSelect
        label="Version"
        value={api}
        onChange={(event) =>
          onOperation(chooseVersion(operation, event.currentTarget.value === 'v2' ? 'v2' : 'v1'))
        }
        data={[
          { value: 'v1', label: 'v1: one model per request' },
          { value: 'v2', label: 'v2: several models, custom indexes' },
        ]}
      />
      {api === 'v1' ? (
        <Select
          label="Model"
          description={usedFor}
          clearable
          allowDeselect
          placeholder="text for text_data, visual for url"
          value={models[0] ?? null}
          onChange={(model) => onOperation({ ...operation, models: model === null ? [] : [model] })}
          data={toModelOptions(mode, models)}
        />
      ) : (
        <TagsInput
          label="Models"
          size="xs"
          description={<>Pick models, or type the id of a custom index and press Enter. {usedFor}</>}
          placeholder={models.length === 0 ? 'as the service decides' : ''}
          value={models}
          onChange={(chosen) => onOperation({ ...operation, models: chosen })}
          acceptValueOnBlur
          data={toModelOptions(mode, [])}
        />
      )}
      {api === 'v1' && (
        <SwitchField
          label="Legacy answer"
          description="The long form, with class scores, the language and what the text filters found."
          checked={operation.legacy}
          onValue={(legacy) => onOperation({ ...operation, legacy })}
        />
      )}
    </Stack>
  )
}

/**
 * The models, and which of them the interface does not list for the mode: a reason to look twice, not to refuse. Chosen
 * ones that it does not list at all, such as those of a plan, are options too, so that what is sent is shown.
 */
function toModelOptions(mode: TaskOperation['mode'], chosen: readonly string[]) {
  const unlisted = chosen.filter((name) => findModel(name) === null)
  return [
    ...unlisted.map((name) => ({ value: name, label: `${name}, not a listed model` })),
    ...MODELS.map((model) => ({
      value: model.value,
      label: `${model.label} (${model.value})${model[mode] ? '' : `, not listed for ${mode}`}`,
    })),
  ]
}

function ModeChoice(props: { mode: 'sync' | 'async'; onMode: (mode: 'sync' | 'async') => void }) {
  return (
    <RadioField
      label="Answers"
      value={props.mode}
      onValue={props.onMode}
      choices={[
        {
          value: 'sync',
          label: 'At once (sync)',
          description: 'Each request stays open until its result is there.',
        },
        {
          value: 'async',
          label: 'Later, by callback (async)',
          description:
            'The service takes each row at once and posts its result to this app: for large batches and long videos.',
        },
      ]}
    />
  )
}

type IndexOperation = Extract<Operation, { indexId: string }>
type WatchlistOperation = Extract<Operation, { watchlist: string }>

export function IndexOptions(props: {
  offers: SandboxOffers | null
  operation: IndexOperation
  onOperation: (operation: IndexOperation) => void
}) {
  const { operation, offers, onOperation } = props
  return (
    <Stack gap="md">
      <TextField
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
        onValue={(indexId) => onOperation({ ...operation, indexId })}
        isLiteral
      />
      <ModeChoice mode={operation.mode} onMode={(mode) => onOperation({ ...operation, mode })} />
      <OperationNotice kind={operation.kind} />
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
      <TextField
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
        onValue={(watchlist) => onOperation({ ...operation, watchlist })}
        isLiteral
      />
      <WholeNumber
        label="Terms in one request, at most"
        description="A request that the service finds too large is split and sent again."
        maw="18rem"
        value={operation.termsPerRequest}
        max={TERMS_PER_REQUEST_MAX}
        onValue={(termsPerRequest) => onOperation({ ...operation, termsPerRequest })}
      />
      {hasEmptyNotes(operation) && (
        <RadioField
          label="Where the notes are empty"
          value={operation.emptyNotes}
          onValue={(emptyNotes) => onOperation({ ...operation, emptyNotes })}
          choices={[
            {
              value: 'keep',
              label: 'Leave the term’s notes alone',
              description: 'An empty cell changes nothing.',
            },
            {
              value: 'clear',
              label: 'Clear the term’s notes',
              description: 'An empty cell empties the notes in the watchlist.',
            },
          ]}
        />
      )}
      <OperationNotice kind={operation.kind} />
    </Stack>
  )
}

/** The one that the sandbox has, to be taken by a press. */
function Offer({ name, onUse }: { name: string; onUse: () => void }) {
  return (
    <>
      The sandbox has{' '}
      <button type="button" className="link" onClick={onUse}>
        {name}
      </button>
    </>
  )
}
