import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { PageRow } from '../../../shared/bridge/results.ts'
import { addVerdict, isDecided, isOfVerdict, setNote } from '../../../shared/lookback/verdict.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayRow } from '../../../shared/plan/source-place.ts'
import { ask } from '../../bridge/client.ts'
import { describeChange, useVerdicts, type Verdicts } from '../../bridge/verdicts.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { useShortcut, useWindowKeys } from '../../ui/shortcuts.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { NoteDialog, RuleDialog, UndoRedo } from '../../ui/verdicts/verdicts.tsx'
import styles from './results.module.css'
import type { Results } from './use-results.ts'

export type VerdictAction = 'agree' | 'should' | 'should-not' | 'unsure' | 'note' | 'remove'

const KEYS: Readonly<Record<string, VerdictAction>> = {
  a: 'agree',
  s: 'should',
  d: 'should-not',
  u: 'unsure',
  n: 'note',
  x: 'remove',
}

/** The verdicts on rows on the results screen, and functions to give them. */
export interface VerdictControl {
  verdicts: Verdicts
  act: (action: VerdictAction) => void
  /** The open question: for a rule or a note. */
  dialog: ReactNode
}

/**
 * Judges the row under the cursor; does nothing with `isOn` false, for operations without rules.
 * `bringIntoView` returns whether the row was out of sight: then the key only shows it. A row without a
 * decision of the service only gets a note; its details say so.
 */
export function useVerdictControl(
  results: Results,
  isOn: boolean,
  bringIntoView: () => boolean,
): VerdictControl {
  const { runId } = results
  const row = toJudged(results)
  const verdicts = useVerdicts(runId, isOn)
  const [asked, setAsked] = useState<{ action: 'should' | 'should-not' | 'note'; row: JudgedRow } | null>(
    null,
  )
  // Actions before the verdicts were loaded, in order.
  const early = useRef<{ runId: string; action: VerdictAction; row: JudgedRow }[]>([])

  const judge = (action: VerdictAction, row: JudgedRow) => {
    const [only, ...others] = row.triggeredRules.map(({ ruleName }) => ruleName)
    const known = verdicts.of(row.row)
    if (action === 'remove') verdicts.set(row, [])
    else if (action !== 'note' && !isDecided(row)) results.setOpen(true)
    else if (action === 'agree' || action === 'unsure') {
      verdicts.set(row, addVerdict(known, { verdict: action, rule: null }))
    } else if (action === 'should-not' && only !== undefined && others.length === 0) {
      verdicts.set(row, addVerdict(known, { verdict: action, rule: only }))
    } else setAsked({ action, row })
  }
  const act = (action: VerdictAction) => {
    if (!isOn || row === null) return
    if (verdicts.isRead) judge(action, row)
    else early.current.push({ runId, action, row })
  }
  const judgeEarly = useEffectEvent(() => {
    for (const one of early.current.splice(0)) if (one.runId === runId) judge(one.action, one.row)
  })
  useEffect(() => {
    if (verdicts.isRead) judgeEarly()
  }, [verdicts.isRead])
  useWindowKeys((event) => {
    const action = KEYS[event.key.toLowerCase()]
    if (action === undefined || event.repeat || !isOn) return
    event.preventDefault()
    if (!bringIntoView()) act(action)
  })
  useShortcut({ key: 'z', mod: true }, isOn && verdicts.canUndo ? verdicts.undo : null)
  useShortcut({ key: 'z', mod: true, shift: true }, isOn ? verdicts.redo : null)
  useShortcut({ key: 'y', mod: true }, isOn ? verdicts.redo : null)

  const close = () => setAsked(null)
  return {
    verdicts,
    act,
    dialog:
      asked === null ? null : asked.action === 'note' ? (
        <NoteDialog
          row={sayRow(asked.row.place)}
          note={verdicts.of(asked.row.row)[0]?.note ?? null}
          hasVerdict={verdicts.of(asked.row.row).length > 0}
          onNote={(note) => {
            verdicts.set(asked.row, setNote(verdicts.of(asked.row.row), note))
            close()
          }}
          onClose={close}
        />
      ) : (
        <RuleQuestion
          runId={runId}
          verdict={asked.action}
          row={asked.row}
          onRule={(rule) => {
            const said = { verdict: asked.action as 'should' | 'should-not', rule }
            verdicts.set(asked.row, addVerdict(verdicts.of(asked.row.row), said))
            close()
          }}
          onClose={close}
        />
      ),
  }
}

type JudgedRow = Pick<PageRow, 'row' | 'place' | 'state' | 'errorCode' | 'answer' | 'triggeredRules'>

/** The row that keys act on, as last read: outside the pages in view, only its details are read again. */
function toJudged({ row, cursor, detail }: Results): JudgedRow | null {
  const isDetailNewer = cursor.kind !== 'on' && row !== null && detail?.result.row === row.row
  return isDetailNewer ? detail.result : row
}

/** Asks which rule is missing, or which of the triggered rules is wrong. */
function RuleQuestion(props: {
  runId: string
  verdict: 'should' | 'should-not'
  row: JudgedRow
  onRule: (rule: string) => void
  onClose: () => void
}) {
  const { runId, verdict } = props
  const triggered = new Set(props.row.triggeredRules.map(({ ruleName }) => ruleName))
  const known = useQuery(ask.results.facets.queryOptions({ input: { runId, filter: {} } })).data
  const others = (known?.facets ?? [])
    .filter(({ kind, value, label }) => kind === 'rule' && value !== '' && !triggered.has(label))
    .map(({ label }) => label)
  // The counts of a running run reorder the rules; a digit must mean the rule that was shown beside it.
  const listed = useRef<ReadonlySet<string>>(new Set())
  listed.current = new Set([...listed.current, ...others])
  const row = `row ${sayRow(props.row.place)}`
  return (
    <RuleDialog
      title={verdict === 'should' ? `Rule that ${row} should trigger` : `Rule that ${row} should not trigger`}
      rules={[...(verdict === 'should' ? listed.current : triggered)]}
      takesOthers={verdict === 'should' || triggered.size === 0}
      onRule={props.onRule}
      onClose={props.onClose}
    />
  )
}

/** Says that judged rows no longer match the verdict filter, and removes them on request. */
export function KeptRowsBar({ verdicts, results }: { verdicts: Verdicts; results: Results }) {
  const { verdict } = results.filter
  if (verdict === undefined) return null
  const left = [...verdicts.judgedSince]
    .filter(([row, before]) => isOfVerdict(before, verdict) && !isOfVerdict(verdicts.of(row), verdict))
    .map(([row]) => row)
  // The live region must exist before its text.
  return (
    <div className={left.length === 0 ? undefined : `row flex-none gap-3 border-b ${styles.verdictsBar}`}>
      <p className="truncate flex-1 min-w-0" aria-live="polite">
        {left.length > 0 && (
          <>
            {formatCounted(left.length, 'judged row')} no longer {left.length === 1 ? 'matches' : 'match'} the
            filter, and {left.length === 1 ? 'stays' : 'stay'} until it is applied again
          </>
        )}
      </p>
      {left.length > 0 && (
        <ActionButton label="Apply again" small onClick={() => results.narrowAgain(left)} />
      )}
    </div>
  )
}

/** The last verdict given here, with undo and redo. */
export function VerdictsBar({ verdicts }: { verdicts: Verdicts }) {
  const { last, canUndo, canRedo, error, dismiss } = verdicts
  if (error !== null) return <ErrorNotice error={error} onDismiss={dismiss} />
  if (!canUndo && !canRedo) return null
  return (
    <div className={`row flex-none gap-3 border-b ${styles.verdictsBar}`}>
      <p className="truncate flex-1 min-w-0" aria-live="polite">
        {last === null ? (
          'All verdicts of this session are undone'
        ) : (
          <>
            Row {sayRow(last.row.place)}: <SafeText text={describeChange(last)} max={120} />
          </>
        )}
      </p>
      <UndoRedo canUndo={canUndo} canRedo={canRedo} onUndo={verdicts.undo} onRedo={verdicts.redo} />
    </div>
  )
}
