import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ServedFile = {
  readonly bytes: Uint8Array
  readonly etag?: string
  /** Closes the connection when the client has received this number of bytes; one entry per response. */
  readonly disconnectAfterBytes?: number[]
  /** Returns these statuses instead of the file; one entry per request. */
  readonly statuses?: number[]
  readonly redirect?: string
  /** Whether the server supports range requests; true by default. */
  readonly isRangeSupported?: boolean
  /** Sends everything except the last byte and keeps the connection open. */
  readonly isStalledAtEnd?: boolean
  readonly isLengthOmitted?: boolean
}

export type ModelServer = AsyncDisposable & {
  readonly url: (name: string) => string
  /** The served files by path without the leading slash. Tests can change them. */
  readonly files: Map<string, ServedFile>
  /** The test reports the received bytes, so that no data in transit is lost by a disconnect. */
  readonly reportReceivedBytes: (bytes: number) => void
  /** `path range` of each request. */
  readonly requests: string[]
}

/** Starts an HTTP server for model files on this machine. */
export async function startModelServer(
  files: Readonly<Record<string, ServedFile>>,
): Promise<ModelServer> {
  const served = new Map(Object.entries(files))
  const requests: string[] = []
  let pending: PendingDisconnect | undefined
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    requests.push(`${name} ${request.headers.range ?? ''}`.trim())
    const file = served.get(name)
    if (file) pending = sendFile(file, request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    files: served,
    requests,
    reportReceivedBytes: (bytes) => {
      if (pending && bytes >= pending.atBytes) pending.response.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A response that is aborted when the client has received `atBytes` bytes of the file. */
type PendingDisconnect = { readonly response: ServerResponse; readonly atBytes: number }

function sendFile(
  file: ServedFile,
  request: IncomingMessage,
  response: ServerResponse,
): PendingDisconnect | undefined {
  const { bytes, etag, isRangeSupported = true } = file
  const range = /^bytes=(\d+)-$/u.exec(request.headers.range ?? '')
  const isSame = etag === undefined || request.headers['if-range'] === etag
  const start = range && isRangeSupported && isSame ? Number(range[1]) : 0
  const rest = Buffer.from(bytes.subarray(start))
  const status = file.statuses?.shift() ?? (start > 0 && rest.length === 0 ? 416 : undefined)
  const cut = file.disconnectAfterBytes?.shift()
  if (status !== undefined) response.writeHead(status).end()
  else if (file.redirect !== undefined) response.writeHead(302, { location: file.redirect }).end()
  else {
    response.writeHead(start > 0 ? 206 : 200, {
      ...(etag !== undefined && { etag }),
      ...(start > 0 && { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
      ...(file.isLengthOmitted !== true && { 'content-length': rest.length }),
    })
    if (cut !== undefined) response.write(rest.subarray(0, cut))
    else if (file.isStalledAtEnd === true) response.write(rest.subarray(0, -1))
    else response.end(rest)
  }
  return cut === undefined ? undefined : { response, atBytes: start + cut }
}
