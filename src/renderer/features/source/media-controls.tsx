import { Group, Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { isLoopback } from '../../ui/connection/destination.ts'
import { findMediaGap, type MediaSettings } from './reading.ts'
import styles from './source.module.css'

/** Where the service finds the media files of a folder: served by the app itself, or at addresses of their own. */
export function MediaControls(props: {
  media: MediaSettings
  /** Base URL of the service; null for the sandbox, which is on this machine. */
  serviceUrl: string | null
  onMedia: (media: MediaSettings) => void
}) {
  const { media, serviceUrl, onMedia } = props
  const [left, setLeft] = useState(false)
  const error = left ? findMediaGap(media) : null
  const isOut =
    media.kind === 'host' && media.publicUrl.trim() === '' && serviceUrl !== null && !isLoopback(serviceUrl)
  return (
    <div className={styles.media}>
      <Radio.Group
        label="Media files are found"
        value={media.kind}
        onChange={(kind) => {
          setLeft(false)
          onMedia(kind === 'template' ? { kind: 'template', template: '' } : { kind: 'host', publicUrl: '' })
        }}
      >
        <Group gap="lg" mt="xs">
          <Radio value="host" label="here: Sluice serves them while the run needs them" />
          <Radio value="template" label="at addresses of their own" />
        </Group>
      </Radio.Group>
      <Stack gap={0}>
        {media.kind === 'host' ? (
          <TextInput
            label="Public base"
            description="Of a reverse proxy or tunnel that leads to this machine; empty where the service is on it."
            placeholder="https://media.example.com"
            w="24rem"
            maw="100%"
            value={media.publicUrl}
            onChange={(event) => onMedia({ kind: 'host', publicUrl: event.currentTarget.value })}
            onBlur={() => setLeft(true)}
            error={error ?? (isOut ? 'The service cannot reach this machine without one' : undefined)}
            spellCheck={false}
            autoComplete="off"
          />
        ) : (
          <TextInput
            label="Address of each file"
            description="{{path}} stands for its path inside the folder."
            placeholder="https://cdn.example.com/{{path}}"
            w="24rem"
            maw="100%"
            value={media.template}
            onChange={(event) => onMedia({ kind: 'template', template: event.currentTarget.value })}
            onBlur={() => setLeft(true)}
            error={error}
            spellCheck={false}
            autoComplete="off"
          />
        )}
      </Stack>
    </div>
  )
}
