import { Group, Progress } from '@mantine/core'
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { setNote, toLabels, toVerdicts } from '../../../shared/lookback/verdict.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { sayRow } from '../../../shared/plan/source-place.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import { useRowMedia } from '../../bridge/row-media.ts'
import type { VerdictChange, Verdicts } from '../../bridge/verdicts.ts'
import { MediaView, useMediaSteps } from '../../ui/content/media-view.tsx'
import { ContentSwitch, useContentShown, useOnHideAll } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { useShortcut, useWindowKeys } from '../../ui/shortcuts.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { NoteDialog } from '../../ui/verdicts/note-dialog.tsx'
import { findRuleOfKey, RuleDialog } from '../../ui/verdicts/rule-dialog.tsx'
import { UndoRedo } from '../../ui/verdicts/undo-redo.tsx'
import { VerdictMark } from '../../ui/verdicts/verdict-mark.tsx'
import styles from './labelling.module.css'
import { RowContent } from './row-content.tsx'
import { RuleChoice } from './rule-choice.tsx'
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
  const save = () => {
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
    ' ': () => setRevealed(!isRevealed),
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
        <RowContent
          runId={runId}
          detail={detail}
          revealed={isRevealed !== allShown}
          onReveal={() => setRevealed(!isRevealed)}
        />
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
            label={labels.size === 0 ? 'Triggers nothing' : 'Save and continue'}
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
