import { allActions } from '../../../src/actions/all-actions.ts'
import { errorResponseTable } from '../../../src/http/openapi/components.ts'
import { errorTable, problemsMax } from '../../../src/lib/errors.ts'
import { markdownTable } from './markdown-table.ts'

/** Returns `docs/reference/errors.md`: every code and status, from the tables that the service uses. */
export function errorsPage(): string {
  const codes = Object.entries(errorTable)
  return `${[
    introduction,
    itemFields,
    markdownTable(
      ['Code', 'HTTP', 'What to do'],
      codes.map(([code, { status, remedy }]) => [
        `[${code}](#${code.toLowerCase()})`,
        String(status),
        remedy,
      ]),
    ),
    ...codes.map(([code, { status, condition, remedy }]) =>
      [`## ${code}`, `HTTP ${status}. ${condition}`, `**What to do:** ${remedy}`, returnedBy(code)]
        .filter(Boolean)
        .join('\n\n'),
    ),
    '## Statuses without an envelope',
    'Their body is `{"detail": "…"}`. The REST routes return all errors in this form.',
    markdownTable(
      ['HTTP', 'When'],
      Object.entries(errorResponseTable).map(([status, { description }]) => [status, description]),
    ),
  ].join('\n\n')}\n`
}

const itemFields = `An item of \`errors[]\` has these fields; all but the first two are absent where they do not apply:

| Field | Content |
|---|---|
| \`code\` | one of the codes below |
| \`message\` | the location, the rule and what was received instead. Of the request it repeats only numbers, the names of fields, of groups and of permissions, and media types. Any other text is described by its type or length |
| \`path\` | JSON path of the parameter: \`params.images[1].bytes\`; a name that is no identifier is quoted: \`params["a name"]\` |
| \`imageIndex\` | the image with the error |
| \`correlationId\` | that of the image with the error. An error that is found before the parameters are read and concerns no image, such as FORBIDDEN or an unknown action, carries that of the first image, if the request has one |
| \`subjectId\` | the subject that the error concerns |
| \`hint\` | one sentence: what to change in this action; the table below contains the general remedy of each code |

Every invalid parameter is one item. With more than ${problemsMax} problems, the last of ${problemsMax} items counts the others. Malformed JSON returns HTTP 400 with the line and the column in \`detail\`.`

const introduction = `# Errors

Generated from the error table by \`npm run docs\`; do not edit.

Branch on \`ok\`, then on \`errors[].code\`; messages are for people and may change. HTTP 200 means that the code is in the envelope. Failed calls are not charged. Retry only RATE_LIMITED, 408, 429, 502, 503, 504 and broken connections, with the same \`requestId\`.`

/** Codes that no action lists are returned by the gate. */
function returnedBy(code: string): string {
  const names = allActions
    .filter(({ errors }) => errors.some((actionCode) => actionCode === code))
    .map(({ name }) => `\`${name}\``)
  if (names.length === 0) return ''
  return names.length === allActions.length
    ? 'Returned by every action.'
    : `Returned by ${names.join(', ')}.`
}
