import { Group, Progress, Stack } from '@mantine/core'
import { IconArrowLeft, IconArrowRight, IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { setNote, toLabels, toVerdicts } from '../../../shared/lookback/verdict.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { sayRow, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import type { VerdictChange, Verdicts } from '../../bridge/verdicts.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import {
  ContentSwitch,
  createContentRule,
  findContent,
  MaskedText,
  useContentShown,
  useOnHideAll,
} from '../../ui/content/user-content.tsx'
import { ActionButton, RevealButton, ScrollRegion } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { useShortcut, useWindowKeys } from '../../ui/shortcuts.ts'
import { describePlace } from '../../ui/states/row-states.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import {
  findRuleOfKey,
  NoteDialog,
  RuleButton,
  RuleDialog,
  UndoRedo,
  VerdictMark,
} from '../../ui/verdicts/verdicts.tsx'
import styles from './labelling.module.css'
import type { LabellingState } from './use-labelling.ts'

/** The row that is looked at, in large text, with the rules that it may be labelled with. */
export function LabelWalk({ labelling, verdicts }: { labelling: LabellingState; verdicts: Verdicts }) {
  const { stored, runId } = labelling
  const [row] = stored?.rows[stored.at] ?? []
  const [next] = stored?.rows[stored.at + 1] ?? []
  const detail = useQuery(
    ask.results.row.queryOptions({ input: { runId, row: row ?? 1 }, placeholderData: keepPreviousData }),
  )
  // Read ahead, so that the next row is there at once.
  useQuery(ask.results.row.queryOptions({ input: { runId, row: next ?? row ?? 1 } }))
  const goTo = (change: VerdictChange | null) => {
    const place = change === null ? null : labelling.findPlace(change.row.row)
    if (place !== null) labelling.goTo(place)
  }
  useShortcut({ key: 'z', mod: true }, () => goTo(verdicts.undo()))
  useShortcut({ key: 'z', mod: true, shift: true }, () => goTo(verdicts.redo()))
  useShortcut({ key: 'y', mod: true }, () => goTo(verdicts.redo()))
  if (stored === null || row === undefined) return null
  const total = stored.rows.length
  const done = labelling.labelled + labelling.skipped
  return (
    <div className="stack flex-1 min-h-0">
      <div className={`row flex-none gap-3 border-b bg-surface ${styles.bar}`}>
        <p className={`flex-none quiet ${styles.progress}`} aria-live="polite">
          <strong>
            {formatCount(stored.at + 1)} of {formatCount(total)}
          </strong>{' '}
          · {formatCount(labelling.labelled)} labelled, {formatCount(labelling.skipped)} skipped
        </p>
        <Progress flex={1} miw="4rem" value={(done / total) * 100} aria-label="Labelled or skipped" />
        <UndoRedo
          canUndo={verdicts.canUndo}
          canRedo={verdicts.canRedo}
          onUndo={() => goTo(verdicts.undo())}
          onRedo={() => goTo(verdicts.redo())}
        />
        <ContentSwitch />
      </div>
      {detail.error !== null && <ErrorNotice error={detail.error} onRetry={detail.refetch} />}
      {detail.data?.result.row === row && (
        <LabelledRow key={row} detail={detail.data} labelling={labelling} verdicts={verdicts} />
      )}
    </div>
  )
}

/** One row of the sample: begins with what was said of it before, or with nothing. */
function LabelledRow(props: { detail: RowDetail; labelling: LabellingState; verdicts: Verdicts }) {
  const { detail, labelling, verdicts } = props
  const { result } = detail
  const { stored, runId } = labelling
  const triggered = result.triggeredRules.map(({ ruleName }) => ruleName)
  const showsDecision = stored?.showsDecision === true
  const given = verdicts.of(result.row)
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null)
  const labels = chosen ?? toLabels(given, triggered) ?? new Set(showsDecision ? triggered : [])
  const [asked, setAsked] = useState<'note' | 'rule' | null>(null)
  const [isRevealed, setRevealed] = useState(false)
  useOnHideAll(() => setRevealed(false))
  const allShown = useContentShown()
  const media = useRowMedia(runId, result.row)
  const steps = useMediaSteps(result.row)
  const known = stored?.rules ?? []
  const rules = [...new Set([...known, ...(showsDecision ? triggered : []), ...labels])]
  const note = given[0]?.note ?? null
  const at = stored?.at ?? 0

  const toggle = (rule: string) => {
    const next = new Set(labels)
    if (!next.delete(rule)) next.add(rule)
    setChosen(next)
  }
  const isShown = isRevealed !== allShown
  // That a row triggers nothing can only be said of what was seen.
  const showsFirst = !isShown && labels.size === 0
  const reveal = () => setRevealed(!isRevealed)
  const save = () => {
    if (showsFirst) return reveal()
    verdicts.set(
      result,
      toVerdicts(labels, triggered).map((verdict) => ({ ...verdict, note })),
    )
    labelling.goOn(result.row)
  }
  const giveUp = () => {
    verdicts.set(result, [{ verdict: 'unsure', rule: null, note }])
    labelling.goOn(result.row)
  }
  const actions: Readonly<Record<string, () => void>> = {
    Enter: save,
    u: giveUp,
    s: () => labelling.skip(result.row),
    n: () => setAsked('note'),
    ' ': reveal,
    ArrowLeft: () => labelling.goTo(at - 1),
    ArrowRight: () => labelling.goTo(at + 1),
  }
  useWindowKeys((event) => {
    if (event.repeat) return
    if (event.target instanceof HTMLElement && isForControl(event.key, event.target)) return
    const rule = findRuleOfKey(event.key, rules)
    const act = rule === null ? actions[event.key.length === 1 ? event.key.toLowerCase() : event.key] : null
    if (act === undefined) return
    event.preventDefault()
    if (rule !== null) toggle(rule)
    else act?.()
  })
  return (
    <div className={`grid flex-1 min-h-0 ${styles.row}`}>
      <ScrollRegion className={`stack gap-4 min-h-0 ${styles.content}`} label="The row">
        <RowContent runId={runId} detail={detail} revealed={isShown} onReveal={reveal} />
        {media.media.length > 0 && <MediaView {...media} {...steps} />}
      </ScrollRegion>
      <aside className={`stack min-h-0 bg-surface ${styles.side}`} aria-label="Your label">
        <ScrollRegion className="stack flex-1 gap-4 min-h-0 p-4" label="Rules and note">
          {showsDecision && (
            <p>
              The service triggered{' '}
              <strong>
                {triggered.length === 0 ? (
                  'no rule'
                ) : (
                  <SafeText text={triggered.join(', ')} max={500} lines />
                )}
              </strong>
            </p>
          )}
          <RuleChoice rules={rules} labels={labels} onToggle={toggle} onOther={() => setAsked('rule')} />
          {given.length > 0 && (
            <p>{showsDecision ? <VerdictMark verdicts={given} /> : 'You have labelled this row.'}</p>
          )}
          {note !== null && (
            <p className={`p-2-3 bg-sunken breaks ${styles.note}`}>
              <SafeText text={note} max={10_000} lines />
            </p>
          )}
        </ScrollRegion>
        <div className={`grid flex-none gap-2 p-3-4 border-t ${styles.actions}`}>
          <ActionButton
            label={
              showsFirst ? 'Show the content' : labels.size === 0 ? 'Triggers nothing' : 'Save and continue'
            }
            variant="filled"
            fullWidth
            rightSection={<kbd>Enter</kbd>}
            onClick={save}
          />
          <Group gap="xs" grow>
            <ActionButton label="Unsure" rightSection={<kbd>U</kbd>} onClick={giveUp} />
            <ActionButton
              label="Skip"
              rightSection={<kbd>S</kbd>}
              onClick={() => labelling.skip(result.row)}
            />
            <ActionButton label="Note…" rightSection={<kbd>N</kbd>} onClick={() => setAsked('note')} />
          </Group>
          <Group gap="xs" grow>
            <ActionButton
              label="Back"
              disabled={at === 0}
              icon={IconArrowLeft}
              onClick={() => labelling.goTo(at - 1)}
            />
            <ActionButton
              label="Forward"
              rightSection={<IconArrowRight size="1rem" />}
              onClick={() => labelling.goTo(at + 1)}
            />
          </Group>
        </div>
      </aside>
      {asked === 'note' && (
        <NoteDialog
          row={sayRow(result.place)}
          note={note}
          hasVerdict={given.length > 0}
          onNote={(text) => {
            verdicts.set(result, setNote(given, text))
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === 'rule' && (
        <RuleDialog
          title="Another rule"
          rules={[]}
          takesOthers
          onRule={(rule) => {
            labelling.change({ rules: [...new Set([...known, rule])] })
            setChosen(new Set([...labels, rule]))
            setAsked(null)
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  )
}

/** Whether a key presses what has the focus. Enter on a rule or a switch saves instead: Space is what toggles them. */
function isForControl(key: string, target: HTMLElement): boolean {
  const control = target.closest('button, a, summary, input')
  if (control === null) return false
  return key === ' ' || (key === 'Enter' && !control.matches('input, [data-label]'))
}

/** The rules that a row may be labelled with; the first nine have keys. */
function RuleChoice(props: {
  rules: readonly string[]
  labels: ReadonlySet<string>
  onToggle: (rule: string) => void
  onOther: () => void
}) {
  return (
    <section aria-label="Rules that the row should trigger">
      <h2 className="mb-2 text-md bold">Which rules should it trigger?</h2>
      <Stack component="ul" gap={4} mb="xs">
        {props.rules.map((rule, index) => (
          <li key={rule}>
            <RuleButton
              rule={rule}
              index={index}
              data-label
              aria-pressed={props.labels.has(rule)}
              onClick={() => props.onToggle(rule)}
            />
          </li>
        ))}
      </Stack>
      <ActionButton label="Another rule…" variant="subtle" small icon={IconPlus} onClick={props.onOther} />
    </section>
  )
}

/** Longest text that is set large; a longer one scrolls in a block of its own, UTF-16 code units. */
const LARGE_MAX = 4_000

/** What a row is about, in large text; its other cells on request, since one of them may be a label. */
function RowContent(props: { runId: string; detail: RowDetail; revealed: boolean; onReveal: () => void }) {
  const { detail, revealed } = props
  const { columns, result } = detail
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId: props.runId } })).data ?? null
  if (plan === null) return null
  const isContent = createContentRule(columns, toWholeMapping(plan, columns))
  const subject = new Set(findContent(plan, columns))
  const cells = result.cells.map((text, index) => ({
    text,
    index,
    name: columns[index] ?? `Column ${index + 1}`,
  }))
  const main = cells.filter(
    ({ text, index }) => text !== '' && (subject.has(index) || isContent(index, text)),
  )
  const shown = main.length > 0 ? main : cells.filter(({ text }) => text !== '')
  const others = cells.filter((cell) => !shown.includes(cell))
  return (
    <>
      <header className="row gap-3">
        <h2 className="text-md bold">Row {toRowNumber(result.place)}</h2>
        <span className="small">{describePlace(result.row, result.place)}</span>
        <RevealButton
          className="ml-auto"
          isRevealed={revealed}
          rightSection={<kbd>Space</kbd>}
          onClick={props.onReveal}
        />
      </header>
      {shown.map(({ text, index, name }) => (
        <section key={index} aria-label={name}>
          <h3 className="small mb-1 bold">
            <SafeText text={name} max={80} />
          </h3>
          {!revealed && isContent(index, text) ? (
            <p className={styles.text}>
              <MaskedText text={text} revealed={false} />
            </p>
          ) : text.length > LARGE_MAX ? (
            <LongText text={text} label={name} />
          ) : (
            <p className={styles.text}>
              <SafeText text={text} max={LARGE_MAX} lines />
            </p>
          )}
        </section>
      ))}
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>Other cells</summary>
          <dl className="grid gap-2 mt-2">
            {others.map(({ text, index, name }) => (
              <div key={index}>
                <dt className="quiet breaks">
                  <SafeText text={name} max={80} />
                </dt>
                <dd className="breaks">
                  {text === '' ? (
                    <span className="small">empty</span>
                  ) : (
                    <SafeText text={text} max={500} lines />
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}
