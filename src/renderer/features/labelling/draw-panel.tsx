import { Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { LABELLING_MAX_ROWS, type Labelling } from '../../../shared/lookback/labelling.ts'
import type { Allocation } from '../../../shared/lookback/stratified-sample.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { NO_RULE } from '../../../shared/run/row-filters.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { forgetStrata } from '../../bridge/verdicts.ts'
import { ActionButton, NumberField, PrimaryButton, SwitchField, WholeNumber } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import styles from './labelling.module.css'

const SIZE = 200
const SEED_MAX = 2 ** 32 - 1

/** Stands for drawing from all rows alike. */
const ALIKE = ''

/** What groups are called that are not those of a column. */
const RESERVED: readonly string[] = ['rule', 'score-band']

const ALLOCATIONS: readonly { value: Allocation; label: string }[] = [
  { value: 'proportional', label: 'Proportional to size' },
  { value: 'equal', label: 'Equal numbers' },
]

/** Asks how many rows are drawn, and from which groups. */
export function DrawPanel(props: {
  runId: string
  /** The sample that a new one takes the place of. */
  known: Labelling | null
  onDrawn: (drawn: Labelling) => void
  /** Null where there is nothing to go back to. */
  onCancel: (() => void) | null
}) {
  const { runId, known } = props
  const [size, setSize] = useState(SIZE)
  const [by, setBy] = useState(known?.by ?? (known === null ? 'rule' : ALIKE))
  const [allocation, setAllocation] = useState<Allocation>(known?.allocation ?? 'proportional')
  const [seed, setSeed] = useState(known === null ? 1 : (known.seed + 1) % SEED_MAX)
  const [showsDecision, setShowsDecision] = useState(known?.showsDecision ?? false)
  const names = useQuery(ask.results.columns.queryOptions({ input: { runId } })).data ?? []
  const columns = [...new Set(names)].filter((name) => name !== '' && !RESERVED.includes(name))
  const facets = useQuery(ask.results.facets.queryOptions({ input: { runId, filter: {} } })).data
  const answered = facets?.facets.find(({ kind, value }) => kind === 'state' && value === 'succeeded')?.rows
  const rules = (facets?.facets ?? [])
    .filter(({ kind, value }) => kind === 'rule' && value !== NO_RULE)
    .map(({ label }) => label)
  const draw = useMutation({
    mutationFn: async () => {
      const drawn = await bridge.labelling.start({
        ...{ runId, size, allocation, seed, showsDecision },
        by: by === ALIKE ? null : by,
        rules: [...new Set([...(known?.rules ?? []), ...rules])],
      })
      forgetStrata(runId)
      props.onDrawn(drawn)
    },
  })
  const isEmpty = facets?.isCounted === true && (answered ?? 0) === 0
  return (
    <Panel
      title="Draw a sample"
      aside={answered === undefined ? null : `from ${formatCounted(answered, 'answered row')}`}
    >
      <Stack gap="md">
        <p className="max-w-text quiet">
          Rows are drawn at random and shown one by one. Your labels are saved as verdicts and estimate how
          accurate the rules are on all{' '}
          {answered === undefined ? 'rows' : formatCounted(answered, 'answered row')}. You can stop at any
          time and continue later: the rows come in random order, so any part of them is also a sample.
        </p>
        <div className={styles.fields}>
          <WholeNumber
            label="Rows to draw"
            value={size}
            max={LABELLING_MAX_ROWS}
            onValue={setSize}
            {...(answered !== undefined &&
              size > answered && { description: `All ${formatCount(answered)} are drawn.` })}
          />
          <NativeSelect
            label="Group by"
            description="Draws from every group, so that none is missed."
            value={by}
            onChange={(event) => setBy(event.currentTarget.value)}
            data={[
              { value: 'rule', label: 'Triggered rules' },
              { value: 'score-band', label: 'Band of the highest score' },
              { value: ALIKE, label: 'No groups' },
              ...(columns.length === 0
                ? []
                : [
                    {
                      group: 'Column of the source',
                      items: columns,
                    },
                  ]),
            ]}
          />
          {by !== ALIKE && (
            <Stack gap={4}>
              <span className="text-sm bold" id="allocation">
                Rows per group
              </span>
              <SegmentedControl
                aria-labelledby="allocation"
                className="self-start"
                data={[...ALLOCATIONS]}
                value={allocation}
                onChange={(value) => setAllocation(value as Allocation)}
              />
            </Stack>
          )}
          <NumberField
            label="Seed"
            description="The same seed draws the same rows."
            value={seed}
            min={0}
            max={SEED_MAX}
            clampBehavior="strict"
            allowDecimal={false}
            onValue={(value) => value !== null && setSeed(value)}
          />
        </div>
        <SwitchField
          label="Show what the service decided"
          description="When off, you judge each row without seeing it, which keeps your labels independent."
          checked={showsDecision}
          onValue={setShowsDecision}
        />
        {known !== null && (
          <Notice kind="info" title="Verdicts that you have given stay">
            Those on rows of the present sample count for their own rows only from then on, unless they are
            drawn again.
          </Notice>
        )}
        {isEmpty && (
          <Notice kind="warning" title="The service has answered no row of this run">
            Only answered rows can be labelled.
          </Notice>
        )}
        {draw.error !== null && <ErrorNotice error={draw.error} />}
        <Group gap="xs">
          {props.onCancel !== null && <ActionButton label="Cancel" onClick={props.onCancel} />}
          <PrimaryButton
            onPress={() => draw.mutate()}
            busy={draw.isPending}
            blocked={isEmpty ? 'no row is answered' : facets === undefined ? 'reading the run' : undefined}
          >
            Draw and begin
          </PrimaryButton>
        </Group>
      </Stack>
    </Panel>
  )
}
