import { hashApiKey } from '../../lib/crypto/api-key.ts'
import { createKeyFinder, identityOf, keyState } from './keys.ts'
import type { FindKey, KeyIdentity, KeyLookupRow } from './keys.ts'

/** The most keys that a process remembers. The one that was read first is replaced. */
const keysMax = 10_000

type KeyFinders = { readonly findKey: FindKey; readonly findRememberedKey: FindKey }

/**
 * Returns a function that reads a key, and one that first searches the keys that were read before. The
 * second one saves a round trip of each call. Its result may be outdated: the admission compares
 * the version of the key. Only hashes are remembered, and only keys that are valid now are returned.
 */
export function createKeyFinders(
  readKey: (hash: Uint8Array) => Promise<KeyLookupRow | undefined>,
): KeyFinders {
  const remembered = new Map<string, RememberedKey>()
  const findKey = createKeyFinder(async (hash) => {
    const row = await readKey(hash)
    const name = nameOf(hash)
    remembered.delete(name)
    // The use of a former secret is recorded by another statement than the admission. The calls of a
    // frozen project are rejected before the admission, which would find that it is no longer frozen.
    if (!row || row.isFormer || row.isFrozen === 1) return row
    const [first] = remembered.size >= keysMax ? remembered.keys() : []
    if (first !== undefined) remembered.delete(first)
    remembered.set(name, { row, identity: identityOf(row, new Date(0)) })
    return row
  })
  return {
    findKey,
    findRememberedKey: async (apiKey, now) => {
      const found = remembered.get(nameOf(hashApiKey(apiKey)))
      if (!found || keyState(found.row, now) !== 'active') return findKey(apiKey, now)
      return {
        ...found.identity,
        state: 'active',
        refresh: (later) => findKey(apiKey, later),
      }
    },
  }
}

/** A key with the current secret. Only the state of its identity depends on the time. */
type RememberedKey = { readonly row: KeyLookupRow; readonly identity: KeyIdentity }

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1')
}
