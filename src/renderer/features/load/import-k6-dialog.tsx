import { FileInput, Modal, Progress, Select } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ask, bridge } from '../../bridge/client.ts'
import { takeFile } from '../../bridge/take-files.ts'
import { TextField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { formatAgo } from '../../ui/format-time.ts'

/** Most load tests offered as the origin of an imported result. */
const OFFERED_MAX = 50

/** Imports results of k6 into the list of runs, to view and compare them like other load tests. */
export function ImportK6Dialog(props: { onImported: (runId: string) => void; onClose: () => void }) {
  const [files, setFiles] = useState<File[]>([])
  const [name, setName] = useState('')
  const [ofRunId, setOfRunId] = useState<string | null>(null)
  const [share, setShare] = useState<number | null>(null)
  const loads = useQuery(ask.runs.list.queryOptions({ input: { product: 'load', limit: OFFERED_MAX } }))
  const closing = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    closing.current = controller
    return () => controller.abort()
  }, [])
  const take = useMutation({
    mutationFn: async () => {
      const { signal } = closing.current
      const sourceIds: string[] = []
      for (const [index, file] of files.entries()) {
        const { sourceId } = await takeFile(
          file,
          ({ sent, total }) => setShare((index + sent / Math.max(1, total)) / files.length),
          signal,
        )
        sourceIds.push(sourceId)
      }
      if (signal.aborted) return
      setShare(null)
      const summary = await bridge.load.importK6({
        sourceIds,
        ...(name.trim() !== '' && { name: name.trim() }),
        ...(ofRunId !== null && { ofRunId }),
      })
      if (!signal.aborted) props.onImported(summary.run_id)
    },
    onError: () => setShare(null),
  })
  return (
    <Modal opened onClose={props.onClose} title="Import k6 results">
      <Form
        onSubmit={() => {
          if (files.length > 0) take.mutate()
        }}
      >
        <FileInput
          label="Files"
          description="What --out json, --summary-export, handleSummary or the machine-readable summary wrote, also as .gz. Several JSON files become one run; only they hold every sample."
          placeholder="Choose files"
          multiple
          accept=".json,.jsonl,.ndjson,.gz"
          value={files}
          onChange={setFiles}
        />
        <TextField
          label="Name (optional)"
          placeholder={files[0] === undefined ? 'k6: the name of the file' : `k6: ${files[0].name}`}
          value={name}
          maxLength={200}
          onValue={setName}
        />
        <Select
          label="Load test they were exported from (optional)"
          description="Its plan is taken over, so that both can be compared."
          placeholder="none of these"
          clearable
          searchable
          value={ofRunId}
          onChange={setOfRunId}
          data={(loads.data?.entries ?? []).map(({ summary }) => ({
            value: summary.run_id,
            label: `${summary.name}, ${formatAgo(summary.created_at, Date.now())}`,
          }))}
        />
        {share !== null && <Progress value={share * 100} size="sm" aria-label="Progress of the upload" />}
        <FormActions submit="Import" onCancel={props.onClose} sent={take} isBlocked={files.length === 0} />
      </Form>
    </Modal>
  )
}
