import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'

type FilterBarProps = { readonly children: ReactNode; readonly onClear: () => void }

/** The filters of a list, in one row that wraps. */
export function FilterBar({ children, onClear }: FilterBarProps) {
  return (
    <Group component="search" gap="xs" align="flex-end" aria-label="Filters">
      {children}
      <Button variant="default" size="xs" onClick={onClear}>
        Clear filters
      </Button>
    </Group>
  )
}

type TextFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly placeholder?: string
}

const debounceMs = 350

/** A filter by text; the list follows when the typing pauses. */
export function TextFilter({ label, value = '', onChange, placeholder }: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  // The address may change by itself: by Back, or by clearing all filters.
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  const tell = useDebouncedCallback(
    (text: string) => onChange(text.trim() || undefined),
    debounceMs,
  )
  return (
    <TextInput
      size="xs"
      label={label}
      value={typed}
      {...(placeholder === undefined ? {} : { placeholder })}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}

type ChoiceFilterProps = TextFilterProps & {
  readonly options: readonly (string | { readonly value: string; readonly label: string })[]
}

/** A filter by one of several values, or none. */
export function ChoiceFilter({
  label,
  value,
  onChange,
  options: choices,
  placeholder,
}: ChoiceFilterProps) {
  return (
    <Select
      size="xs"
      label={label}
      placeholder={placeholder ?? 'Any'}
      data={[...choices]}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
    />
  )
}
