import assert from 'node:assert/strict'

/** The id of empty rows; it is never allowed. */
export const emptyGroupSetId = 0

/**
 * Ids for the sets of groups that subjects have. A row stores one id instead of its groups, and a
 * filter is one byte per id. Both are small, because thousands of rows have the same set.
 */
export type GroupSets = ReturnType<typeof createGroupSets>

type GroupSet = { readonly key: string; readonly groups: readonly string[]; rows: number }

export function createGroupSets() {
  const sets: (GroupSet | undefined)[] = [undefined]
  const idByKey = new Map<string, number>()
  const idsByGroup = new Map<string, Set<number>>()
  const freeIds: number[] = []

  const add = (key: string, groups: readonly string[]): number => {
    const id = freeIds.pop() ?? sets.length
    sets[id] = { key, groups, rows: 0 }
    idByKey.set(key, id)
    for (const group of groups) idsByGroup.set(group, (idsByGroup.get(group) ?? new Set()).add(id))
    return id
  }
  const remove = (id: number, { key, groups }: GroupSet): void => {
    sets[id] = undefined
    freeIds.push(id)
    idByKey.delete(key)
    for (const group of groups) {
      const ids = idsByGroup.get(group)
      ids?.delete(id)
      if (ids?.size === 0) idsByGroup.delete(group)
    }
  }
  return {
    /** Returns the id of a set of groups and counts more rows for it, one by default. */
    acquire: (groups: readonly string[], rows: number = 1): number => {
      const sorted = [...new Set(groups)].sort()
      const key = JSON.stringify(sorted)
      const id = idByKey.get(key) ?? add(key, sorted)
      const set = sets[id]
      assert.ok(set)
      set.rows += rows
      return id
    },
    /** Counts one row less. An id without rows is reused for another set. */
    release: (id: number): void => {
      const set = sets[id]
      assert.ok(set, 'an id is released as often as it was acquired')
      set.rows--
      if (set.rows === 0) remove(id, set)
    },
    /** Returns one byte per id: 1 if the set contains any of the groups; all 1 without a filter. */
    allowed: (groups?: readonly string[]): Uint8Array => {
      if (!groups)
        return new Uint8Array(sets.length).fill(1).fill(0, emptyGroupSetId, emptyGroupSetId + 1)
      const bytes = new Uint8Array(sets.length)
      for (const group of groups) for (const id of idsByGroup.get(group) ?? []) bytes[id] = 1
      return bytes
    },
  }
}
