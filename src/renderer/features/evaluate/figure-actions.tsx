import { Group, Modal, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import type { EvaluateQuestionInput } from '../../../shared/bridge/evaluate.ts'
import { CELLS, type Cell, type Evaluation } from '../../../shared/lookback/evaluation.ts'
import { CELL_WORDS, toFiguresCsv } from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { ROW_EXPORT_FORMATS, type RowExportFormat } from '../../../shared/run/export-formats.ts'
import { bridge } from '../../bridge/client.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { ActionButton, CopyButton, PrimaryButton, RadioField } from '../../ui/controls.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import { findPicked, type PickedRule } from './rule-panels.tsx'

interface FigureActionsProps {
  runId: string
  name: string
  question: EvaluateQuestionInput
  evaluation: Evaluation
  picked: PickedRule
}

/** The figures as text to paste elsewhere, and the rows behind them as a file. */
export function FigureActions(props: FigureActionsProps) {
  const { evaluation } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <CopyButton label="Copy as CSV" text={() => toFiguresCsv(evaluation)} />
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(evaluation, null, 2)} />
      <PrimaryButton onPress={() => setOpen(true)} icon={<IconDownload size="1rem" />}>
        Export rows…
      </PrimaryButton>
      {isOpen && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

type Choice = 'all' | Cell

const COUNTS = {
  tp: 'true_positives',
  fp: 'false_positives',
  fn: 'false_negatives',
  tn: 'true_negatives',
} as const satisfies Record<Cell, string>

/** Asks which evaluated rows go to which kind of file, each with its label and the cell of each rule. */
function ExportDialog(props: FigureActionsProps & { onClose: () => void }) {
  const { runId, question, evaluation, picked } = props
  const close = findPicked(evaluation, picked)
  const [choice, setChoice] = useState<Choice>('all')
  const [format, setFormat] = useState<RowExportFormat>('csv')
  const file = useFileWriter()
  const write = () =>
    file.write({
      describe: ({ rows }) => `${formatCounted(rows, 'row')} written`,
      write: () =>
        saveExport(suggestFileName(props.name, format, 'evaluation'), (target) =>
          bridge.evaluate.export({
            runId,
            question,
            cell: choice === 'all' ? null : { cell: choice, rule: close.rule },
            format,
            ...target,
          }),
        ),
    })
  return (
    <Modal opened onClose={props.onClose} title="Export rows">
      <Stack gap="md">
        <RadioField
          label="Rows"
          value={choice}
          onValue={setChoice}
          choices={[
            { value: 'all', label: `All evaluated rows (${formatCount(evaluation.rows.evaluated)})` },
            ...CELLS.map((value) => ({
              value,
              label: (
                <>
                  <SafeText text={close.name} max={60} />: {CELL_WORDS[value]} (
                  {formatCount(close.judged.matrix[COUNTS[value]])})
                </>
              ),
            })),
          ]}
        />
        <RadioField
          label="Format"
          value={format}
          onValue={setFormat}
          choices={ROW_EXPORT_FORMATS.map(({ ending, label }) => ({ value: ending, label }))}
        />
        <p>Each row has its label and, for each rule, the cell of the matrix that it is in.</p>
        {file.notice}
        <Group justify="flex-end" gap="xs">
          <ActionButton label="Close" onClick={props.onClose} />
          <ActionButton label="Write the file" variant="filled" loading={file.isWriting} onClick={write} />
        </Group>
      </Stack>
    </Modal>
  )
}
