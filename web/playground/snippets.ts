/** A call as the playground sends it, but for the bytes of its pictures. */
export type SnippetCall = {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  /** The names of their files, and what is in them. */
  readonly images: readonly { readonly name: string; readonly contentType: string }[]
}

/** The call for a shell, with the pictures read from files of their names. */
export function curlOf(call: SnippetCall, address: string): string {
  const parts = bodyText(call).split(/"<bytes of (\d+)>"/u)
  const body = parts
    .map((part, i) => (i % 2 === 0 ? shellQuote(part) : imageBytesOf(call, Number(part))))
    .join(' ')
  return `printf '%s' ${body} |
  curl -sS ${address}/v1/face/execute \\
    -H "X-Api-Key: $FACEGATE_KEY" -H 'Content-Type: application/json' --data-binary @-`
}

/** The call for Node or any runtime with fetch. */
export function typeScriptOf(call: SnippetCall, address: string): string {
  const body = bodyText(call, 2)
    .replaceAll('\n', '\n  ')
    .replaceAll(
      /"<bytes of (\d+)>"/gu,
      (_whole, i: string) =>
        `(await readFile(${JSON.stringify(imageNameOf(call, Number(i)))})).toString('base64')`,
    )
  return `import { readFile } from 'node:fs/promises'

const response = await fetch('${address}/v1/face/execute', {
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

/** The body, with a place where the bytes of each picture go. */
function bodyText({ action, params, debug, images: pictures }: SnippetCall, indent = 0): string {
  const images = pictures.map(({ contentType }, i) => ({
    kind: 'image',
    contentType,
    bytes: `<bytes of ${i}>`,
  }))
  const body = {
    action,
    params: images.length > 0 ? { images, ...params } : params,
    ...(debug ? { debug } : {}),
  }
  return JSON.stringify(body, undefined, indent)
}

function imageNameOf({ images: pictures }: SnippetCall, i: number): string {
  return pictures[i]?.name ?? 'picture.jpg'
}

function imageBytesOf(call: SnippetCall, i: number): string {
  return `'"'"$(base64 < ${shellQuote(imageNameOf(call, i))} | tr -d '\\n')"'"'`
}

/** For a POSIX shell: nothing within single quotes means anything. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
