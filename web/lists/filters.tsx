import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useId, useState, type ReactNode } from 'react'
import './lists.css'

type FilterBarProps = {
  readonly children: ReactNode
  readonly onClear: () => void
  /** The values of the filters, to count those that are set. */
  readonly values: Readonly<Record<string, unknown>>
  /** The rows of the list. Without rows and without a filter that is set, there is nothing to filter. */
  readonly rows?: readonly unknown[] | undefined
}

/** The filters of a list. On a phone they are folded behind a button with the number of those set. */
export function FilterBar({ children, onClear, values, rows }: FilterBarProps) {
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  const count = Object.values(values).filter((value) => value !== undefined && value !== '').length
  if (rows?.length === 0 && count === 0) return null
  return (
    <search aria-label="Filters">
      <div className="fg-phone-only">
        <Button
          variant="default"
          fullWidth
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setIsOpen(!isOpen)}
        >
          {count === 0 ? 'Filters' : `Filters (${count})`}
        </Button>
      </div>
      <div id={id} className="fg-filters" data-folded={isOpen ? undefined : ''}>
        {children}
        {count > 0 && (
          <Button variant="default" size="xs" onClick={onClear}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  )
}

type FilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly placeholder?: string
}

type TextFilterProps = FilterProps & {
  /** Returns why a text is not applied; undefined if it is. */
  readonly problemOf?: (text: string) => string | undefined
}

const debounceMs = 350

/** A text filter. It is applied when the user stops typing. */
export function TextFilter({
  label,
  value = '',
  onChange,
  placeholder,
  problemOf,
}: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  const [appliedValue, setAppliedValue] = useState(value)
  // The value also changes when the user goes back or clears all filters.
  if (appliedValue !== value) {
    setAppliedValue(value)
    setTyped(value)
  }
  const problem = typed.trim() === '' ? undefined : problemOf?.(typed.trim())
  const applyLater = useDebouncedCallback((text: string) => {
    if (text.trim() === '' || problemOf?.(text.trim()) === undefined)
      onChange(text.trim() || undefined)
  }, debounceMs)
  return (
    <TextInput
      size="xs"
      label={label}
      value={typed}
      error={problem}
      {...(placeholder === undefined ? {} : { placeholder })}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        applyLater(event.currentTarget.value)
      }}
    />
  )
}

type ChoiceFilterProps = FilterProps & {
  readonly options: readonly (string | { readonly value: string; readonly label: string })[]
}

/** A filter with a list of values. */
export function ChoiceFilter({ label, value, onChange, options, placeholder }: ChoiceFilterProps) {
  return (
    <Select
      size="xs"
      label={label}
      placeholder={placeholder ?? 'Any'}
      data={[...options]}
      value={value ?? null}
      onChange={(selected) => onChange(selected ?? undefined)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
    />
  )
}
