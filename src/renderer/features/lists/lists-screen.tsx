import { Menu, SegmentedControl, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck, IconChevronDown, IconList, IconListSearch, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useRef, useState } from 'react'
import { LIST_FORMATS, type ListQuery } from '../../../shared/bridge/lists.ts'
import type { ChosenSource } from '../../../shared/bridge/source.ts'
import {
  type AppealEntry,
  findLedgerOperation,
  type IndexEntry,
  LEDGER_STATES,
  type Ledger,
  type LedgerEffect,
  type LedgerKind,
  type LedgerService,
  type LedgerState,
  SHOWN_STATES,
  sayLedgerState,
  type TermEntry,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import { ROW_EXPORT_FORMATS } from '../../../shared/run/export-formats.ts'
import { toAnswerWords } from '../../../shared/run/item-state.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { saveExport } from '../../bridge/save-export.ts'
import { useTableView } from '../../bridge/table-view.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ContentSwitch, isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, Pager, PrimaryButton, TextField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type Column, Table } from '../../ui/table/table.tsx'
import { type TableColumn, type TableColumns, useTableColumns } from '../../ui/table/table-columns.tsx'
import { SafeText, TextList } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import {
  ADDABLE_STATES,
  LIST_KINDS,
  LIST_LOOKS,
  nameService,
  REMOVABLE_STATES,
  toListStateLook,
  toServiceKey,
} from './list-looks.ts'
import styles from './lists.module.css'

const PAGE_ENTRIES = 100
const TYPING_MS = 200

/** The indexes, watchlists and appeals of all runs, and actions that start runs from them. */
export function ListsScreen(props: {
  of: LedgerKind
  onOf: (of: LedgerKind) => void
  namePlace: NamePlace
  onDraft: (draft: ListDraft) => Promise<void>
  onOpenRun: (runId: string) => void
  onNew: () => void
}) {
  const { of, onOf } = props
  const look = LIST_LOOKS[of]
  const [chosen, setChosen] = useState<Chosen>({
    service: null,
    list: null,
    states: SHOWN_STATES[of],
    search: '',
    offset: 0,
  })
  const choose = (part: Partial<Chosen>) => setChosen((known) => ({ ...known, offset: 0, ...part }))
  const [search] = useDebouncedValue(chosen.search.trim(), TYPING_MS)
  const page = useQuery({
    ...ask.lists.read.queryOptions({
      input: {
        of,
        service: chosen.service,
        list: chosen.list,
        states: [...chosen.states],
        search: search === '' ? null : search,
        offset: chosen.offset,
        limit: PAGE_ENTRIES,
      },
    }),
    placeholderData: keepPreviousData,
  })
  const ledger = page.data ?? null
  const draft = useMutation({ mutationFn: (work: () => Promise<void>) => work() })
  const file = useFileWriter()
  const write = (format: (typeof LIST_FORMATS)[number]) => {
    const query = ledger === null ? null : toQuery(ledger, chosen.states, search)
    if (query === null) return
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, look.noun)} written`,
      write: () =>
        saveExport(`${query.list ?? of}-${of}.${format}`, (target) =>
          bridge.lists.export({ ...query, format, ...target }),
        ),
    })
  }
  const toDraft = (kind: OperationKind, states: readonly LedgerState[], text: string) =>
    draft.mutate(async () => {
      const query = ledger === null ? null : toQuery(ledger, states, text)
      if (query === null) return
      const { isSandbox, ...source } = await bridge.lists.toSource(query)
      await props.onDraft({ kind, list: query.list, service: query.service, isSandbox, source })
    })
  const error = page.error ?? draft.error
  return (
    <Screen
      title="Lists"
      subtitle="From the records of your runs"
      actions={
        ledger !== null && isChosen(ledger) ? (
          <>
            <ExportMenu
              busy={file.isWriting || page.isFetching}
              blocked={ledger.total === 0}
              onFormat={write}
            />
            <ListAction
              ledger={ledger}
              states={chosen.states}
              search={search}
              busy={draft.isPending || page.isFetching}
              onDraft={toDraft}
            />
          </>
        ) : null
      }
    >
      <SegmentedControl
        aria-label="Lists"
        w="auto"
        className="self-start"
        data={LIST_KINDS.map((value) => ({ value, label: LIST_LOOKS[value].title }))}
        value={of}
        onChange={onOf}
      />
      {error !== null && <ErrorNotice error={error} onRetry={page.refetch} />}
      {file.notice}
      {page.isPending && <p className="quiet">Adding up the runs…</p>}
      {page.data === null && (
        <Empty
          icon={IconList}
          title={`No ${look.noun}s yet`}
          actions={<PrimaryButton onPress={props.onNew}>New run</PrimaryButton>}
        >
          {look.origin}
        </Empty>
      )}
      {ledger !== null && (
        <>
          <Choices ledger={ledger} chosen={chosen} namePlace={props.namePlace} onChoose={choose} />
          {ledger.warnings.length > 0 && (
            <Notice kind="warning" title="This list may be incomplete">
              <TextList texts={ledger.warnings} max={400} />
            </Notice>
          )}
          {isChosen(ledger) ? (
            <EntryPanel
              ledger={ledger}
              isStale={page.isPlaceholderData}
              states={chosen.states}
              offset={chosen.offset}
              onOffset={(offset) => choose({ offset })}
              onAll={() => choose({ states: LEDGER_STATES[of], search: '' })}
              onOpenRun={props.onOpenRun}
            />
          ) : (
            <ListChoice ledger={ledger} onList={(list) => choose({ list })} />
          )}
        </>
      )}
    </Screen>
  )
}

/** The query for an export; null if no list is chosen. */
function toQuery(ledger: Ledger, states: readonly LedgerState[], search: string): ListQuery | null {
  if (!isChosen(ledger)) return null
  const { of, service, list } = ledger
  return { of, service, list, states: [...states], search: search === '' ? null : search }
}

function EntryPanel(props: {
  ledger: Ledger
  isStale: boolean
  states: readonly LedgerState[]
  offset: number
  onOffset: (offset: number) => void
  onAll: () => void
  onOpenRun: (runId: string) => void
}) {
  const { ledger, isStale, states, offset } = props
  const { noun } = LIST_LOOKS[ledger.of]
  const table = useTableView(ledger.of)
  const columns = useTableColumns(listColumns(ledger.of), table.view, table.changeView)
  const isShown = useContentShown()
  return (
    <Panel
      title={`${formatCounted(ledger.total, noun)}${ledger.list === null ? '' : ` in ${ledger.list}`}`}
      aside={
        <>
          {states.length === LEDGER_STATES[ledger.of].length
            ? 'all states'
            : states.map((state) => toListStateLook(ledger.of, state).word).join(', ')}
          <ContentSwitch />
          {columns.menu}
        </>
      }
      flush
    >
      {table.error !== null && <ErrorNotice error={table.error} />}
      {ledger.entries.length === 0 ? (
        <Empty
          icon={IconListSearch}
          title={`No ${noun} matches`}
          actions={<ActionButton label="Show all states" onClick={props.onAll} />}
        >
          {states.length === 0
            ? 'Choose at least one state above.'
            : 'Choose other states, or search for less.'}
        </Empty>
      ) : (
        <div aria-busy={isStale} className={styles.page}>
          <EntryTable columns={columns} ledger={ledger} isShown={isShown} onOpenRun={props.onOpenRun} />
        </div>
      )}
      <Pager
        offset={offset}
        limit={PAGE_ENTRIES}
        total={ledger.total}
        noun={noun}
        onOffset={props.onOffset}
      />
    </Panel>
  )
}

interface Chosen {
  service: LedgerService | null
  list: string | null
  states: readonly LedgerState[]
  search: string
  offset: number
}

/** Whether the entries of one list are shown, not the available lists. */
function isChosen(ledger: Ledger): boolean {
  return ledger.of === 'appeals' || ledger.list !== null
}

function Choices(props: {
  ledger: Ledger
  chosen: Chosen
  namePlace: NamePlace
  onChoose: (part: Partial<Chosen>) => void
}) {
  const { ledger, chosen, namePlace, onChoose } = props
  const { of, service, services, lists, list } = ledger
  const field = useRef<HTMLInputElement>(null)
  useShortcut({ key: '/' }, () => field.current?.focus())
  const look = LIST_LOOKS[of]
  const toggle = (state: LedgerState) =>
    onChoose({
      states: chosen.states.includes(state)
        ? chosen.states.filter((one) => one !== state)
        : [...chosen.states, state],
    })
  return (
    <>
      <search className={`flex flex-wrap items-end gap-3 ${styles.choices}`} aria-label="Filters">
        {services.length > 1 && (
          <Select
            label="Service"
            data={services.map((one) => ({ value: toServiceKey(one), label: nameService(one, namePlace) }))}
            value={toServiceKey(service)}
            onChange={(key) => {
              const found = services.find((one) => toServiceKey(one) === key)
              if (found !== undefined) onChoose({ service: found, list: null })
            }}
          />
        )}
        {look.list !== null && lists.length > 1 && list !== null && (
          <Select
            label={look.list}
            data={lists.map(({ name }) => name)}
            value={list}
            onChange={(name) => onChoose({ list: name, service })}
          />
        )}
        {isChosen(ledger) && (
          <TextField
            ref={field}
            label="Search"
            placeholder={of === 'index' ? 'Id, address, metadata' : `Text of the ${look.noun}`}
            title="Entries that contain this text ( / )"
            leftSection={<IconSearch size="1rem" aria-hidden />}
            value={chosen.search}
            onValue={(search) => onChoose({ search })}
            isLiteral
            className={styles.search ?? ''}
          />
        )}
        <p className={`quiet ${styles.origin}`}>
          {services.length === 1 && `${nameService(service, namePlace)} · `}
          {formatCounted(ledger.runs, 'run')}
        </p>
      </search>
      {isChosen(ledger) && (
        <fieldset className={`grid gap-2 m-0 p-0 border-0 ${styles.states}`}>
          <legend className="visually-hidden">States</legend>
          {LEDGER_STATES[of].map((state) => {
            const { word, meaning, color } = toListStateLook(of, state)
            const count = ledger.counts[state] ?? 0
            return (
              <button
                key={state}
                type="button"
                className="bare"
                aria-pressed={chosen.states.includes(state)}
                onClick={() => toggle(state)}
              >
                <span
                  className={`flex gap-1 text-lg bold ${styles.count}`}
                  style={{ color: count === 0 ? 'var(--text-2)' : color }}
                >
                  {formatCount(count)} <span className="text-sm">{word}</span>
                  <IconCheck size="1rem" className="flex-none ml-auto accent" aria-hidden />
                </span>
                <small className="small">{meaning}</small>
              </button>
            )
          })}
        </fieldset>
      )}
    </>
  )
}

/** Every list of the service with its counts, if one must be chosen. */
function ListChoice({ ledger, onList }: { ledger: Ledger; onList: (list: string) => void }) {
  const { of, lists } = ledger
  return (
    <Panel title={`Choose one of ${formatCount(lists.length)}`} flush>
      <Table
        className={styles.table}
        caption={LIST_LOOKS[of].title}
        rows={lists}
        toKey={({ name }) => name}
        columns={[
          {
            title: LIST_LOOKS[of].list,
            cell: ({ name }) => (
              <button type="button" className={`bare accent ${styles.link}`} onClick={() => onList(name)}>
                <SafeText text={name} max={80} />
              </button>
            ),
          },
          ...LEDGER_STATES[of].map(
            (state): Column<(typeof lists)[number]> => ({
              title: toListStateLook(of, state).word,
              isNumber: true,
              cell: ({ counts }) => formatCount(counts[state] ?? 0),
            }),
          ),
        ]}
      />
    </Panel>
  )
}

/** A column of the entries. Its cells are null if empty; it is left out if all cells of a page are. */
type EntryColumn<Entry> = Pick<Column<Entry>, 'isNumber'> & {
  title: string
  cell: (entry: Entry, isShown: boolean) => ReactNode
}

/** The entries of a page; content is masked until revealed. */
function EntryTable(props: {
  ledger: Ledger
  isShown: boolean
  columns: TableColumns
  onOpenRun: (runId: string) => void
}) {
  const { ledger, isShown, onOpenRun } = props
  const common = { isShown, table: props.columns, onOpenRun }
  switch (ledger.of) {
    case 'index':
      return <Entries {...common} of="index" columns={INDEX_COLUMNS} entries={ledger.entries} />
    case 'watchlist':
      return <Entries {...common} of="watchlist" columns={TERM_COLUMNS} entries={ledger.entries} />
    case 'appeals':
      return <Entries {...common} of="appeals" columns={APPEAL_COLUMNS} entries={ledger.entries} />
  }
}

function Entries<Entry extends IndexEntry | TermEntry | AppealEntry>(props: {
  of: LedgerKind
  columns: readonly EntryColumn<Entry>[]
  entries: readonly Entry[]
  isShown: boolean
  table: TableColumns
  onOpenRun: (runId: string) => void
}) {
  const { of, entries, isShown } = props
  const columns = withCommonColumns(props.columns, of, props.onOpenRun)
    .filter(({ cell }) => entries.some((entry) => cell(entry, isShown) !== null))
    .map(
      ({ cell, ...column }): Column<Entry> => ({
        ...column,
        isRowHead: false,
        cell: (entry) => cell(entry, isShown) ?? '–',
      }),
    )
  return (
    <Table
      className={styles.table}
      caption="Entries, oldest first"
      rows={entries}
      columns={columns}
      view={props.table}
    />
  )
}

/** All columns of a kind; the state is second, so that a narrow window shows it. */
function withCommonColumns<Entry extends IndexEntry | TermEntry | AppealEntry>(
  [name, ...others]: readonly EntryColumn<Entry>[],
  of: LedgerKind,
  onOpenRun: (runId: string) => void,
): EntryColumn<Entry>[] {
  return [
    ...(name === undefined ? [] : [name]),
    { title: 'State', cell: ({ state }) => <StateWord of={of} state={state} /> },
    ...others,
    {
      title: 'Last request',
      cell: ({ run_id: runId, row }) => (
        <button
          type="button"
          className={`bare accent ${styles.link}`}
          title={`Run ${runId}`}
          onClick={() => onOpenRun(runId)}
        >
          row {row}
        </button>
      ),
    },
  ]
}

function StateWord({ of, state }: { of: LedgerKind; state: LedgerState }) {
  const { word, meaning, color } = toListStateLook(of, state)
  return (
    <span className="medium" style={{ color }} title={meaning}>
      {word}
    </span>
  )
}

function toMoment(at: string | null): ReactNode {
  return at === null ? null : <span className="quiet">{formatTimestamp(at)}</span>
}

const INDEX_COLUMNS: readonly EntryColumn<IndexEntry>[] = [
  {
    title: 'Item',
    cell: ({ custom_index_item_id: id, items }) =>
      id === null ? (
        <em className="quiet">not known{items > 1 ? `, up to ${formatCounted(items, 'item')}` : ''}</em>
      ) : (
        <SafeText text={id} max={80} />
      ),
  },
  {
    title: 'Address or media',
    cell: ({ url, media }, isShown) => toField('url', url ?? media, isShown),
  },
  { title: 'Variant', cell: (entry) => toText(entry.content_variant) },
  {
    title: 'Metadata',
    cell: (entry) => toText(entry.metadata_text),
  },
  { title: 'Added', cell: ({ first_at: at }) => toMoment(at) },
]

const TERM_COLUMNS: readonly EntryColumn<TermEntry>[] = [
  { title: 'Term', cell: ({ term }, isShown) => toField('term', term, isShown) },
  { title: 'Last outcome', cell: ({ outcome }) => toAnswerWords(outcome) },
  {
    title: 'Reason',
    cell: ({ outcome, failure }) =>
      outcome === 'failed' ? (toText(failure) ?? <em className="quiet">the service gave none</em>) : null,
  },
  {
    title: 'Notes',
    cell: ({ state, notes, notes_known: isKnown }, isShown) => {
      if (!isKnown && state === 'known') return <em className="quiet">not known</em>
      return toField('notes', notes, isShown)
    },
  },
  { title: 'Last answer', cell: ({ changed_at: at }) => toMoment(at) },
]

const APPEAL_COLUMNS: readonly EntryColumn<AppealEntry>[] = [
  { title: 'Appeal', cell: (entry) => toText(entry.appeal_id) },
  { title: 'Decision', cell: (entry) => toText(entry.action_name) },
  { title: 'First decision', cell: (entry) => toText(entry.original_action_name) },
  { title: 'Since', cell: ({ history }) => toMoment(history.at(-1)?.from ?? null) },
  {
    title: 'Before',
    cell: ({ history }) =>
      history.length < 2
        ? null
        : history
            .slice(0, -1)
            .map(({ state }) => sayLedgerState(state))
            .join(', '),
  },
  { title: 'Last checked', cell: ({ asked_at: at }) => toMoment(at) },
  { title: 'Checks', isNumber: true, cell: ({ asked }) => formatCount(asked) },
  {
    title: 'Unanswered',
    isNumber: true,
    cell: ({ unanswered }) => (unanswered === 0 ? null : formatCount(unanswered)),
  },
]

function toField(field: string, text: string | null, isShown: boolean): ReactNode {
  if (text === null || text === '') return null
  return <MaskedText text={text} revealed={isShown || !isFieldContent(field, text)} max={120} />
}

function toText(text: string | null): ReactNode {
  return text === null || text === '' ? null : <SafeText text={text} max={120} />
}

/** The columns of a kind's entries. The first cannot be hidden, since it identifies the entry. */
function listColumns(of: LedgerKind): readonly TableColumn[] {
  const toColumns = <Entry extends IndexEntry | TermEntry | AppealEntry>(
    columns: readonly EntryColumn<Entry>[],
  ): TableColumn[] =>
    withCommonColumns(columns, of, () => {}).map(({ title }, index) =>
      index === 0 ? { title, isFixed: true } : { title },
    )
  switch (of) {
    case 'index':
      return toColumns(INDEX_COLUMNS)
    case 'watchlist':
      return toColumns(TERM_COLUMNS)
    case 'appeals':
      return toColumns(APPEAL_COLUMNS)
  }
}

/** A run to be prepared: what to do with entries that were written to a file. */
export interface ListDraft {
  kind: OperationKind
  /** The index or watchlist; null for appeals. */
  list: string | null
  service: LedgerService
  isSandbox: boolean
  source: ChosenSource
}

/** Writes the shown entries to a file in one of the formats. */
function ExportMenu(props: {
  busy: boolean
  blocked: boolean
  onFormat: (format: (typeof LIST_FORMATS)[number]) => void
}) {
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionButton
          label="Export"
          loading={props.busy}
          disabled={props.blocked}
          rightSection={<IconChevronDown size="1rem" aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {LIST_FORMATS.map((format) => (
          <Menu.Item key={format} onClick={() => props.onFormat(format)}>
            {ROW_EXPORT_FORMATS.find(({ ending }) => ending === format)?.label ?? format}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Sends shown entries back: items to be removed, terms to be added, appeals to be checked again. */
function ListAction(props: {
  ledger: Ledger
  states: readonly LedgerState[]
  search: string
  busy: boolean
  onDraft: (kind: OperationKind, states: readonly LedgerState[], search: string) => void
}) {
  const { ledger, states, search, busy, onDraft } = props
  const { noun } = LIST_LOOKS[ledger.of]
  const shown = formatCounted(ledger.total, noun)
  const areAll = (known: readonly LedgerState[]) => states.every((state) => known.includes(state))
  const draft = (effect: LedgerEffect, ...of: [readonly LedgerState[], string]) => {
    const kind = findLedgerOperation(ledger.of, effect)
    if (kind !== null) onDraft(kind, ...of)
  }
  /** `why` says which entries can be sent back. */
  const sendShown = (effect: LedgerEffect, isPossible: boolean, label: string, why: string) => (
    <WithReason
      busy={busy}
      blocked={ledger.total === 0 ? `No ${noun} is shown` : isPossible ? undefined : why}
      onPress={() => draft(effect, states, search)}
    >
      {label}
    </WithReason>
  )
  switch (ledger.of) {
    case 'index': {
      const isPossible = areAll(REMOVABLE_STATES)
      const label = isPossible ? `Remove ${shown}…` : 'Remove items…'
      return sendShown('removes', isPossible, label, 'Choose known items, or those whose removal is unknown')
    }
    case 'watchlist': {
      const isPossible = areAll(ADDABLE_STATES)
      const label = isPossible ? `Add ${shown} again…` : 'Add terms again…'
      return sendShown('adds', isPossible, label, 'Choose absent, failed or unknown terms')
    }
    case 'appeals': {
      const inReview = ledger.counts['in_review'] ?? 0
      const isFiltered = search !== '' || states.length < LEDGER_STATES.appeals.length
      return (
        <>
          {isFiltered && ledger.total > 0 && (
            <ActionButton
              label={`Check the ${formatCount(ledger.total)} shown…`}
              disabled={busy}
              onClick={() => draft('reads', states, search)}
            />
          )}
          <WithReason
            busy={busy}
            blocked={inReview === 0 ? 'No appeal is in review' : undefined}
            onPress={() => draft('reads', ['in_review'], '')}
          >
            Check {formatCount(inReview)} in review again…
          </WithReason>
        </>
      )
    }
  }
}

/** The main action, with the reason if it is not available. */
function WithReason(props: ComponentProps<typeof PrimaryButton>) {
  return (
    <>
      {props.blocked !== undefined && (
        <span className={`small text-right ${styles.reason}`}>{props.blocked}</span>
      )}
      <PrimaryButton {...props} />
    </>
  )
}
