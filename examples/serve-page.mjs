// Serves the page of an example, the files of the camera component and the routes of the example.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

/** Returns an environment variable. An empty one counts as absent. */
export const readSetting = (name, absent = '') => process.env[name]?.trim() || absent

/**
 * Listens on PORT of the loopback address; 0 is a free port.
 *
 * @param folder URL of the folder with index.html and page.js.
 * @param service address of Facegate for browsers: it replaces the one in index.html.
 * @param routes `POST /name` → a function of the query that returns the JSON response.
 */
export function servePage({ folder, service, routes }) {
  const port = readPort()
  const respond = async ({ method, url }) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const route = routes[`${method} ${pathname}`]
    if (route) return ['application/json', JSON.stringify(await route(searchParams))]
    if (pathname === '/page.js')
      return ['text/javascript', await readFile(new URL('page.js', folder))]
    // The component has no dependencies: its files can be served as they are.
    const name = /^\/liveness\/([a-z-]+\.js)$/u.exec(pathname)?.[1]
    if (name) {
      const component = new URL(name, import.meta.resolve('facegate-client/liveness'))
      return ['text/javascript', await readFile(component)]
    }
    const page = await readFile(new URL('index.html', folder), 'utf8')
    return ['text/html; charset=utf-8', page.replace('http://127.0.0.1:8080', service)]
  }
  const server = createServer((request, response) => {
    respond(request).then(
      ([type, content]) => response.writeHead(200, { 'content-type': type }).end(content),
      (error) => {
        console.error(error)
        response.writeHead(502).end()
      },
    )
  })
  server.listen(port, '127.0.0.1', () =>
    console.log(`Open http://127.0.0.1:${server.address().port}`),
  )
}

function readPort() {
  const text = readSetting('PORT', '3000')
  if (!/^\d{1,5}$/u.test(text) || Number(text) > 65_535) {
    console.error('PORT must be a whole number from 0 to 65535: set 3000, or remove it')
    process.exit(1)
  }
  return Number(text)
}
