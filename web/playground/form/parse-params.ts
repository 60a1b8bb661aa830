import type { FormField } from './form-fields.ts'

/** The values of the form fields by parameter name. Empty values are not sent. */
export type FormEntries = Readonly<Record<string, unknown>>

/** The error text of an empty required field. */
export const requiredText = 'Required'

export type ParsedParams = {
  readonly params: Readonly<Record<string, unknown>>
  /** The error text of each invalid field, by parameter name. */
  readonly problems: Readonly<Record<string, string>>
}

/** Returns the parameters to send. Default values are omitted: the server applies them. */
export function parseParams(fields: readonly FormField[], entries: FormEntries): ParsedParams {
  const params: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const entry = entries[field.name]
    if (isEmpty(entry)) {
      if (field.isRequired) problems[field.name] = requiredText
      continue
    }
    try {
      const value = parseEntry(field, entry)
      if (value !== field.defaultValue) params[field.name] = value
    } catch {
      problems[field.name] = 'Enter a JSON object'
    }
  }
  return { params, problems }
}

function isEmpty(entry: unknown): boolean {
  return entry === undefined || entry === '' || (Array.isArray(entry) && entry.length === 0)
}

/** @throws SyntaxError if the text of a JSON field is not JSON. */
function parseEntry({ kind, defaultValue }: FormField, entry: unknown): unknown {
  if (kind.type === 'json') return JSON.parse(String(entry))
  // This text is a number or `auto`, such as a threshold.
  const mayBeNumber = kind.type === 'text' && defaultValue === 'auto'
  if (mayBeNumber && Number.isFinite(Number(entry))) return Number(entry)
  return entry
}
