import { SegmentedControl, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck, IconList, IconListSearch, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { LIST_FORMATS, ListQuery } from '../../../shared/bridge/lists.ts'
import {
  LEDGER_STATES,
  type Ledger,
  type LedgerKind,
  type LedgerService,
  type LedgerState,
  SHOWN_STATES,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { saveExport } from '../../bridge/save-export.ts'
import { useTableView } from '../../bridge/table-view.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ContentSwitch, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton, TextField } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Pager } from '../../ui/pager.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { type Column, Table } from '../../ui/table/table.tsx'
import { useTableColumns } from '../../ui/table/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import { EntryTable, listColumns } from './entry-table.tsx'
import { ExportMenu, ListAction, type ListDraft } from './list-actions.tsx'
import { LIST_KINDS, LIST_LOOKS, nameService, toListStateLook, toServiceKey } from './list-looks.ts'
import styles from './lists.module.css'

const PAGE_ENTRIES = 100
const TYPING_MS = 200

/** What all runs made of indexes, watchlists and appeals, and runs that are made of that again. */
export function ListsScreen(props: {
  of: LedgerKind
  onOf: (of: LedgerKind) => void
  /** What an address is called. */
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
        onChange={(value) => onOf(LIST_KINDS.find((kind) => kind === value) ?? of)}
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
              <ul>
                {ledger.warnings.map((warning) => (
                  <li key={warning}>
                    <SafeText text={warning} max={400} lines />
                  </li>
                ))}
              </ul>
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

/** What is written to a file; null where no list is chosen. */
function toQuery(ledger: Ledger, states: readonly LedgerState[], search: string): ListQuery | null {
  if (!isChosen(ledger)) return null
  const { of, service, list } = ledger
  return { of, service, list, states: [...states], search: search === '' ? null : search }
}

/** The entries that match, a page at a time. */
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
  const columns = useTableColumns(listColumns(ledger.of), table.view, table.setView)
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

/** Whether the entries of one list are shown, and not the lists there are. */
function isChosen(ledger: Ledger): boolean {
  return ledger.of === 'appeals' || ledger.list !== null
}

/** The service, the list, the states and the search. */
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

/** Every list of the service with its counts, where one has to be chosen. */
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
              <button
                type="button"
                className={`p-0 border-0 accent ${styles.link}`}
                onClick={() => onList(name)}
              >
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
