import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A collector that throws everything away, as a process of its own. */
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.(`http://127.0.0.1:${port}`)
})
