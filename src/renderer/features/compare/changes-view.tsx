import { Group, Select, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconDownload, IconX } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ListedChange, RunPair } from '../../../shared/bridge/compare.ts'
import type { ChangeFilter } from '../../../shared/lookback/comparison.ts'
import { describeChangedRow, formatScoreMove } from '../../../shared/lookback/comparison-text.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCounted, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameAnswer } from '../../../shared/messages/name-code.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { ROW_EXPORT_FORMATS, type RowExportFormat } from '../../../shared/run/export-formats.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { saveExport } from '../../bridge/save-export.ts'
import {
  type ContentRule,
  ContentSwitch,
  createContentRule,
  isFieldContent,
  MASK_REM,
  MaskedText,
  maskJson,
  removeQuotes,
  useContentShown,
  useExceptions,
} from '../../ui/content/user-content.tsx'
import { ActionButton, IconButton, RevealButton, ScrollRegion } from '../../ui/controls.tsx'
import { DataGrid, type GridColumn } from '../../ui/grid/data-grid.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { hasModifier } from '../../ui/shortcuts.ts'
import { RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { FactList } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './compare.module.css'
import { Joining, useDecisions } from './decisions-view.tsx'

const PAGE_ROWS = 100

export function ChangesView(props: {
  pair: RunPair
  list: ChangeFilter
  onList: (list: ChangeFilter) => void
}) {
  const { pair, list } = props
  const decisions = useDecisions(pair)
  const changes = useChanges(pair, list)
  const [cursor, setCursor] = useState(0)
  const [isOpen, setOpen] = useState(false)
  /** The row that is revealed individually, or hidden while all are shown; by its number in B. */
  const [toggled, changeToggled] = useExceptions<number | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const shown = useContentShown()
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId: pair.b } })).data
  const names = useQuery(ask.results.columns.queryOptions({ input: { runId: pair.b } })).data
  const isContent = useMemo(
    () => createContentRule(names ?? [], plan === undefined ? {} : toWholeMapping(plan, names ?? [])),
    [names, plan],
  )
  const inFiles = changes.rowAt(0)?.b.place.file !== undefined
  // Numbers and contents pair rows without a key.
  const hasKeys = !['row', 'content'].includes(decisions.data?.joined_by ?? 'row')
  const columns = useMemo(() => {
    return createColumns({
      names: names ?? [],
      isContent,
      inFiles,
      hasKeys,
      isRevealed: (row) => shown !== (row === toggled),
    })
  }, [names, isContent, inFiles, hasKeys, shown, toggled])
  const rules = decisions.data?.joined.rules ?? []
  const row = changes.rowAt(cursor)
  const reveal = () =>
    row !== null && changeToggled((record) => (record === row.b.record ? null : row.b.record))
  const step = (by: 1 | -1) =>
    setCursor((at) => Math.min(Math.max(0, at + by), Math.max(0, (changes.total ?? 1) - 1)))
  const close = () => {
    setOpen(false)
    place.current?.querySelector<HTMLElement>('[role="grid"]')?.focus()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === ' ') reveal()
    else if (event.key === 'Escape' && isOpen) close()
    else return false
    return true
  }
  const pressInAnswers = (event: KeyboardEvent) => {
    if (hasModifier(event)) return
    if (event.key === 'Escape') close()
    else if (event.key === 'j' || event.key === 'J') step(1)
    else if (event.key === 'k' || event.key === 'K') step(-1)
    else return
    event.preventDefault()
  }
  return (
    <div className="grid one-column gap-4">
      <Group gap="var(--space-2) var(--space-3)">
        <Select
          aria-label="Which rows"
          searchable
          flex="1 1 16.5rem"
          maw="32rem"
          value={toChoice(list)}
          data={listChoices(rules.map(({ rule }) => rule))}
          onChange={(value) => {
            if (value === null) return
            setCursor(0)
            props.onList(parseChoice(value))
          }}
        />
        <p className="flex-1 quiet nowrap" aria-live="polite">
          {changes.total === null ? 'Counting rows' : formatCounted(changes.total, 'row')} · <kbd>J</kbd>{' '}
          <kbd>K</kbd> move · <kbd>Space</kbd> reveal · <kbd>Enter</kbd> open both answers
        </p>
        <ContentSwitch />
        <ExportChanges pair={pair} list={list} isEmpty={changes.total === 0} />
      </Group>
      {changes.error !== null && <ErrorNotice error={changes.error} />}
      {changes.total === null && changes.error === null && <Joining />}
      {changes.total === 0 && (
        <Panel title="Changed rows">
          <p className="quiet">No row changed in this way.</p>
        </Panel>
      )}
      {changes.total !== null && changes.total > 0 && (
        <div
          className={`grid one-column rounded-large overflow-hidden ${styles.split}`}
          data-open={isOpen}
          ref={place}
        >
          <div className="min-w-0 min-h-0">
            <DataGrid
              label="Changed rows"
              focused
              columns={columns}
              count={changes.total}
              rowAt={changes.rowAt}
              cursor={cursor}
              onCursor={setCursor}
              onOpen={(index) => {
                setCursor(index)
                setOpen(true)
              }}
              onKey={press}
              onWindow={changes.want}
            />
          </div>
          {isOpen && row !== null && (
            // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the table go on working beside it
            <div className="contents" onKeyDown={pressInAnswers}>
              <BothAnswers
                pair={pair}
                change={row}
                isContent={isContent}
                isRevealed={shown !== (toggled === row.b.record)}
                onReveal={reveal}
                onStep={step}
                onClose={close}
              />
            </div>
          )}
        </div>
      )}
    </div>
  )
}

/** The changed rows for a table, which reads the pages in view. */
function useChanges(pair: RunPair, list: ChangeFilter) {
  const [view, setView] = useState({ first: 0, last: 0 })
  const from = Math.floor(view.first / PAGE_ROWS)
  const to = Math.floor(view.last / PAGE_ROWS)
  const pages = useQueries({
    queries: Array.from({ length: to - from + 1 }, (_, index) =>
      ask.compare.changes.queryOptions({
        input: { ...pair, list, offset: (from + index) * PAGE_ROWS, limit: PAGE_ROWS },
        staleTime: Number.POSITIVE_INFINITY,
      }),
    ),
  })
  const rowAt = (index: number): ListedChange | null =>
    pages[Math.floor(index / PAGE_ROWS) - from]?.data?.rows[index % PAGE_ROWS] ?? null
  const total = pages.find(({ data }) => data !== undefined)?.data?.total ?? null
  const [known, setKnown] = useState<number | null>(null)
  if (total !== null && total !== known) setKnown(total)
  const want = useCallback(
    (first: number, last: number) =>
      setView((old) => (old.first === first && old.last === last ? old : { first, last })),
    [],
  )
  return {
    // The table keeps its length while the next page is read.
    total: total ?? known,
    rowAt,
    want,
    error: pages.find((page) => page.error !== null)?.error ?? null,
  }
}

const RULE_KINDS = ['newly', 'no-longer'] as const

function toChoice(list: ChangeFilter): string {
  return 'rule' in list ? `${list.kind}:${list.rule}` : list.kind
}

/** Reads the text of {@link toChoice}. */
export function parseChoice(text: string): ChangeFilter {
  for (const kind of RULE_KINDS) {
    if (text.startsWith(`${kind}:`)) return { kind, rule: text.slice(kind.length + 1) }
  }
  return text === 'outcome' || text === 'from-cache' ? { kind: text } : { kind: 'changed' }
}

function listChoices(rules: readonly string[]) {
  const names = [...new Set(rules)]
  return [
    { value: 'changed', label: 'All changed rows' },
    { value: 'outcome', label: 'Rows that ended differently' },
    { value: 'from-cache', label: 'Changed rows that were analysed before (from_cache)' },
    ...names.map((rule) => ({ value: `newly:${rule}`, label: `Newly triggered ${rule}` })),
    ...names.map((rule) => ({ value: `no-longer:${rule}`, label: `No longer triggered ${rule}` })),
  ]
}

/** Source columns shown in the table; the view of both answers has all. */
const CELLS_SHOWN = 6

function createColumns(options: {
  names: readonly string[]
  isContent: ReturnType<typeof createContentRule>
  /** Whether rows are named together with their files. */
  inFiles: boolean
  hasKeys: boolean
  isRevealed: (row: number) => boolean
}): GridColumn<ListedChange>[] {
  const { names, isContent, inFiles, hasKeys, isRevealed } = options
  const key: GridColumn<ListedChange> = {
    id: 'key',
    title: 'Key',
    rem: MASK_REM,
    cell: ({ key: text, keyLength, b }) =>
      text !== null && (
        <MaskedText
          text={text}
          length={keyLength}
          revealed={isRevealed(b.record) || !isFieldContent(undefined, text, keyLength)}
          isCell
        />
      ),
  }
  const content = names.map((_, index) => index)
  return [
    {
      id: 'row',
      title: 'Row',
      rem: inFiles ? 14 : 6,
      align: 'end',
      cell: ({ a, b }) => <PairedRowNumber a={a} b={b} />,
    },
    {
      id: 'change',
      title: 'Change',
      rem: 18,
      grow: true,
      cell: (row) => <SafeText text={describeChangedRow(row)} max={200} isCell />,
    },
    ...(hasKeys ? [key] : []),
    ...content.slice(0, CELLS_SHOWN).map(
      (index): GridColumn<ListedChange> => ({
        id: `cell ${index}`,
        title: <SafeText text={names[index] ?? `Column ${index + 1}`} max={40} />,
        name: names[index] ?? `Column ${index + 1}`,
        rem: MASK_REM,
        cell: (row) => {
          const text = row.cells[index] ?? ''
          const length = row.cellLengths[index] ?? text.length
          return (
            <MaskedText
              text={text}
              length={length}
              revealed={isRevealed(row.b.record) || !isContent(index, text, length)}
              isCell
            />
          )
        },
      }),
    ),
  ]
}

function ExportChanges({ pair, list, isEmpty }: { pair: RunPair; list: ChangeFilter; isEmpty: boolean }) {
  const [format, setFormat] = useState<RowExportFormat>('csv')
  const file = useFileWriter()
  const write = () =>
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'row')} written`,
      write: () =>
        saveExport(`changes.${format}`, (target) =>
          bridge.compare.exportChanges({ ...pair, list, format, ...target }),
        ),
    })
  return (
    <>
      <Select
        aria-label="Format of the file"
        w="9rem"
        value={format}
        data={ROW_EXPORT_FORMATS.map(({ ending, label }) => ({ value: ending, label }))}
        onChange={(ending) => ending !== null && setFormat(ending)}
      />
      <ActionButton
        label="Export these rows"
        disabled={isEmpty}
        loading={file.isWriting}
        icon={IconDownload}
        onClick={write}
      />
      {file.notice}
    </>
  )
}

/** Both answers of a row side by side; user content is masked until revealed. */
function BothAnswers(props: {
  pair: RunPair
  change: ListedChange
  /** For the columns of B. */
  isContent: ContentRule
  isRevealed: boolean
  onReveal: () => void
  /** Moves to the next or previous changed row. */
  onStep: (step: 1 | -1) => void
  onClose: () => void
}) {
  const { pair, change, isRevealed } = props
  const a = useQuery(ask.results.row.queryOptions({ input: { runId: pair.a, row: change.a.record } }))
  const b = useQuery(ask.results.row.queryOptions({ input: { runId: pair.b, row: change.b.record } }))
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const error = a.error ?? b.error
  return (
    <section className={`stack min-w-0 min-h-0 bg-surface ${styles.both}`} aria-label="Both answers">
      <header className={`row flex-none gap-3 p-2-4 border-b ${styles.bothHead}`}>
        <h2 className="flex-1 text-md bold" ref={heading} tabIndex={-1}>
          Row <PairedRowNumber a={change.a} b={change.b} />
        </h2>
        <RevealButton isRevealed={isRevealed} onClick={props.onReveal} />
        <IconButton icon={IconChevronUp} label="Previous row" onClick={() => props.onStep(-1)} />
        <IconButton icon={IconChevronDown} label="Next row" onClick={() => props.onStep(1)} />
        <IconButton icon={IconX} label="Close" onClick={props.onClose} />
      </header>
      {error !== null && <ErrorNotice error={error} />}
      <ScrollRegion className="flex-1 min-h-0 p-3-4" label="Details of both answers">
        {a.data !== undefined && b.data !== undefined && (
          <>
            <FactList
              className={styles.cells}
              facts={b.data.result.cells.map((cell, index) => [
                <SafeText key="name" text={b.data.columns[index] ?? `Column ${index + 1}`} max={60} />,
                <MaskedText
                  key="cell"
                  text={cell}
                  revealed={isRevealed || !props.isContent(index, cell)}
                  max={1_000}
                />,
              ])}
            />
            <div className="grid two-columns gap-4 mt-4">
              <Answer letter="A" detail={a.data} other={b.data} revealed={isRevealed} />
              <Answer letter="B" detail={b.data} other={a.data} revealed={isRevealed} />
            </div>
          </>
        )}
      </ScrollRegion>
    </section>
  )
}

/** The row's place in the source of B, preceded by that in the source of A if it differs. */
function PairedRowNumber({ a, b }: Pick<ListedChange, 'a' | 'b'>) {
  const inB = <RowNumber record={b.record} place={b.place} />
  if (a.row === b.row) return inB
  return (
    <>
      <RowNumber record={a.record} place={a.place} /> → {inB}
    </>
  )
}

function Answer(props: { letter: 'A' | 'B'; detail: RowDetail; other: RowDetail; revealed: boolean }) {
  const { letter, detail, other } = props
  const { result } = detail
  const otherRules = new Set(other.result.triggeredRules.map(({ ruleName }) => ruleName))
  const otherScores = new Map(other.result.classScores.map(({ className, score }) => [className, score]))
  const code = nameAnswer(result.status, result.errorCode)
  const rules = result.triggeredRules.map(({ ruleId, ruleName }) => (
    <span
      key={ruleId}
      className={`max-w-full rounded text-xs ${styles.rule}`}
      data-only={!otherRules.has(ruleName)}
    >
      <SafeText text={ruleName} max={60} />
      {!otherRules.has(ruleName) && ` only in ${letter}`}
    </span>
  ))
  const scores = detail.result.classScores
    .toSorted((a, b) => b.score - a.score)
    .map(({ className, score }) => {
      const before = otherScores.get(className)
      return (
        <li key={className}>
          <SafeText text={className} max={40} /> {score}
          {letter === 'B' && before !== undefined && before !== score && (
            <span className="quiet"> {formatScoreMove(score - before)}</span>
          )}
        </li>
      )
    })
  return (
    <section className={`grid one-column gap-2 min-w-0 ${styles.answer}`} aria-label={`Answer in ${letter}`}>
      <h3>
        {letter} <StateLabel state={result.state} attempts={result.attempts} />
      </h3>
      <FactList
        className={styles.cells}
        facts={[
          [
            'Triggered rules',
            <span key="rules" className="flex flex-wrap gap-1">
              {rules.length === 0 ? 'none' : rules}
            </span>,
          ],
          detail.result.classScores.length > 0 && [
            'Scores',
            <Stack key="scores" component="ul" gap={2}>
              {scores}
            </Stack>,
          ],
          ['Answer', code === '' ? 'none' : <SafeText key="code" text={code} max={80} />],
          result.message !== null && [
            'In words',
            <SafeText
              key="words"
              text={props.revealed ? result.message : removeQuotes(result.message, detail.requestBody)}
              max={300}
            />,
          ],
          ['Duration', result.durationMs === null ? '–' : formatMs(result.durationMs)],
        ]}
      />
      <h4>Response</h4>
      {detail.responseBody === null ? (
        <p className="quiet">no body</p>
      ) : (
        <LongText
          text={prettyJson(
            props.revealed ? detail.responseBody : maskJson(detail.responseBody, detail.requestBody),
          )}
          label={`Response in ${letter}`}
        />
      )}
    </section>
  )
}
