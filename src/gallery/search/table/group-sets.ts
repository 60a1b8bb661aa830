import assert from 'node:assert/strict'

/** The label of empty rows; it is never allowed. */
export const emptyGroupSetId = 0

/**
 * Numbers for the sets of groups that rows have. A row carries one number instead of its groups,
 * and a filter is one byte for each number: thousands of rows share a set, so both stay small.
 */
export type GroupSets = {
  /** The number of a set of groups; one more row has it. */
  readonly acquire: (groups: readonly string[]) => number
  /** One row fewer has it; a number that no row has is given to another set. */
  readonly release: (label: number) => void
  /** One byte a label: 1 if its rows are in any of the groups, or if no groups are asked for. */
  readonly allowed: (groups?: readonly string[]) => Uint8Array
}

type GroupSet = { readonly key: string; readonly groups: readonly string[]; rows: number }

export function createGroupSets(): GroupSets {
  const labels: (GroupSet | undefined)[] = [undefined]
  const byKey = new Map<string, number>()
  const byGroup = new Map<string, Set<number>>()
  const unused: number[] = []

  const add = (key: string, groups: readonly string[]): number => {
    const label = unused.pop() ?? labels.length
    labels[label] = { key, groups, rows: 0 }
    byKey.set(key, label)
    for (const group of groups) byGroup.set(group, (byGroup.get(group) ?? new Set()).add(label))
    return label
  }
  const forget = (label: number, { key, groups }: GroupSet): void => {
    labels[label] = undefined
    unused.push(label)
    byKey.delete(key)
    for (const group of groups) {
      const members = byGroup.get(group)
      members?.delete(label)
      if (members?.size === 0) byGroup.delete(group)
    }
  }
  return {
    acquire: (groups) => {
      const set = [...new Set(groups)].sort()
      const key = JSON.stringify(set)
      const number = byKey.get(key) ?? add(key, set)
      const label = labels[number]
      assert.ok(label)
      label.rows++
      return number
    },
    release: (number) => {
      const label = labels[number]
      assert.ok(label, 'a label is given back as often as it was taken')
      label.rows--
      if (label.rows === 0) forget(number, label)
    },
    allowed: (groups) => {
      if (!groups)
        return new Uint8Array(labels.length).fill(1).fill(0, emptyGroupSetId, emptyGroupSetId + 1)
      const bytes = new Uint8Array(labels.length)
      for (const group of groups) for (const label of byGroup.get(group) ?? []) bytes[label] = 1
      return bytes
    },
  }
}
