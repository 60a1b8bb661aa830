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
