import type { ReactNode } from 'react'
import { create } from 'zustand'
import { ActionButton } from '../controls.tsx'
import { nameShortcut, useShortcut } from '../shortcuts.ts'
import styles from './layout.module.css'
import { ErrorNotice, Notice } from './screen.tsx'

/** A message about something that happened out of sight of the person. It stays until dismissed. */
interface Toast {
  /** Another toast with the same key replaces it. */
  key: string
  kind: 'info' | 'good' | 'warning'
  title: ReactNode
  text?: ReactNode
  /** An action that leads to its subject, and dismisses the toast. */
  action?: { label: string; act: () => unknown }
  /** Undoes what was done; Ctrl+Z does this for the newest toast, unless the screen has something to undo. */
  undo?: () => Promise<unknown>
}

type Shown = Toast | { key: string; kind: 'error'; error: unknown }

const useToasts = create<{ toasts: readonly Shown[] }>(() => ({ toasts: [] }))

export function showToast(toast: Toast): void {
  putToast(toast)
}

/** Removes the toast with that key, if it is shown. */
export function dismissToast(key: string): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.key !== key) }))
}

/** Shows why something failed that was started elsewhere. */
export function showErrorToast(key: string, error: unknown): void {
  putToast({ key, kind: 'error', error })
}

function putToast(toast: Shown): void {
  useToasts.setState(({ toasts }) => ({ toasts: [toast, ...toasts.filter(({ key }) => key !== toast.key)] }))
}

/** Performs a toast's action; a failure replaces the toast. */
async function act(key: string, work: () => unknown): Promise<void> {
  dismissToast(key)
  try {
    await work()
  } catch (error) {
    showErrorToast(key, error)
  }
}

/** All toasts, newest first, over the lower corner of the window, in a live region, which reads them out. */
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
      {/* Kept even if empty: changes are only announced in a region that already existed. */}
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
