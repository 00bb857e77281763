import { Group, Select, Stack } from '@mantine/core'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChosenSource } from '../../../shared/bridge/source.ts'
import { describeVerdicts, type RowVerdict, type VerdictImport } from '../../../shared/lookback/verdict.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayRow } from '../../../shared/plan/source-place.ts'
import {
  BATCH_EXPORT_FORMATS,
  type BatchExportFormat,
  isBatchFormat,
  LOAD_EXPORT_FORMATS,
  type LoadExportFormat,
  ROW_EXPORT_FORMATS,
  type RowExportFormat,
} from '../../../shared/run/export-formats.ts'
import type { RowState } from '../../../shared/run/item-state.ts'
import { describeFilter, type Facet, type RowFilter } from '../../../shared/run/row-filters.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { useFileChoice } from '../../bridge/file-choice.tsx'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { readNarrowedAgain, refreshVerdicts, useVerdicts } from '../../bridge/verdicts.ts'
import { ActionButton, PrimaryButton, RadioField, ScrollRegion, SwitchField } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { STATE_LOOKS, toStateCounts } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './export.module.css'
import { LOSSLESS_UNCHANGED, writeOutcomes } from './outcome-files.tsx'

/** How often rows are counted again: until all are counted, and during the run, milliseconds. */
const COUNT_AGAIN_MS = 50
const REFRESH_MS = 1_000

const FLAGGED: RowFilter = { flagged: true }

type Choice = 'all' | 'filtered' | 'flagged' | 'outcomes' | 'unsuccessful' | 'state'

/** Exports a run's rows: which rows, which format, and whether cells stay exactly as in the source. */
export function ExportScreen(props: {
  runId: string
  /** The filter of this run's results; null if there is none. */
  filter: RowFilter | null
  /** Whether a person asked to export only the filtered rows. */
  beginsFiltered: boolean
}) {
  const { runId, filter } = props
  const summary = useLiveRuns((live) => live.summaries[runId])
  const rows = useLiveRuns((live) => live.snapshots[runId]?.rows)
  const [format, setFormat] = useState<RowExportFormat | BatchExportFormat>('csv')
  const [choice, setChoice] = useState<Choice>(filter !== null && props.beginsFiltered ? 'filtered' : 'all')
  const [state, setState] = useState<RowState>('rejected')
  const [lossless, setLossless] = useState(false)
  const name = summary?.name ?? 'run'

  const states = rows === undefined ? [] : toStateCounts(rows).filter((count) => count.rows > 0)
  const exact = states.find((count) => count.state === state) ?? states[0]
  const chosen = toChosenFilter(choice, filter, exact?.state ?? state)
  const narrowed = useMatchingRows(runId, filter)
  const matching = useMatchingRows(runId, chosen)
  const flagged = useMatchingRows(runId, summary?.operation === 'task' ? FLAGGED : null)
  const about = chosen === null ? null : describeFilter(chosen, matching.facets)
  const file = useFileWriter()
  const write = () => {
    if (choice === 'outcomes') {
      writeOutcomes(file, { runId, name }, { format, ...(format === 'csv' && { lossless }) })
      return
    }
    file.write({
      describe: ({ rows: written }) => describeWritten(written, rows?.read, about),
      unchanged: LOSSLESS_UNCHANGED,
      write: () =>
        saveExport(suggestFileName(name, format), (target) =>
          bridge.exports.create({
            runId,
            format,
            ...target,
            ...(format === 'csv' && { lossless }),
            ...(chosen !== null && { filter: chosen }),
          }),
        ),
    })
  }

  return (
    <Screen
      title="Export"
      actions={
        <PrimaryButton
          onPress={write}
          busy={file.isWriting}
          blocked={
            rows?.read === 0
              ? 'The run has no rows'
              : matching.rows === 0 && matching.isCounted
                ? 'No row matches'
                : undefined
          }
          icon={<IconDownload size="1rem" />}
        >
          {choice === 'outcomes' ? 'Write both files' : 'Write the file'}
        </PrimaryButton>
      }
    >
      {file.notice}
      <p className={`bold breaks ${styles.about}`} role="status">
        {describeScope(choice, matching, rows?.read, about)}
      </p>
      <Columns least="30rem">
        <Panel title="Rows">
          <RadioField
            aria-label="Rows"
            gap="sm"
            value={choice}
            onValue={setChoice}
            choices={[
              {
                value: 'all',
                label: `All rows${rows === undefined ? '' : `: ${formatCount(rows.read)}`}`,
                description:
                  "Includes invalid and unsent rows, each with its outcome. sluice_row is the row's number in the spreadsheet.",
              },
              filter !== null && {
                value: 'filtered',
                label: `The rows of the results as they are filtered${narrowed.rows === null ? '' : `: ${formatCount(narrowed.rows)}`}`,
                description: describeFilter(filter, narrowed.facets),
              },
              summary?.operation === 'task' && {
                value: 'flagged',
                label: `Only rows that triggered a rule${flagged.rows === null ? '' : `: ${formatCount(flagged.rows)}`}`,
                description:
                  'Whichever rule it was. To export the rows of certain rules, filter the results by them.',
              },
              {
                value: 'outcomes',
                label: 'Two files: success and errors',
                description:
                  'Rows that succeeded with their results, and rows that did not with the reasons.',
              },
              {
                value: 'unsuccessful',
                label: 'Only rows that did not succeed',
                description:
                  'Invalid, rejected, failed, unknown and overdue rows, to correct them and send them again.',
              },
              {
                value: 'state',
                label: 'Only rows in one state',
                description: 'For example only rejected rows.',
              },
            ]}
          />
          {choice === 'state' && exact !== undefined && (
            <Select
              aria-label="State"
              mt="xs"
              ml="xl"
              w="16rem"
              value={exact.state}
              onChange={(state) => state !== null && setState(state)}
              data={states.map((count) => ({
                value: count.state,
                label: `${STATE_LOOKS[count.state].word}: ${formatCount(count.rows)}`,
              }))}
            />
          )}
        </Panel>
        <Panel title="Format">
          <FormatField
            formats={
              summary?.operation === 'task'
                ? [...ROW_EXPORT_FORMATS, ...BATCH_EXPORT_FORMATS]
                : ROW_EXPORT_FORMATS
            }
            value={format}
            onValue={setFormat}
          />
          {format === 'csv' && (
            <SwitchField
              mt="md"
              label="Lossless"
              description="Off: a cell that begins with =, +, -, @ or a tab and is no number gets an apostrophe in front, so that a spreadsheet runs nothing; the cells are counted. On: every cell stays exactly as it was."
              value={lossless}
              onValue={setLossless}
            />
          )}
        </Panel>
      </Columns>
      {summary?.operation === 'task' && (
        <VerdictsPanel runId={runId} runName={name} format={isBatchFormat(format) ? 'jsonl' : format} />
      )}
    </Screen>
  )
}

function FormatField<Ending extends string>(props: {
  formats: readonly { ending: Ending; label: string; meaning: string }[]
  value: Ending
  onValue: (format: Ending) => void
}) {
  return (
    <RadioField
      aria-label="Format"
      gap="sm"
      value={props.value}
      onValue={props.onValue}
      choices={props.formats.map(({ ending, label, meaning }) => ({
        value: ending,
        label,
        description: meaning,
      }))}
    />
  )
}

/** Rows that match a filter; `rows` is null until they are counted, and a lower bound until `isCounted`. */
interface MatchingRows {
  rows: number | null
  isCounted: boolean
  /** Includes the service's names for the rules of the filter. */
  facets: readonly Facet[]
}

function useMatchingRows(runId: string, filter: RowFilter | null): MatchingRows {
  const isLive = useLiveRuns((live) => live.snapshots[runId]?.phase !== 'ended')
  const page = useQuery(
    ask.results.page.queryOptions({
      input: filter === null ? skipToken : { runId, filter, offset: 0, limit: 1 },
      refetchInterval: ({ state }) =>
        state.data?.isCounted === false ? COUNT_AGAIN_MS : isLive ? REFRESH_MS : false,
    }),
  )
  const facets = useQuery(
    ask.results.facets.queryOptions({ input: filter?.ruleIds === undefined ? skipToken : { runId, filter } }),
  )
  return {
    rows: page.data?.total ?? null,
    isCounted: page.data?.isCounted ?? false,
    facets: facets.data?.facets ?? [],
  }
}

/** Says which rows the file gets: all rows of the run, or how many of them by which filter. */
function describeScope(
  choice: Choice,
  { rows, isCounted }: MatchingRows,
  all: number | undefined,
  about: string | null,
): string {
  const whole = all === undefined ? 'rows' : formatCounted(all, 'row')
  if (choice === 'outcomes') return `Writes two files from all ${whole}.`
  if (about === null) return `Writes all ${whole}.`
  if (rows === null) return `Counting the rows to write: ${about}.`
  return `Writes ${isCounted ? '' : 'at least '}${formatCount(rows)} of ${whole}: ${about}.`
}

function describeWritten(written: number, all: number | undefined, about: string | null): string {
  if (about === null || all === undefined) return `${formatCounted(written, 'row')} written`
  return `${formatCount(written)} of ${formatCounted(all, 'row')} written: ${about}`
}

function toChosenFilter(choice: Choice, filter: RowFilter | null, state: RowState): RowFilter | null {
  if (choice === 'filtered') return filter
  if (choice === 'flagged') return FLAGGED
  if (choice === 'unsuccessful') return { unsuccessful: true }
  return choice === 'state' ? { state } : null
}

/** Writes and reads the verdicts on a run as a file of their own. */
function VerdictsPanel(props: { runId: string; runName: string; format: RowExportFormat }) {
  const { runId, format } = props
  const { judged, error } = useVerdicts(runId)
  const [imported, setImported] = useState<{ file: ChosenSource; result: VerdictImport } | null>(null)
  const file = useFileWriter()
  const take = async (chosen: ChosenSource, replaces: boolean) => {
    setImported(null)
    const result = await bridge.verdicts.import({ runId, sourceId: chosen.sourceId, replaces })
    setImported({ file: chosen, result })
    refreshVerdicts()
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ask.results.facets.key() }),
      readNarrowedAgain(queryClient),
    ])
  }
  const choice = useFileChoice('verdicts-file', (chosen) => take(chosen, false))
  const replace = useMutation({ mutationFn: (chosen: ChosenSource) => take(chosen, true) })
  const write = () =>
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'verdict')} written`,
      write: () =>
        saveExport(suggestFileName(props.runName, format, 'verdicts'), (target) =>
          bridge.verdicts.export({ runId, format, ...target }),
        ),
    })
  const isHeld = imported !== null && imported.result.verdicts === 0 && imported.result.differingRows > 0
  const failure = choice.error ?? replace.error ?? error
  return (
    <Panel title="Verdicts">
      <p className={styles.about}>
        {judged === 0 ? 'No row has a verdict yet.' : `${formatCounted(judged, 'row')} with verdicts.`} The
        exported rows include verdicts as columns; a file of verdicts has one line for each. You can import
        either file again, or a filled-in sample. A file of your own needs the columns row, sluice_verdict,
        sluice_rule and sluice_note; row is the number that a spreadsheet shows, the header included. If a
        line is wrong, nothing is stored.
      </p>
      {file.notice}
      {isHeld && (
        <DifferingVerdicts
          {...imported}
          onReplace={() => replace.mutate(imported.file)}
          onCancel={() => setImported(null)}
        />
      )}
      {imported !== null && imported.result.notes.length > 0 && (
        <Notice kind="warning" title="Not all of the file was read">
          <SafeText text={imported.result.notes.join('\n')} max={1000} lines />
        </Notice>
      )}
      {failure !== null && (
        <ErrorNotice
          error={failure}
          onDismiss={() => {
            choice.dismissError()
            replace.reset()
          }}
        />
      )}
      <Group gap="xs" mt="sm">
        <ActionButton
          label="Write the verdicts"
          icon={IconDownload}
          disabled={judged === 0}
          loading={file.isWriting}
          onClick={write}
        />
        <ActionButton
          label="Import verdicts…"
          icon={IconUpload}
          loading={choice.isBusy || replace.isPending}
          onClick={choice.choose}
        />
        <span aria-live="polite">
          {imported !== null && !isHeld && `${formatCounted(imported.result.verdicts, 'verdict')} stored`}
        </span>
      </Group>
      {choice.input}
    </Panel>
  )
}

/** Shows which rows were judged otherwise than a file says, before any verdict is replaced. */
function DifferingVerdicts(props: {
  file: ChosenSource
  result: VerdictImport
  onReplace: () => void
  onCancel: () => void
}) {
  const { differing, differingRows } = props.result
  const further = differingRows - differing.length
  return (
    <Stack gap="xs" mt="sm">
      <Notice
        kind="warning"
        title={`${formatCounted(differingRows, 'row')} ${differingRows === 1 ? 'has' : 'have'} other verdicts here`}
        actions={
          <>
            <ActionButton label="Store nothing" small onClick={props.onCancel} />
            <ActionButton
              label={differingRows === 1 ? 'Replace its verdicts' : 'Replace their verdicts'}
              small
              onClick={props.onReplace}
            />
          </>
        }
      >
        Nothing of <SafeText text={props.file.name} max={120} /> is stored yet.
      </Notice>
      <ScrollRegion className={styles.differing} label="Rows with other verdicts">
        <Table
          rows={differing}
          columns={[
            { title: 'Row', cell: ({ place }) => <SafeText text={sayRow(place)} max={120} /> },
            { title: 'Here', cell: ({ known }) => <RowVerdicts verdicts={known} /> },
            { title: 'In the file', cell: ({ given }) => <RowVerdicts verdicts={given} /> },
          ]}
        />
      </ScrollRegion>
      {further > 0 && <p>and {formatCounted(further, 'other row')}</p>}
    </Stack>
  )
}

function RowVerdicts({ verdicts }: { verdicts: readonly RowVerdict[] }) {
  return <SafeText text={describeVerdicts(verdicts)} max={500} lines />
}

/** Exports a load test's measurements, in the format of the program that will read them. */
export function LoadExportScreen({ runId }: { runId: string }) {
  const name = useLiveRuns((live) => live.summaries[runId]?.name) ?? 'load test'
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const [format, setFormat] = useState<LoadExportFormat>('html')
  const file = useFileWriter()
  const write = () =>
    file.write({
      write: () =>
        saveExport(suggestFileName(name, format), (target) =>
          bridge.exports.create({ runId, format, ...target }),
        ),
    })
  return (
    <Screen
      title="Export"
      actions={
        <PrimaryButton
          onPress={write}
          busy={file.isWriting}
          blocked={phase === 'ended' ? undefined : 'The load test is not over'}
          icon={<IconDownload size="1rem" />}
        >
          Write the file
        </PrimaryButton>
      }
    >
      {file.notice}
      <Panel title="Format">
        <FormatField
          formats={LOAD_EXPORT_FORMATS.map((one) => ({ ...one, label: `${one.label} (.${one.ending})` }))}
          value={format}
          onValue={setFormat}
        />
      </Panel>
    </Screen>
  )
}
