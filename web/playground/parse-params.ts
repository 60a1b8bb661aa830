import type { FormField } from './form-fields.ts'

/** What stands in the form, by the names of the parameters. Empty means: not sent. */
export type FormEntries = Readonly<Record<string, unknown>>

export type ParsedParams = {
  readonly params: Readonly<Record<string, unknown>>
  /** What cannot be sent, by the names of the parameters. */
  readonly problems: Readonly<Record<string, string>>
}

/** The parameters as they are sent: defaults are left to the server. */
export function parseParams(fields: readonly FormField[], entries: FormEntries): ParsedParams {
  const params: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const entry = entries[field.name]
    if (isEmpty(entry)) {
      if (field.isRequired) problems[field.name] = 'Needed'
      continue
    }
    try {
      const value = parseEntry(field, entry)
      if (value !== field.defaultValue) params[field.name] = value
    } catch {
      problems[field.name] = 'No JSON object'
    }
  }
  return { params, problems }
}

function isEmpty(entry: unknown): boolean {
  return entry === undefined || entry === '' || (Array.isArray(entry) && entry.length === 0)
}

/** @throws SyntaxError when a JSON field holds no JSON. */
function parseEntry({ kind, defaultValue: fallback }: FormField, entry: unknown): unknown {
  if (kind.type === 'json') return JSON.parse(String(entry))
  // A text that may also be a number, such as a threshold or `auto`.
  const mayBeNumber = kind.type === 'text' && fallback === 'auto'
  if (mayBeNumber && Number.isFinite(Number(entry))) return Number(entry)
  return entry
}
