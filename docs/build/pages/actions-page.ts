import type { Action } from '../../../src/actions/action.ts'
import { allActions } from '../../../src/actions/all-actions.ts'
import { toJsonSchema, toParamsSchema } from '../../../src/actions/schemas/params-schema.ts'
import { describePermissions } from '../../../src/http/openapi/openapi-schemas.ts'
import { openApiExamples } from '../../../src/http/openapi/components.ts'
import { actionSetupTabs, actionTabs, type ExampleCall } from './action-examples.ts'
import { fieldsTable, type ObjectFields } from './fields-table.ts'
import { markdownTable } from './markdown-table.ts'

/** `docs/reference/actions.md`: every action, out of the record that runs it. */
export function actionsPage(): string {
  return `${[introduction, overview(), setup(), ...allActions.map(section), sharedTypes()].join('\n\n')}\n`
}

const introduction = `# Actions

Generated from the schemas by \`npm run docs\`; do not edit.

Each action is a call of \`POST /v1/face/execute\` with your key in \`X-Api-Key\`. The body has \`action\` and \`params\`, and optionally \`requestId\` (a UUID, for safe retries), \`debug\` and \`validateOnly\` ([validation](gate.md#validation-of-a-call)). Images are in \`params.images\` as base64. A failed action returns HTTP 200 with \`ok: false\`. Each action lists its specific error codes; [errors.md](errors.md) describes all codes. Prices are in units and charged only for \`ok: true\`.`

function overview(): string {
  return markdownTable(
    ['Action', 'Does', 'Price in units'],
    allActions.map((action) => [
      `[\`${action.name}\`](#${action.name.replaceAll('.', '').toLowerCase()})`,
      action.summary,
      priceOf(action),
    ]),
  )
}

function setup(): string {
  return `The examples read a key from \`KEY\` and a picture from \`photo.jpg\`:\n\n${actionSetupTabs()}`
}

function section(action: Action): string {
  const request = openApiExamples()[`${action.name}.request`]
  return [
    `## \`${action.name}\``,
    `${action.summary} Permission ${describePermissions(action)} ([permissions](permissions.md)). Price: ${priceOf(action)}.`,
    `Parameters (\\* required):\n\n${fieldsTable(toParamsSchema(action))}`,
    `\`value\` of each result (\\* always there):\n\n${fieldsTable(toJsonSchema(action.value, 'output'))}`,
    'A call and the `value` of its answer:',
    actionTabs(exampleCallOf(request)),
    jsonBlock(action.example.value),
    `Own errors: ${action.errors.map(errorLink).join(', ')}.`,
  ].join('\n\n')
}

/** The named types that are part of parameters or values. */
function sharedTypes(): string {
  const named = new Map<string, ObjectFields>()
  for (const { params, value } of allActions)
    for (const { $defs } of [toJsonSchema(params, 'input'), toJsonSchema(value, 'output')])
      for (const [name, shape] of Object.entries($defs ?? {}))
        if (!/(?:Params|Value)$/u.test(name)) named.set(name, shape)
  const sections = [...named].map(([name, shape]) => `### ${name}\n\n${fieldsTable(shape)}`)
  return ['## Shapes', 'Parts of parameters and values (\\* always there).', ...sections].join(
    '\n\n',
  )
}

function priceOf({ price }: Action): string {
  const [none, one, two] = [price(0), price(1), price(2)]
  if (two !== one) return `${one} a picture`
  if (price(2, { allImages: true }) !== one) return `${one}, with \`allImages\` ${one} a picture`
  return none === one ? String(one) : `${none}, with a picture ${one}`
}

function errorLink(code: string): string {
  return `[${code}](errors.md#${code.toLowerCase()})`
}

function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``
}

/** Every request of the description has an action and parameters. */
function exampleCallOf(example: unknown): ExampleCall {
  return (example as { readonly value: ExampleCall }).value
}
