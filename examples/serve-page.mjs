// Serves the page of an example, the files of the camera component and the routes of the example.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

/**
 * @param folder URL of the folder with index.html and page.js.
 * @param service address of Facegate for browsers: it replaces the one in index.html.
 * @param routes `POST /name` → a function of the query that returns the JSON response.
 */
export function servePage({ folder, service, routes, port }) {
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
  server.listen(Number(port), '127.0.0.1', () =>
    console.log(`Open http://127.0.0.1:${server.address().port}`),
  )
}
