import { Group, Menu } from '@mantine/core'
import { IconDownload, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { SqlAnswer } from '../../../shared/bridge/sql.ts'
import { SQL_VIEWS } from '../../../shared/lookback/sql-views.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import {
  ContentSwitch,
  createContentRule,
  MaskedText,
  useContentShown,
} from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton, TextArea } from '../../ui/controls.tsx'
import { ErrorNotice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './sql.module.css'

/** Example statements, with what they answer. */
const EXAMPLES: readonly { meaning: string; sql: string }[] = [
  {
    meaning: 'How many rows are in each state',
    sql: 'SELECT state, count(*) AS n FROM rows GROUP BY state ORDER BY n DESC',
  },
  {
    meaning: 'How many rows triggered each rule',
    sql: 'SELECT rule_name, count(*) AS n FROM rules GROUP BY rule_name ORDER BY n DESC',
  },
  {
    meaning: 'How high the scores of each class are',
    sql: 'SELECT class, count(*) AS n, round(avg(score), 3) AS mean, max(score) AS highest\nFROM scores GROUP BY class ORDER BY mean DESC',
  },
  {
    meaning: 'The ten rows that took longest',
    sql: 'SELECT row, state, status, duration_ms, attempts FROM rows\nORDER BY duration_ms DESC LIMIT 10',
  },
  {
    meaning: 'How tries ended, by their number',
    sql: 'SELECT number, outcome, status, count(*) AS n FROM tries GROUP BY 1, 2, 3 ORDER BY 1, n DESC',
  },
]

/** A person's statements, by run, until the page is closed. */
const written = new Map<string, string>()

/** Answers an SQL statement about the rows of a run and its retries. */
export function SqlScreen({ runId }: { runId: string }) {
  const [sql, setSql] = useState(() => written.get(runId) ?? EXAMPLES[0]?.sql ?? '')
  const change = (text: string) => {
    written.set(runId, text)
    setSql(text)
  }
  const name = useLiveRuns((live) => live.summaries[runId]?.name ?? 'run')
  const waiting = useRef<AbortController | null>(null)
  // A statement is stopped if nobody will see its answer.
  useEffect(() => () => waiting.current?.abort(), [])
  const question = useMutation({
    mutationFn: async (statement: string) => {
      const controller = new AbortController()
      waiting.current = controller
      try {
        const answer = await bridge.sql.ask(
          { runIds: [runId], sql: statement },
          { signal: controller.signal },
        )
        return { answer, statement }
      } catch (error) {
        if (controller.signal.aborted) return null
        throw error
      }
    },
  })
  const file = useFileWriter()
  const asked = question.data ?? null
  const save = (format: 'csv' | 'jsonl', statement: string) =>
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'row')} written`,
      unchanged: 'JSON lines hold them unchanged',
      write: () =>
        saveExport(suggestFileName(name, format, 'sql'), (target) =>
          bridge.sql.save({ runIds: [runId], sql: statement, format, ...target }),
        ),
    })
  return (
    <Screen
      title="SQL"
      subtitle="Asks about the rows of this run and its retries. It only reads."
      actions={
        <>
          <ContentSwitch />
          {question.isPending && (
            <ActionButton label="Stop" icon={IconPlayerStop} onClick={() => waiting.current?.abort()} />
          )}
          <PrimaryButton
            onPress={() => question.mutate(sql)}
            busy={question.isPending}
            blocked={sql.trim() === '' ? 'Write a statement' : undefined}
            icon={<IconPlayerPlay size="1rem" />}
          >
            Ask
          </PrimaryButton>
        </>
      }
    >
      {file.notice}
      <Panel
        title="Statement"
        aside={
          <Menu position="bottom-end" shadow="md">
            <Menu.Target>
              <ActionButton label="Examples" small />
            </Menu.Target>
            <Menu.Dropdown>
              {EXAMPLES.map(({ meaning, sql: example }) => (
                <Menu.Item key={meaning} onClick={() => change(example)}>
                  {meaning}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        }
      >
        <TextArea
          aria-label="Statement"
          className={styles.statement}
          description="One SELECT of SQLite. It may take 60 seconds."
          autosize
          minRows={3}
          maxRows={16}
          spellCheck={false}
          value={sql}
          onValue={change}
        />
        <Views runId={runId} />
      </Panel>
      {question.error !== null && <ErrorNotice error={question.error} onDismiss={question.reset} />}
      {asked !== null && (
        <Answer
          runId={runId}
          answer={asked.answer}
          actions={
            <Group gap="xs">
              {(['csv', 'jsonl'] as const).map((format) => (
                <ActionButton
                  key={format}
                  label={format === 'csv' ? 'Save as CSV' : 'Save as JSON lines'}
                  icon={IconDownload}
                  small
                  disabled={file.isWriting}
                  onClick={() => save(format, asked.statement)}
                />
              ))}
            </Group>
          }
        />
      )}
    </Screen>
  )
}

/** The views that statements can read. */
function Views({ runId }: { runId: string }) {
  const columns = useQuery(ask.results.columns.queryOptions({ input: { runId } })).data ?? []
  return (
    <details className="small mt-2">
      <summary>Views and their columns</summary>
      <dl className={styles.views}>
        {Object.entries(SQL_VIEWS).map(([view, own]) => (
          <div key={view} className="contents">
            <dt>{view}</dt>
            <dd>
              {own.join(', ')}
              {view === 'rows' && columns.length > 0 && (
                <>
                  , and the columns of the source: <SafeText text={columns.join(', ')} max={1_000} />
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function Answer(props: { runId: string; answer: SqlAnswer; actions: ReactNode }) {
  const { answer } = props
  const { columns, rows, total } = answer
  const isContent = useAnswerContent(props.runId, columns)
  const revealed = useContentShown()
  const shown: Column<SqlAnswer['rows'][number]>[] = columns.map((title, at) => ({
    title: <SafeText text={title} max={60} />,
    ...(isNumbers(rows, at) && { isNumber: true }),
    isRowHead: false,
    cell: (row) => {
      const value = row[at] ?? null
      if (value === null) return <span className="quiet italic nowrap">NULL</span>
      const text = String(value)
      return typeof value === 'string' && isContent(at, text) ? (
        <MaskedText text={text} revealed={revealed} />
      ) : (
        <SafeText text={text} />
      )
    },
  }))
  return (
    <Panel
      title="Answer"
      aside={
        <>
          <span role="status">
            {rows.length < total
              ? `The first ${formatCount(rows.length)} of ${formatCounted(total, 'row')}`
              : formatCounted(total, 'row')}
          </span>
          {props.actions}
        </>
      }
      flush
      scrolls
    >
      <Table
        look="dense"
        caption="Answer to the statement"
        className={styles.answer}
        columns={shown}
        rows={rows}
        empty={total === 0 ? 'The statement gives no rows.' : undefined}
      />
    </Panel>
  )
}

/** Whether a column has numbers, and otherwise only NULL. */
function isNumbers(rows: SqlAnswer['rows'], at: number): boolean {
  return rows.some((row) => typeof row[at] === 'number') && rows.every((row) => typeof row[at] !== 'string')
}

/** Columns of the views without any text that people wrote. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(
  Object.values(SQL_VIEWS)
    .flat()
    .filter((name) => name !== 'body' && name !== 'message'),
)

/**
 * Tells which values of an answer are user content: in source columns by the usual rule, and every text
 * outside the known columns, since a statement may have derived it from anything.
 */
function useAnswerContent(runId: string, columns: readonly string[]) {
  const names = useQuery(ask.results.columns.queryOptions({ input: { runId } })).data
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId } })).data
  return useMemo(() => {
    const source = names ?? []
    const rule = createContentRule(source, plan === undefined ? {} : toWholeMapping(plan, source))
    const places = columns.map((title) => source.indexOf(title.replace(/ \(source\)$/, '')))
    return (at: number, text: string) => {
      const place = places[at] ?? -1
      // Until the mapping is known, any source column may be content.
      if (place !== -1) return plan === undefined || rule(place, text)
      return !OWN_COLUMNS.has(columns[at] ?? '')
    }
  }, [columns, names, plan])
}
