import { exampleBlocks } from './example-blocks.ts'

/** A call as the description of the API contains it, with the first bytes of its image. */
export type ExampleCall = {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
}

/** The definitions that the examples of all actions use. */
export function actionSetupTabs(): string {
  return exampleBlocks(
    {
      curl: `export KEY=fsk_live_…`,
      typescript: `import { createClient } from 'facegate-client'

const facegate = createClient({ baseUrl: 'http://127.0.0.1:8080', apiKey: process.env['KEY'] ?? '' })`,
      python: `import os
from facegate import Client

facegate = Client("http://127.0.0.1:8080", os.environ["KEY"])`,
    },
    'the key is your own',
  )
}

/** Returns the call in three languages, as tabs. */
export function actionTabs({ action, params }: ExampleCall): string {
  const { images, subjectId, ...others } = params
  const subject = subjectId === undefined ? {} : { subjectId }
  return exampleBlocks(
    {
      curl: curlOf({ action, params }),
      typescript: typescriptOf(action, { images, subject, others }),
      python: pythonOf(action, { images, subject, others }),
    },
    'test/docs/route-examples.test.ts runs it',
  )
}

type ExampleParts = {
  readonly images: unknown
  readonly subject: Readonly<Record<string, unknown>>
  readonly others: Readonly<Record<string, unknown>>
}

function curlOf({ action, params }: ExampleCall): string {
  const { images, ...others } = params
  const request = `curl -sS http://127.0.0.1:8080/v1/face/execute -H "X-Api-Key: $KEY" \\
    -H 'Content-Type: application/json'`
  if (images === undefined) return `${request} -d '${JSON.stringify({ action, params })}'`
  const image = '{"kind":"image","contentType":"image/jpeg","bytes":"%s"}'
  const fields = [`"images":[${image}]`, JSON.stringify(others).slice(1, -1)].filter(Boolean)
  return `printf '{"action":"${action}","params":{${fields.join(',')}}}' "$(base64 < photo.jpg | tr -d '\\n')" |
  ${request} --data-binary @-`
}

function typescriptOf(action: string, { images, subject, others }: ExampleParts): string {
  const method = action.replace('svc.', '')
  const params = { ...(images === undefined ? {} : subject), ...others }
  const first = images === undefined ? literalOf(subject['subjectId'], "'") : "'photo.jpg'"
  const second = isEmpty(params) ? '' : `, ${literalOf(params, "'")}`
  return `console.log(await facegate.${method}(${first}${second}))`
}

function pythonOf(action: string, { images, subject, others }: ExampleParts): string {
  const method = action
    .replace('svc.', '')
    .replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
  // The client takes a subject as a dictionary where an image is the first argument.
  const positional =
    images === undefined
      ? Object.values(subject)
      : ['photo.jpg', ...(isEmpty(subject) ? [] : [subject])]
  const keywords = Object.entries(others).map(([name, value]) => `${name}=${literalOf(value, '"')}`)
  const args = [...positional.map((value) => literalOf(value, '"')), ...keywords]
  return `print(facegate.${method}(${args.join(', ')}))`
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

/** Returns a value of an example as a literal: of TypeScript with single quotes, else of Python. */
function literalOf(value: unknown, quote: string): string {
  if (typeof value === 'string') return `${quote}${value}${quote}`
  if (Array.isArray(value)) return `[${value.map((item) => literalOf(item, quote)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${quote === "'" ? name : `"${name}"`}: ${literalOf(field, quote)}`,
  )
  return quote === "'" ? `{ ${fields.join(', ')} }` : `{${fields.join(', ')}}`
}
