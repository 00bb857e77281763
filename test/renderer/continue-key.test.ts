import { describe, expect, it } from 'vitest'
import { type KeySituation, toFirstKeyChoice } from '../../src/renderer/app/continue-run.tsx'

const UNSTORED: KeySituation = { isNeeded: true, refusedRows: 0, stored: null, own: 'own-key' }
const STORED: KeySituation = {
  ...UNSTORED,
  isNeeded: false,
  stored: { connection: 'live', label: 'main', isTypeable: true },
}

describe('the key that a run is taken up with', () => {
  it('is at first the one that was typed and it was sent with', () => {
    expect(toFirstKeyChoice(UNSTORED)).toEqual({ typed: 'own-key', isKept: false })
  })

  it('is not the one that was typed before where the service refused a key', () => {
    expect(toFirstKeyChoice({ ...UNSTORED, refusedRows: 8 })).toEqual({ typed: '', isKept: false })
  })

  it('is at first the stored one, or another in its place where the service refused it', () => {
    expect(toFirstKeyChoice(STORED)).toEqual({ typed: null, isKept: false })
    expect(toFirstKeyChoice({ ...STORED, refusedRows: 8 })).toEqual({ typed: '', isKept: true })
  })
})
