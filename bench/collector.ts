import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A telemetry collector that discards everything. It runs in a separate process. */
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.(`http://127.0.0.1:${port}`)
})
