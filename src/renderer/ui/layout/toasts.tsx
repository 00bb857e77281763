import type { ReactNode } from 'react'
import { create } from 'zustand'
import { ActionButton } from '../controls.tsx'
import { nameShortcut, useShortcut } from '../shortcuts.ts'
import styles from './layout.module.css'
import { ErrorNotice, Notice } from './screen.tsx'

/** Something that happened elsewhere than where the person looks. It stays until it is dismissed. */
interface Toast {
  /** One of the same key takes its place. */
  key: string
  kind: 'info' | 'good' | 'warning'
  title: ReactNode
  text?: ReactNode
  /** What leads to it; the toast has then been read. */
  action?: { label: string; act: () => unknown }
  /** Takes back what was done; Ctrl+Z does so for the newest, unless the screen has something to undo. */
  undo?: () => Promise<unknown>
}

type Shown = Toast | { key: string; kind: 'error'; error: unknown }

const useToasts = create<{ toasts: readonly Shown[] }>(() => ({ toasts: [] }))

export function showToast(toast: Toast): void {
  putToast(toast)
}

/** Removes the toast of that key, if it is shown. */
export function dismissToast(key: string): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.key !== key) }))
}

/** Shows why something failed that was done elsewhere. */
export function showErrorToast(key: string, error: unknown): void {
  putToast({ key, kind: 'error', error })
}

function putToast(toast: Shown): void {
  useToasts.setState(({ toasts }) => ({ toasts: [toast, ...toasts.filter(({ key }) => key !== toast.key)] }))
}

/** Does what a toast offers; a failure takes the toast's place. */
async function act(key: string, work: () => unknown): Promise<void> {
  dismissToast(key)
  try {
    await work()
  } catch (error) {
    showErrorToast(key, error)
  }
}

/**
 * All toasts, the newest first, over the lower corner of the window. They are in one live region, which reads them out
 * as they come.
 */
export function Toasts() {
  const { toasts } = useToasts()
  const undoable = toasts.find((toast) => toast.kind !== 'error' && toast.undo !== undefined)
  const undo = undoable !== undefined && 'undo' in undoable ? undoable.undo : undefined
  useShortcut(
    { key: 'z', mod: true, last: true },
    undoable === undefined || undo === undefined ? null : () => void act(undoable.key, undo),
  )
  return (
    <section className={`stack items-end gap-2 ${styles.toasts}`} aria-label="Messages">
      {toasts.length > 1 && (
        <ActionButton
          label={`Dismiss all ${toasts.length}`}
          small
          onClick={() => useToasts.setState({ toasts: [] })}
        />
      )}
      {/* Stays when it is empty: what comes later is only announced in a region that was there before. */}
      <div className={`stack gap-2 w-full ${styles.toastList}`} aria-live="polite" aria-relevant="additions">
        {toasts.map((toast) =>
          toast.kind === 'error' ? (
            <ErrorNotice
              key={toast.key}
              isSilent
              error={toast.error}
              onDismiss={() => dismissToast(toast.key)}
            />
          ) : (
            <ToastNotice key={toast.key} toast={toast} />
          ),
        )}
      </div>
    </section>
  )
}

function ToastNotice({ toast }: { toast: Toast }) {
  const { key, kind, title, text, action, undo } = toast
  return (
    <Notice
      isSilent
      kind={kind}
      title={title}
      actions={
        <>
          {undo !== undefined && (
            <ActionButton
              label="Undo"
              small
              title={nameShortcut(['Mod', 'Z'])}
              onClick={() => void act(key, undo)}
            />
          )}
          {action !== undefined && (
            <ActionButton label={action.label} small onClick={() => void act(key, action.act)} />
          )}
          <ActionButton label="Dismiss" small onClick={() => dismissToast(key)} />
        </>
      }
    >
      {text}
    </Notice>
  )
}
