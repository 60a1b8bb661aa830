import { Group, Select, Text } from '@mantine/core'
import { useState } from 'react'
import { useIsAbsent } from '../api/use-is-absent.ts'

const intervals = [
  { value: '2', label: 'Live (2 s)' },
  { value: '10', label: 'Every 10 s' },
  { value: '60', label: 'Every minute' },
]

/**
 * Returns the time between two refreshes. It is false while refreshing is off or the user is absent. In
 * a hidden tab no query is refreshed.
 */
export function useRefreshMs(seconds: string | undefined): {
  readonly pollMs: number | false
  readonly isPaused: boolean
} {
  const isAbsent = useIsAbsent()
  const isOn = intervals.some(({ value }) => value === seconds)
  return { pollMs: isOn && !isAbsent ? Number(seconds) * 1000 : false, isPaused: isOn && isAbsent }
}

type Props = {
  readonly seconds: string | undefined
  readonly isPaused: boolean
  /** Only the first page contains new calls. */
  readonly isFirstPage: boolean
  /** The number of calls that the latest refresh added. */
  readonly newCount: number
  readonly onChange: (seconds: string | undefined) => void
}

/** Chooses how often the list is refreshed. */
export function LiveRefresh({ seconds, isPaused, isFirstPage, newCount, onChange }: Props) {
  return (
    <Group gap="xs" align="center">
      <Select
        size="xs"
        w={170}
        aria-label="Refresh"
        placeholder="Refresh: off"
        data={intervals}
        value={isFirstPage ? (seconds ?? null) : null}
        disabled={!isFirstPage}
        clearable
        clearButtonProps={{ 'aria-label': 'Turn refreshing off' }}
        onChange={(value) => onChange(value ?? undefined)}
      />
      <Text size="xs" c="dimmed" component="output">
        {statusText({ seconds, isPaused, isFirstPage, newCount })}
      </Text>
    </Group>
  )
}

function statusText({ seconds, isPaused, isFirstPage, newCount }: Omit<Props, 'onChange'>): string {
  if (!isFirstPage) return 'Open the first page to refresh the list.'
  if (isPaused) return 'Paused: no input for 5 minutes.'
  if (seconds === undefined || newCount === 0) return ''
  return `${newCount} new ${newCount === 1 ? 'call' : 'calls'}`
}

/**
 * Returns the ids of the rows that the latest refresh of the same list added.
 *
 * @param list identifies the list, such as its filters.
 */
export function useNewIds(list: string, ids: readonly number[] | undefined): ReadonlySet<number> {
  const [seen, setSeen] = useState({ list, ids, added: new Set<number>() })
  if (ids !== undefined && (seen.list !== list || seen.ids !== ids)) {
    const isSame = seen.list === list && seen.ids !== undefined
    const before = new Set(seen.ids)
    const newIds = ids.filter((id) => !before.has(id))
    const isUnchanged = isSame && newIds.length === 0 && ids.length === before.size
    setSeen({ list, ids, added: isUnchanged ? seen.added : new Set(isSame ? newIds : []) })
  }
  return seen.added
}
