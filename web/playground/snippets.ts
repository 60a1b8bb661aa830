/** A call of the playground without the bytes of its images. */
export type SnippetCall = {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  /** The file name and content type of each image. */
  readonly images: readonly { readonly name: string; readonly contentType: string }[]
}

/** Returns the call as a shell command with curl. The command reads the images from files. */
export function curlOf(call: SnippetCall, baseUrl: string): string {
  const parts = bodyText(call).split(/"<bytes of (\d+)>"/u)
  const body = parts
    .map((part, index) => (index % 2 === 0 ? shellQuote(part) : imageBytesOf(call, Number(part))))
    .join(' ')
  return `printf '%s' ${body} |
  curl -sS ${baseUrl}/v1/face/execute \\
    -H "X-Api-Key: $FACEGATE_KEY" -H 'Content-Type: application/json' --data-binary @-`
}

/** Returns the call as TypeScript, for Node or any runtime with fetch. */
export function typeScriptOf(call: SnippetCall, baseUrl: string): string {
  const body = bodyText(call, 2)
    .replaceAll('\n', '\n  ')
    .replaceAll(
      /"<bytes of (\d+)>"/gu,
      (_match, index: string) =>
        `(await readFile(${JSON.stringify(imageNameOf(call, Number(index)))})).toString('base64')`,
    )
  return `import { readFile } from 'node:fs/promises'

const response = await fetch('${baseUrl}/v1/face/execute', {
  method: 'POST',
  headers: {
    'X-Api-Key': process.env.FACEGATE_KEY ?? '',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${body}),
})
const { ok, data, errors } = await response.json()
console.log(ok ? data.results : errors)`
}

/** Returns the call as Python 3, with its standard library only. */
export function pythonOf(call: SnippetCall, baseUrl: string): string {
  const body = toPython(JSON.parse(bodyText(call)), 0).replaceAll(
    /"<bytes of (\d+)>"/gu,
    (_match, index: string) => `read_image(${toPython(imageNameOf(call, Number(index)), 0)})`,
  )
  const reader =
    call.images.length === 0
      ? ''
      : `

def read_image(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()

`
  return `${reader === '' ? '' : 'import base64\n'}import json
import os
import urllib.request
${reader}
request = urllib.request.Request(
    "${baseUrl}/v1/face/execute",
    data=json.dumps(${body}).encode(),
    headers={
        "X-Api-Key": os.environ["FACEGATE_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    result = json.load(response)
print(json.dumps(result["data"]["results"] if result["ok"] else result["errors"], indent=2))`
}

/** Formats a JSON value as a Python literal. */
function toPython(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth + 1)
  const end = `\n${'    '.repeat(depth)}`
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  // The escapes of JSON texts are also escapes of Python, except surrogate pairs: they are not escaped.
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}${toPython(item, depth + 1)},\n`)
    return items.length === 0 ? '[]' : `[\n${items.join('').trimEnd()}${end}]`
  }
  const entries = Object.entries(value).map(
    ([name, item]) => `${indent}${JSON.stringify(name)}: ${toPython(item, depth + 1)},\n`,
  )
  return entries.length === 0 ? '{}' : `{\n${entries.join('').trimEnd()}${end}}`
}

/** Returns the request body as JSON, with a placeholder for the bytes of each image. */
function bodyText({ action, params, debug, images }: SnippetCall, indent = 0): string {
  const imageItems = images.map(({ contentType }, index) => ({
    kind: 'image',
    contentType,
    bytes: `<bytes of ${index}>`,
  }))
  const body = {
    action,
    params: imageItems.length > 0 ? { images: imageItems, ...params } : params,
    ...(debug ? { debug } : {}),
  }
  return JSON.stringify(body, undefined, indent)
}

function imageNameOf({ images }: SnippetCall, index: number): string {
  return images[index]?.name ?? 'image.jpg'
}

function imageBytesOf(call: SnippetCall, index: number): string {
  return `'"'"$(base64 < ${shellQuote(imageNameOf(call, index))} | tr -d '\\n')"'"'`
}

/** Quotes a text for a POSIX shell. No character is special inside single quotes. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
