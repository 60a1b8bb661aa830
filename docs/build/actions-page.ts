import type { z } from 'zod'
import type { Action } from '../../src/actions/action.ts'
import { allActions } from '../../src/actions/all.ts'
import { jsonSchemaOf } from '../../src/actions/json-schema.ts'
import { paramsOf } from '../../src/actions/params-of.ts'
import { kindOf } from '../../src/http/kind-of.ts'
import { openExamples } from '../../src/http/openapi-examples.ts'
import { table } from './table.ts'

type FieldSchema = z.core.JSONSchema.JSONSchema

/** `docs/actions.md`: every action, out of the record that runs it. */
export function actionsPage(): string {
  return `${[introduction, overview(), ...allActions.map(section)].join('\n\n')}\n`
}

const introduction = `# Actions

Made of the schemas by \`npm run docs\`; do not edit.

Each is a call of \`POST /v1/face/execute\` with your key in \`X-Api-Key\`. Every body has \`action\` and \`params\`, and if you like \`requestId\` (a UUID, for safe retries) and \`debug\`. Pictures stand in \`params.images\` as base64. An action that failed is HTTP 200 with \`ok: false\`; the codes of all actions are in [errors.md](errors.md), those listed here are the action's own. Prices are in units, charged only for \`ok: true\`.`

function overview(): string {
  return table(
    ['Action', 'Does', 'Price in units'],
    allActions.map((action) => [
      `[\`${action.name}\`](#${action.name.replaceAll('.', '').toLowerCase()})`,
      action.summary,
      priceOf(action),
    ]),
  )
}

function section(action: Action): string {
  const { properties, required } = paramsOf(action)
  const request = openExamples()[`${action.name}.request`]
  const { properties: answered = {}, required: always = [] } = jsonSchemaOf(action.value, 'output')
  return [
    `## \`${action.name}\``,
    `${action.summary} Permission \`${action.name}\` ([permissions](permissions.md)). Price: ${priceOf(action)}.`,
    `Parameters (\\* required):\n\n${fields(properties, (name) => required.includes(name))}`,
    `\`value\` of each result (\\* always there):\n\n${fields(answered, (name) => always.includes(name))}`,
    `A call, its picture cut to the first bytes, and the \`value\` of an answer:`,
    json(valueOf(request)),
    json(action.example.value),
    `Own errors: ${action.errors.map(linkTo).join(', ')}.`,
  ].join('\n\n')
}

function fields(
  properties: Readonly<Record<string, FieldSchema | boolean>>,
  isMarked: (name: string) => boolean,
): string {
  const rows = Object.entries(properties).map(([name, is]) => {
    const field = typeof is === 'object' ? is : {}
    const fallback = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``
    const says = [field.description ?? '', fallback && `Default: ${fallback}.`]
    return [
      `\`${name}\`${isMarked(name) ? String.raw` \*` : ''}`,
      `\`${kindOf(field)}\``,
      says.filter(Boolean).join(' '),
    ]
  })
  return table(['Field', 'Type', 'Meaning'], rows)
}

function priceOf({ price }: Action): string {
  const [none, one, two] = [price(0), price(1), price(2)]
  if (two !== one) return `${one} a picture`
  return none === one ? String(one) : `${none}, with a picture ${one}`
}

function linkTo(code: string): string {
  return `[${code}](errors.md#${code.toLowerCase()})`
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``
}

function valueOf(example: unknown): unknown {
  return typeof example === 'object' && example !== null && 'value' in example
    ? example.value
    : undefined
}
