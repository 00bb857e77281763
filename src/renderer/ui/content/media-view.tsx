import { Button, Group, Stack } from '@mantine/core'
import {
  IconDownload,
  IconEye,
  IconEyeOff,
  IconPhotoOff,
  IconPlayerPause,
  IconPlayerPlay,
  IconVolume,
  IconVolumeOff,
} from '@tabler/icons-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { create } from 'zustand'
import type { MediaFileEntry, RowMedia } from '../../../shared/bridge/media.ts'
import { formatBytes } from '../../../shared/messages/figure-text.ts'
import { ActionButton } from '../controls.tsx'
import { ErrorNotice } from '../layout/screen.tsx'
import { useWindowKeys } from '../shortcuts.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './media.module.css'
import { useOnHideAll } from './user-content.tsx'

/** How much of a picture is visible, least first: sharpness comes late, and colour last. */
const STEPS = [
  { look: null, now: 'Not shown', next: 'Show blurred' },
  { look: styles.blurred, now: 'Greyscale, strongly blurred', next: 'Less blur' },
  { look: styles.soft, now: 'Greyscale, blurred', next: 'Sharp' },
  { look: styles.grey, now: 'Greyscale, sharp', next: 'In colour' },
  { look: styles.colour, now: 'As it is', next: null },
] as const

/** How media are shown at first, from a person's stored settings. */
interface MediaRules {
  /** The initial step of {@link STEPS}. */
  firstStep: number
  /** Whether the next row's media are revealed as far as the previous row's. */
  keepsStep: boolean
  startsMuted: boolean
}

export const useMediaRules = create<MediaRules>(() => ({ firstStep: 1, keepsStep: false, startsMuted: true }))

/** Has pictures and videos start strongly blurred at most, whatever the settings say. */
export function blurMedia(): void {
  useMediaRules.setState(({ firstStep }) => ({ firstStep: Math.min(firstStep, 1) }))
}

/** The class with a picture's sharpness and colour. */
type Look = string | undefined

/** How far the media of a row are revealed; M reveals more, Shift+M hides them again. */
export function useMediaSteps(row: number | null): {
  step: number
  setStep: (step: number) => void
} {
  const { firstStep, keepsStep } = useMediaRules()
  const [at, setAt] = useState<{ row: number | null; step: number } | null>(null)
  const step = at !== null && (keepsStep || at.row === row) ? at.step : firstStep
  const setStep = useCallback(
    (next: number) => setAt({ row, step: Math.min(Math.max(firstStep, next), STEPS.length - 1) }),
    [row, firstStep],
  )
  useOnHideAll(() => setAt(null))
  useWindowKeys((event) => {
    if (event.key.toLowerCase() !== 'm' || event.repeat || row === null) return
    event.preventDefault()
    setStep(event.shiftKey ? firstStep : step + 1)
  })
  return { step, setStep }
}

/**
 * The pictures, videos and sounds of a row, greyscale and blurred until revealed in steps. Nothing moves or
 * plays by itself, and nothing is fetched from elsewhere unless a person asks for it.
 */
export function MediaView(props: {
  media: readonly RowMedia[]
  step: number
  setStep: (step: number) => void
  fetch: (column: number) => void
  isFetching: boolean
  error: unknown
}) {
  const { media, step, setStep } = props
  const shown = STEPS[step] ?? STEPS[0]
  const { firstStep } = useMediaRules()
  const hasPictures = media.some((one) => one.kind === 'file' && one.shows !== 'audio')
  return (
    <Stack gap="sm">
      {hasPictures && (
        <Group gap="xs">
          {shown.next !== null && (
            <ActionButton
              label={shown.next}
              small
              icon={IconEye}
              rightSection={<kbd>M</kbd>}
              onClick={() => setStep(step + 1)}
            />
          )}
          {step > firstStep && (
            <ActionButton
              label={firstStep === 1 ? 'Blur again' : 'Hide again'}
              small
              icon={IconEyeOff}
              title="Shift with M"
              onClick={() => setStep(firstStep)}
            />
          )}
          <span className="text-xs nowrap quiet" aria-live="polite">
            {shown.now}
          </span>
        </Group>
      )}
      {media.map((one) => (
        <MediaItem
          key={one.column}
          media={one}
          look={shown.look}
          isFetching={props.isFetching}
          onFetch={() => props.fetch(one.column)}
        />
      ))}
      {props.error !== null && <ErrorNotice error={props.error} />}
    </Stack>
  )
}

const WORDS = { image: 'Picture', video: 'Video', audio: 'Sound' } as const

const UNUSABLE = {
  missing: 'The file is not in the folder of the source, or cannot be read.',
  'not-media': 'The file is not a picture, video or sound that can be shown here.',
  'too-large': 'The file is too large to be shown',
} as const

function MediaItem(props: {
  media: RowMedia
  /** Null if it is not shown. */
  look: Look | null
  isFetching: boolean
  onFetch: () => void
}) {
  const { media, look } = props
  if (media.kind === 'unusable') {
    return (
      <p className={`row gap-2 ${styles.none}`}>
        <IconPhotoOff size="1.2rem" className="flex-none" aria-hidden />
        {UNUSABLE[media.why]}
        {media.why === 'too-large' && media.sizeBytes !== null && ` (${formatBytes(media.sizeBytes)}).`}
      </p>
    )
  }
  if (media.kind === 'remote') {
    return (
      <div className={styles.remote}>
        <p>
          The file is on{' '}
          <strong>
            <SafeText text={media.host} max={200} />
          </strong>
          . Nothing has been fetched. If you fetch it, <SafeText text={media.host} max={200} /> sees the
          address of this machine and the time. No key, cookie or account goes with the request.
        </p>
        <Button loading={props.isFetching} leftSection={<IconDownload size="1rem" />} onClick={props.onFetch}>
          Fetch from&nbsp;
          <SafeText text={media.host} max={60} />
        </Button>
      </div>
    )
  }
  return (
    <figure className="grid one-column gap-2 m-0">
      {media.shows === 'audio' ? (
        <Sound url={media.url} />
      ) : look === null ? (
        <p className={`row gap-2 ${styles.none}`}>
          <IconEyeOff size="1.2rem" className="flex-none" aria-hidden />
          {WORDS[media.shows]} hidden
        </p>
      ) : media.shows === 'image' ? (
        <Picture key={media.url} media={media} look={look} />
      ) : (
        <Video key={media.url} media={media} look={look} />
      )}
      <figcaption className={styles.caption}>
        {WORDS[media.shows]}, {media.type}, {formatBytes(media.sizeBytes)}
      </figcaption>
    </figure>
  )
}

function Sound({ url }: { url: string }) {
  const audio = useRef<HTMLAudioElement>(null)
  useOnHideAll(() => audio.current?.pause())
  return (
    // biome-ignore lint/a11y/useMediaCaption: what people posted has no captions
    <audio ref={audio} className="w-full" src={url} controls preload="none" aria-label="Sound of the row" />
  )
}

/** A picture; an animated one shows its first frame until played. */
function Picture({ media, look }: { media: MediaFileEntry; look: Look }) {
  const [isPlaying, setPlaying] = useState(false)
  const [isBroken, setBroken] = useState(false)
  useOnHideAll(() => setPlaying(false))
  if (isBroken) return <Unplayable />
  const isStill = media.isAnimated && !isPlaying
  return (
    <>
      <div className={`overflow-hidden rounded-large bg-sunken ${styles.frame}`}>
        {isStill ? (
          <FirstFrame url={media.url} look={look} onBroken={() => setBroken(true)} />
        ) : (
          <img
            className={look}
            src={media.url}
            alt="What the row shows"
            draggable={false}
            onError={() => setBroken(true)}
          />
        )}
      </div>
      {media.isAnimated && (
        <Group gap="xs">
          <PlayButton isPlaying={isPlaying} onPlay={setPlaying} />
        </Group>
      )}
    </>
  )
}

/** Draws one frame, since an image element cannot be paused. */
function FirstFrame(props: { url: string; look: Look; onBroken: () => void }) {
  const { url, onBroken } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame is drawn once for each address
  useEffect(() => {
    const image = new Image()
    image.onload = () => {
      const element = canvas.current
      if (element === null) return
      element.width = image.naturalWidth
      element.height = image.naturalHeight
      element.getContext('2d')?.drawImage(image, 0, 0)
    }
    image.onerror = onBroken
    image.src = url
    return () => {
      image.onload = null
      image.onerror = null
    }
  }, [url])
  return (
    <canvas ref={canvas} className={props.look} role="img" aria-label="First frame of what the row shows" />
  )
}

/** A video, paused at its first frame and muted by default. Its buttons are outside of the blur. */
function Video({ media, look }: { media: MediaFileEntry; look: Look }) {
  const video = useRef<HTMLVideoElement>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [isMuted, setMuted] = useState(useMediaRules.getState().startsMuted)
  const [isBroken, setBroken] = useState(false)
  const [place, setPlace] = useState({ at: 0, of: 0 })
  useOnHideAll(() => video.current?.pause())
  if (isBroken) return <Unplayable />
  const follow = () => {
    const { currentTime = 0, duration = 0 } = video.current ?? {}
    setPlace({ at: currentTime, of: Number.isFinite(duration) ? duration : 0 })
  }
  return (
    <>
      <div className={`overflow-hidden rounded-large bg-sunken ${styles.frame}`}>
        <video
          ref={video}
          className={look}
          src={media.url}
          muted={isMuted}
          preload="metadata"
          playsInline
          disablePictureInPicture
          aria-label="Video of the row"
          onPlay={() => setPlaying(true)}
          onPause={() => setPlaying(false)}
          onLoadedMetadata={follow}
          onTimeUpdate={follow}
          onError={() => setBroken(true)}
        />
      </div>
      <Group gap="xs" wrap="nowrap">
        <PlayButton
          isPlaying={isPlaying}
          onPlay={(play) => {
            if (play) void video.current?.play().catch(() => setBroken(true))
            else video.current?.pause()
          }}
        />
        <ActionButton
          label={isMuted ? 'Sound off' : 'Sound on'}
          small
          leftSection={isMuted ? <IconVolumeOff size="1rem" /> : <IconVolume size="1rem" />}
          onClick={() => setMuted(!isMuted)}
        />
        <input
          className={`flex-1 ${styles.seek}`}
          type="range"
          min={0}
          max={place.of}
          step="any"
          value={place.at}
          aria-label="Position in the video, seconds"
          onChange={(event) => {
            if (video.current !== null) video.current.currentTime = Number(event.currentTarget.value)
          }}
        />
        <span className="text-xs nowrap quiet">
          {place.at.toFixed(1)} of {place.of.toFixed(1)} s
        </span>
      </Group>
    </>
  )
}

function PlayButton({ isPlaying, onPlay }: { isPlaying: boolean; onPlay: (play: boolean) => void }) {
  return (
    <ActionButton
      label={isPlaying ? 'Pause' : 'Play'}
      small
      leftSection={isPlaying ? <IconPlayerPause size="1rem" /> : <IconPlayerPlay size="1rem" />}
      onClick={() => onPlay(!isPlaying)}
    />
  )
}

function Unplayable() {
  return (
    <p className={`row gap-2 ${styles.none}`}>
      <IconPhotoOff size="1.2rem" className="flex-none" aria-hidden />
      The file is damaged, or in a format that cannot be shown here.
    </p>
  )
}
