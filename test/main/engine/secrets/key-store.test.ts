import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyStore } from '../../../../src/main/engine/secrets/key-store.ts'
import { createMemoryKeyring } from '../../../helpers/memory-keyring.ts'

const NAME = { workspace: '/home/me/sluice', connection: 'staging', label: 'default' }

const createKey = () => ({ text: 'the-key', route: 'the-route', revision: randomUUID() })

describe('a key that was typed', () => {
  it('is kept in the lasting store, under a name that a person recognises, and found by another process', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    const store = createKeyStore(keyring)
    expect(await store.describe()).toEqual({ place: 'keyring', reason: null })
    expect(await store.set(NAME, key)).toEqual({ place: 'keyring', reason: null })
    expect([...keyring.entries.keys()]).toEqual(['staging/default in /home/me/sluice'])
    const typed = { place: 'keyring', revision: key.revision } as const
    expect(await createKeyStore(keyring).get(NAME, typed)).toEqual(key)
    await store.remove(NAME, typed)
    expect(keyring.entries.size).toBe(0)
    expect(await store.get(NAME, typed)).toBeNull()
  })

  it('is asked of the lasting store once, until another one is typed', async () => {
    const keyring = createMemoryKeyring()
    const [one, two] = [createKey(), createKey()]
    const store = createKeyStore(keyring)
    await store.set(NAME, one)
    keyring.trouble = 'locked'
    expect(await store.get(NAME, { place: 'keyring', revision: one.revision })).toEqual(one)
    keyring.trouble = null
    await createKeyStore(keyring).set(NAME, two)
    expect(await store.get(NAME, { place: 'keyring', revision: two.revision })).toEqual(two)
    expect(await store.get(NAME, { place: 'keyring', revision: one.revision })).toBeNull()
  })

  it('is kept for the session where the lasting store fails or is missing, with the reason', async () => {
    const keyring = createMemoryKeyring()
    keyring.trouble = 'the keyring is locked'
    for (const lasting of [keyring, { absence: 'the keyring is locked' }]) {
      const store = createKeyStore(lasting)
      const key = createKey()
      expect(await store.set(NAME, key)).toEqual({ place: 'session', reason: 'the keyring is locked' })
      expect(await store.get(NAME, { place: 'session', revision: key.revision })).toEqual(key)
      expect(await createKeyStore(lasting).get(NAME, { place: 'session', revision: key.revision })).toBeNull()
    }
  })

  it('leaves nothing of an earlier one behind when it is removed, wherever it is itself', async () => {
    const keyring = createMemoryKeyring()
    const store = createKeyStore(keyring)
    await store.set(NAME, createKey())
    keyring.trouble = 'unlock prompt was dismissed'
    const key = createKey()
    const { place } = await store.set(NAME, key)
    await store.remove(NAME, { place, revision: key.revision })
    expect(keyring.entries.size).toBe(1)
    keyring.trouble = null
    await store.remove(NAME, { place, revision: key.revision })
    expect(keyring.entries.size).toBe(0)
  })

  it('is said to be locked in where its store does not give it out or let it go', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    await createKeyStore(keyring).set(NAME, key)
    keyring.trouble = 'unlock prompt was dismissed'
    const store = createKeyStore(keyring)
    const typed = { place: 'keyring', revision: key.revision } as const
    await expect(store.get(NAME, typed)).rejects.toThrow(
      'the key default of connection staging cannot be read from where it is kept: unlock prompt was dismissed',
    )
    await expect(store.remove(NAME, typed)).rejects.toThrow('could not be removed from the keyring')
  })

  it('is not mistaken for what another program put in its place', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    await createKeyStore(keyring).set(NAME, key)
    for (const text of ['', 'a password', '[]', JSON.stringify({ ...key, revision: 17 })]) {
      keyring.entries.set('staging/default in /home/me/sluice', text)
      const store = createKeyStore(keyring)
      expect(await store.get(NAME, { place: 'keyring', revision: key.revision })).toBeNull()
    }
  })

  it('is never asked for in a store of another kind', async () => {
    const keyring = createMemoryKeyring()
    keyring.trouble = 'asked'
    expect(await createKeyStore(keyring).get(NAME, { place: 'profile', revision: randomUUID() })).toBeNull()
  })
})
