// Serves the page of the liveness check and passes its calls on to Facegate. The API key stays here.
//   FACEGATE_URL=http://127.0.0.1:8080 FACEGATE_KEY=fsk_live_... node server.mjs
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createClient, FacegateError } from 'facegate-client'

const { FACEGATE_URL = 'http://127.0.0.1:8080', FACEGATE_KEY = '', PORT = '3000' } = process.env
const facegate = createClient({ baseUrl: FACEGATE_URL, apiKey: FACEGATE_KEY })

const server = createServer((request, response) => {
  const respond = request.method === 'POST' ? postJson : getFile
  respond(request, response).catch((error) => {
    console.error(error)
    response.writeHead(502).end()
  })
})
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`Open http://127.0.0.1:${server.address().port}`),
)

async function postJson(request, response) {
  const result =
    request.url === '/session' ? await facegate.livenessSessions.create() : await check(request)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
}

/** Ten frames of the component have about 1.5 MB. */
const bodyBytesMax = 20_000_000

async function check(request) {
  if (!(Number(request.headers['content-length']) <= bodyBytesMax)) throw new Error('too large')
  const form = await new Response(request, { headers: request.headers }).formData()
  try {
    const frames = form.getAll('frame')
    const value = await facegate.sendLivenessFrames(form.get('sessionId'), frames)
    // After a passed session, svc.identify or svc.enroll takes the session in place of an image.
    return { live: value.live, reasons: value.reasons, causes: value.challenge.causes }
  } catch (error) {
    if (error instanceof FacegateError) return { live: false, reasons: [error.code] }
    throw error
  }
}

async function getFile({ url = '/' }, response) {
  // The component has no dependencies: its files can be served as they are.
  const name = /^\/liveness\/([a-z-]+\.js)$/u.exec(url)?.[1]
  const file = name
    ? new URL(name, import.meta.resolve('facegate-client/liveness'))
    : new URL(url === '/page.js' ? 'page.js' : 'index.html', import.meta.url)
  const content = await readFile(file)
  const type = file.pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
  response.writeHead(200, { 'content-type': type }).end(content)
}
