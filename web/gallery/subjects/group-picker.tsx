import { TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useApiQuery } from '../../api/use-api.ts'

type Props = {
  readonly projectId: string
  readonly label: string
  readonly value: readonly string[]
  readonly onChange: (groups: string[]) => void
  readonly description?: string
  /** False: only existing groups can be chosen. */
  readonly mayCreate?: boolean
}

const searchDelayMs = 250
const groupsMax = 20
const groupPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/u

/** Returns why names cannot be groups; undefined if they can. */
export function groupProblem(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !groupPattern.test(name))
  return wrong === undefined
    ? undefined
    : `${wrong}: use 1 to 64 of the characters A-Z a-z 0-9 . _ : - and begin with a letter or digit`
}

/** Chooses groups: searches the existing ones, and creates new ones by typing their names. */
export function GroupPicker({ projectId, label, value, onChange, description, mayCreate }: Props) {
  const [typed, setTyped] = useState('')
  const [searched] = useDebouncedValue(typed.trim(), searchDelayMs)
  const groups = useApiQuery('/projects/:projectId/groups', {
    pathParams: { projectId },
    query: { q: searched.slice(0, 64) },
  })
  const names = (groups.data?.items ?? []).map(({ name }) => name)
  const isKnown = (name: string): boolean => names.includes(name) || value.includes(name)
  return (
    <TagsInput
      size="xs"
      label={label}
      description={description}
      placeholder={mayCreate === false ? 'Search groups' : 'Search groups, or type a new name'}
      data={names}
      value={[...value]}
      maxTags={groupsMax}
      clearable
      clearButtonProps={{ 'aria-label': `Remove all: ${label}` }}
      searchValue={typed}
      onSearchChange={setTyped}
      error={groupProblem(value)}
      onChange={(chosen) => onChange(mayCreate === false ? chosen.filter(isKnown) : chosen)}
    />
  )
}
