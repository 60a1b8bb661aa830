import { ApiError, fieldNameOf } from './api-error.ts'

/** The form fields that show the problems of a request, by the name of the field in its body. */
export type FieldNames = Readonly<Record<string, string>>

type FormWithErrors = { readonly setFieldError: (field: string, error: string) => void }

/** Shows each problem of an error at its field. */
export function showFieldErrors(form: FormWithErrors, error: unknown, fields: FieldNames): void {
  if (!(error instanceof ApiError)) return
  for (const { path, message } of error.problems) {
    const field = fields[fieldNameOf(path)]
    if (field !== undefined) form.setFieldError(field, capitalize(message))
  }
}

/** Returns the error unless the fields of the form show all of it. */
export function errorWithoutFields(error: unknown, fields: FieldNames): unknown {
  if (!(error instanceof ApiError) || error.problems.length === 0) return error
  const isShown = error.problems.every(({ path }) => fieldNameOf(path) in fields)
  return isShown ? undefined : error
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
