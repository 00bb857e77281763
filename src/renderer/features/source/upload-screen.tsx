import { Progress } from '@mantine/core'
import { formatBytes, formatCount, formatShare } from '../../../shared/messages/figure-text.ts'
import type { UploadProgress } from '../../bridge/take-file.ts'
import { Screen } from '../../ui/layout/screen.tsx'

/** How far a chosen file or folder is on its way to the engine. */
export function UploadScreen({ upload }: { upload: UploadProgress }) {
  const { sent, total, files } = upload
  return (
    <Screen title="Source" subtitle={files === undefined ? 'Uploading the file' : 'Uploading the folder'}>
      <Progress value={(sent / Math.max(1, total)) * 100} aria-label="Upload" />
      <p>
        {formatBytes(sent)} of {formatBytes(total)}, {formatShare(sent, total)}
        {files !== undefined && `; ${formatCount(files.sent)} of ${formatCount(files.total)} files`}
      </p>
    </Screen>
  )
}
