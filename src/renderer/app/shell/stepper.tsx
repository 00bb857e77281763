import { Group } from '@mantine/core'
import {
  IconArrowsSplit2,
  IconListCheck,
  IconSend,
  IconTable,
  IconTargetArrow,
  IconTrash,
} from '@tabler/icons-react'
import { ActionButton } from '../../ui/controls.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { type Draft, useDraft } from '../draft.ts'
import { discardDraft } from '../flow.ts'
import type { DraftStep } from '../route.ts'
import { type Place, PlaceLink } from './place-link.tsx'
import styles from './shell.module.css'

/** The steps of a new run, in order; what cannot be opened yet says why. */
export function toSteps(draft: Pick<Draft, 'source' | 'preview' | 'heldRunId'>, current: DraftStep): Place[] {
  const hasPreview = draft.preview !== null
  const isChecked = draft.heldRunId !== null
  const closed = (isOpen: boolean, why: string) => (isOpen ? {} : { closed: why })
  return [
    {
      label: 'Operation',
      icon: IconTargetArrow,
      route: { kind: 'draft', step: 'operation' },
      done: draft.source !== null && current !== 'operation',
    },
    {
      label: 'Source',
      icon: IconTable,
      route: { kind: 'draft', step: 'source' },
      done: hasPreview && current !== 'source',
    },
    {
      label: 'Mapping',
      icon: IconArrowsSplit2,
      route: { kind: 'draft', step: 'mapping' },
      done: isChecked && current !== 'mapping',
      ...closed(hasPreview, 'choose a source first'),
    },
    {
      label: 'Check',
      icon: IconListCheck,
      route: { kind: 'draft', step: 'check' },
      done: isChecked && current === 'review',
      ...closed(isChecked, 'map the columns first'),
    },
    {
      label: 'Review',
      icon: IconSend,
      route: { kind: 'draft', step: 'review' },
      ...closed(isChecked, 'check the rows first'),
    },
  ]
}

/** Stands above each step of a new run. The run being prepared stays as it is when another place is opened. */
export function Stepper({ current }: { current: DraftStep }) {
  const draft = useDraft()
  return (
    <div className={`flex-wrap items-center border-b ${styles.stepper}`}>
      <div className={`gap-2 min-w-0 nowrap ${styles.stepperHead}`} title={draft.source?.name}>
        <strong>New run</strong>
        {draft.source !== null && <SafeText text={draft.source.name} max={80} />}
      </div>
      <nav className="flex-1" aria-label="Steps of the new run">
        <Group component="ol" gap="0 var(--space-1)" align="stretch">
          {toSteps(draft, current).map((place) => (
            <li key={place.label} className="flex">
              <PlaceLink
                place={place}
                here={'step' in place.route && place.route.step === current ? 'page' : undefined}
              />
            </li>
          ))}
        </Group>
      </nav>
      {draft.source !== null && (
        <ActionButton
          label="Start over"
          variant="subtle"
          color="gray"
          small
          icon={IconTrash}
          onClick={discardDraft}
        />
      )}
    </div>
  )
}
