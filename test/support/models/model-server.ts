import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ServedFile = {
  readonly bytes: Uint8Array
  readonly etag?: string
  /** Cuts the connection after so many bytes, once they are received: the first answers, one each. */
  readonly disconnectAfterBytes?: number[]
  /** Answers so instead, for the first requests, one each. */
  readonly statuses?: number[]
  readonly redirect?: string
  /** Whether it knows how to send a part of a file. */
  readonly isRangeSupported?: boolean
  /** Sends all but the last byte, and then nothing any more. */
  readonly isStalledAtEnd?: boolean
  readonly isLengthOmitted?: boolean
}

export type ModelServer = AsyncDisposable & {
  readonly url: (name: string) => string
  /** What is served, by path without the slash; may be changed. */
  readonly files: Map<string, ServedFile>
  /** To be told of what has come, so that nothing that is on the way is lost by a cut. */
  readonly reportReceivedBytes: (bytes: number) => void
  /** `path range` of each request. */
  readonly requests: string[]
}

/** A source of models on this machine. */
export async function startModelServer(
  files: Readonly<Record<string, ServedFile>>,
): Promise<ModelServer> {
  const served = new Map(Object.entries(files))
  const asked: string[] = []
  let hanging: PendingDisconnect | undefined
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    asked.push(`${name} ${request.headers.range ?? ''}`.trim())
    const file = served.get(name)
    if (file) hanging = sendFile(file, request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    files: served,
    requests: asked,
    reportReceivedBytes: (bytes) => {
      if (hanging && bytes >= hanging.atBytes) hanging.response.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An answer that is cut when so many bytes of the file have come. */
type PendingDisconnect = { readonly response: ServerResponse; readonly atBytes: number }

function sendFile(
  file: ServedFile,
  request: IncomingMessage,
  response: ServerResponse,
): PendingDisconnect | undefined {
  const { bytes, etag, isRangeSupported: ranges = true } = file
  const wanted = /^bytes=(\d+)-$/u.exec(request.headers.range ?? '')
  const isSame = etag === undefined || request.headers['if-range'] === etag
  const from = wanted && ranges && isSame ? Number(wanted[1]) : 0
  const rest = Buffer.from(bytes.subarray(from))
  const status = file.statuses?.shift() ?? (from > 0 && rest.length === 0 ? 416 : undefined)
  const cut = file.disconnectAfterBytes?.shift()
  if (status !== undefined) response.writeHead(status).end()
  else if (file.redirect !== undefined) response.writeHead(302, { location: file.redirect }).end()
  else {
    response.writeHead(from > 0 ? 206 : 200, {
      ...(etag !== undefined && { etag }),
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
      ...(file.isLengthOmitted !== true && { 'content-length': rest.length }),
    })
    if (cut !== undefined) response.write(rest.subarray(0, cut))
    else if (file.isStalledAtEnd === true) response.write(rest.subarray(0, -1))
    else response.end(rest)
  }
  return cut === undefined ? undefined : { response, atBytes: from + cut }
}
