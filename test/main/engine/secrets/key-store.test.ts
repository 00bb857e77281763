import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKeyStore } from '../../../../src/main/engine/secrets/key-store.ts'
import { createMemoryKeyring } from '../../../helpers/memory-keyring.ts'

const NAME = { workspace: '/home/me/sluice', connection: 'staging', label: 'default' }

const createKey = () => ({ text: 'the-key', route: 'the-route', revision: randomUUID() })

describe('a key that was typed', () => {
  it('is stored permanently under a recognisable name, and found by another process', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    const store = createKeyStore(keyring)
    expect(await store.describe()).toEqual({ place: 'keyring', reason: null })
    expect(await store.set(NAME, key)).toEqual({ place: 'keyring', reason: null })
    expect([...keyring.entries.keys()]).toEqual([`staging/default in /home/me/sluice (${key.revision})`])
    const typed = { place: 'keyring', revision: key.revision } as const
    expect(await createKeyStore(keyring).get(NAME, typed)).toEqual(key)
    await store.remove(NAME, typed)
    expect(keyring.entries.size).toBe(0)
    expect(await store.get(NAME, typed)).toBeNull()
  })

  it('is read from the permanent store once, and again before it is removed', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    const typed = { place: 'keyring', revision: key.revision } as const
    const store = createKeyStore(keyring)
    await store.set(NAME, key)
    keyring.trouble = 'locked'
    expect(await store.get(NAME, typed)).toEqual(key)
    await expect(store.getToRemove(NAME, typed)).rejects.toThrow(
      'could not be removed from the keyring: locked',
    )
    expect(await store.get(NAME, typed)).toEqual(key)
    expect(await store.remove(NAME, typed)).toBe(false)
    keyring.trouble = null
    expect(await store.getToRemove(NAME, typed)).toEqual(key)
    expect(await store.remove(NAME, typed)).toBe(true)
  })

  it('stays when another one is typed for the same label, until it is removed itself', async () => {
    const keyring = createMemoryKeyring()
    for (const lasting of [keyring, { absence: 'no keyring' }]) {
      const store = createKeyStore(lasting)
      const [one, two] = [createKey(), createKey()]
      const { place } = await store.set(NAME, one)
      await store.set(NAME, two)
      expect(await store.get(NAME, { place, revision: one.revision })).toEqual(one)
      await store.remove(NAME, { place, revision: one.revision })
      expect(await store.get(NAME, { place, revision: one.revision })).toBeNull()
      expect(await store.get(NAME, { place, revision: two.revision })).toEqual(two)
    }
    expect(keyring.entries.size).toBe(1)
  })

  it('is kept for the session if the permanent store fails or is missing, with the reason', async () => {
    const keyring = createMemoryKeyring()
    keyring.trouble = 'the keyring is locked'
    for (const lasting of [keyring, { absence: 'the keyring is locked' }]) {
      const store = createKeyStore(lasting)
      const key = createKey()
      expect(await store.set(NAME, key)).toMatchObject({ place: 'session', reason: 'the keyring is locked' })
      expect(await store.get(NAME, { place: 'session', revision: key.revision })).toEqual(key)
      expect(await createKeyStore(lasting).get(NAME, { place: 'session', revision: key.revision })).toBeNull()
    }
  })

  it('is reported as locked if its store does not give it out', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    await createKeyStore(keyring).set(NAME, key)
    keyring.trouble = 'unlock prompt was dismissed'
    const store = createKeyStore(keyring)
    const typed = { place: 'keyring', revision: key.revision } as const
    await expect(store.get(NAME, typed)).rejects.toThrow(
      'the key default of connection staging cannot be read from where it is kept: unlock prompt was dismissed',
    )
  })

  it('is not mistaken for what another program stored in its place', async () => {
    const keyring = createMemoryKeyring()
    const key = createKey()
    await createKeyStore(keyring).set(NAME, key)
    for (const text of ['', 'a password', '[]', JSON.stringify({ ...key, revision: 17 })]) {
      keyring.entries.set(`staging/default in /home/me/sluice (${key.revision})`, text)
      const store = createKeyStore(keyring)
      expect(await store.get(NAME, { place: 'keyring', revision: key.revision })).toBeNull()
    }
  })

  it('is never looked up in a store of another kind', async () => {
    const keyring = createMemoryKeyring()
    keyring.trouble = 'asked'
    expect(await createKeyStore(keyring).get(NAME, { place: 'profile', revision: randomUUID() })).toBeNull()
  })
})
