import { allActions } from '../../src/actions/all-actions.ts'
import { errorResponseTable } from '../../src/http/openapi/components.ts'
import { errorTable } from '../../src/lib/errors.ts'
import { markdownTable } from './markdown-table.ts'

/** `docs/reference/errors.md`: every code and every status, out of the tables that answer them. */
export function errorsPage(): string {
  const codes = Object.entries(errorTable)
  return `${[
    introduction,
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
    'Their body is `{"detail": "…"}`. The routes beside the actions answer everything in this way.',
    markdownTable(
      ['HTTP', 'When'],
      Object.entries(errorResponseTable).map(([status, { description: when }]) => [status, when]),
    ),
  ].join('\n\n')}\n`
}

const introduction = `# Errors

Made of the error table by \`npm run docs\`; do not edit.

Branch on \`ok\`, then on \`errors[].code\`; messages are for people and may change. HTTP 200 means that the code stands in the envelope. No failed call is charged. Try again, under the same \`requestId\`, only RATE_LIMITED, 408, 429, 502, 503, 504 and broken connections.`

/** Codes that no action has of its own come from the gate. */
function returnedBy(code: string): string {
  const names = allActions
    .filter(({ errors }) => errors.some((own) => own === code))
    .map(({ name }) => `\`${name}\``)
  if (names.length === 0) return ''
  return names.length === allActions.length ? 'Of every action.' : `Of ${names.join(', ')}.`
}
