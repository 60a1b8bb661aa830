import {
  JsonInput,
  MultiSelect,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import type { FormField } from './form-fields.ts'

type Props = {
  readonly field: FormField
  readonly entry: unknown
  readonly error: string | undefined
  readonly onChange: (entry: unknown) => void
}

/** The control for one parameter. An empty control shows the default of the server. */
export function FieldInput({ field, entry, error, onChange }: Props) {
  const { name, kind, defaultValue, isRequired } = field
  // The description has the code marks of Markdown.
  const description = field.description?.replaceAll('`', '')
  const common = { label: name, description, error, required: isRequired, size: 'xs' } as const
  const placeholder = defaultValue === undefined ? '' : `Default: ${textOf(defaultValue)}`
  if (kind.type === 'switch') {
    const isOn = typeof entry === 'boolean' ? entry : defaultValue === true
    return (
      <Switch
        label={name}
        description={description}
        size="xs"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  if (kind.type === 'number')
    return (
      <NumberInput
        {...common}
        placeholder={placeholder}
        value={typeof entry === 'number' ? entry : ''}
        onChange={onChange}
        allowDecimal={!kind.isInteger}
        step={kind.isInteger ? 1 : 0.05}
        {...(kind.min === undefined ? {} : { min: kind.min })}
        {...(kind.max === undefined ? {} : { max: kind.max })}
      />
    )
  if (kind.type === 'choice')
    return (
      <Select
        {...common}
        placeholder={placeholder}
        data={[...kind.options]}
        value={typeof entry === 'string' ? entry : null}
        onChange={(value) => onChange(value ?? undefined)}
        clearable
        clearButtonProps={{ 'aria-label': `Reset ${name}` }}
      />
    )
  if (kind.type === 'choices')
    return (
      <MultiSelect
        {...common}
        placeholder={placeholder}
        data={[...kind.options]}
        value={textsOf(entry)}
        onChange={onChange}
      />
    )
  if (kind.type === 'texts')
    return (
      <TagsInput
        {...common}
        placeholder="Type and press Enter"
        value={textsOf(entry)}
        onChange={onChange}
      />
    )
  if (kind.type === 'json')
    return (
      <JsonInput
        {...common}
        placeholder="{ }"
        autosize
        minRows={2}
        value={typeof entry === 'string' ? entry : ''}
        onChange={onChange}
      />
    )
  return (
    <TextInput
      {...common}
      placeholder={placeholder}
      value={typeof entry === 'string' ? entry : ''}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function textsOf(entry: unknown): string[] {
  return Array.isArray(entry) ? entry.map(String) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
