import { useState } from 'react'
import { CleanUpDialog } from '../features/runs/clean-up-dialog.tsx'
import { SettingsScreen } from '../features/settings/settings-screen.tsx'

/** The settings, with the clean-up of runs over them. */
export function SettingsPlace() {
  const [isCleaningUp, setCleaningUp] = useState(false)
  return (
    <>
      <SettingsScreen onCleanUp={() => setCleaningUp(true)} />
      {isCleaningUp && <CleanUpDialog onClose={() => setCleaningUp(false)} />}
    </>
  )
}
