import { describe, expect, it } from 'vitest'
import { type KeySituation, toFirstKeyChoice } from '../../src/renderer/app/continue-run.tsx'

const UNSTORED: KeySituation = { isNeeded: true, refusedRows: 0, stored: null, own: 'own-key' }
const STORED: KeySituation = {
  ...UNSTORED,
  isNeeded: false,
  stored: { connection: 'live', label: 'main', isTypeable: true },
}

describe('the key that a run is taken up with', () => {
  it('defaults to the typed key that the run was sent with', () => {
    expect(toFirstKeyChoice(UNSTORED)).toEqual({ typed: 'own-key', isKept: false })
  })

  it('does not default to the typed key if the service refused a key', () => {
    expect(toFirstKeyChoice({ ...UNSTORED, refusedRows: 8 })).toEqual({ typed: '', isKept: false })
  })

  it('defaults to the stored key, or another in its place if the service refused it', () => {
    expect(toFirstKeyChoice(STORED)).toEqual({ typed: null, isKept: false })
    expect(toFirstKeyChoice({ ...STORED, refusedRows: 8 })).toEqual({ typed: '', isKept: true })
  })
})
