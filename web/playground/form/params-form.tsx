import { Stack } from '@mantine/core'
import { FieldInput } from './field-input.tsx'
import type { FormField } from './form-fields.ts'
import { requiredText, type FormEntries, type ParsedParams } from './parse-params.ts'

type Props = {
  readonly fields: readonly FormField[]
  readonly entries: FormEntries
  readonly problems: ParsedParams['problems']
  readonly onChange: (entries: FormEntries) => void
}

/** The form for the parameters of an action. */
export function ParamsForm({ fields, entries, problems, onChange }: Props) {
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          entry={entries[field.name]}
          error={visibleErrorOf(problems[field.name])}
          onChange={(entry) => onChange({ ...entries, [field.name]: entry })}
        />
      ))}
    </Stack>
  )
}

/** An empty required field shows no error: the Run button is disabled instead. */
function visibleErrorOf(problem: string | undefined): string | undefined {
  return problem === requiredText ? undefined : problem
}
