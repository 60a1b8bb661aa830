// Serves the kiosk: a person passes a liveness session and is then identified.
//   FACEGATE_KEY=fsk_live_... node server.mjs
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createClient, FacegateError } from 'facegate-client'

const {
  FACEGATE_URL = 'http://127.0.0.1:8080',
  FACEGATE_KEY = '',
  GROUP = 'visitors',
  PORT = '3000',
} = process.env
// The API key stays in this process. The page in the browser has no key.
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
    request.url === '/session'
      ? await facegate.livenessSessions.create({ steps: 3 })
      : await checkIn(request)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
}

/** Ten frames of the component have about 1.5 MB. */
const bodyBytesMax = 20_000_000

/** Returns the result of the session and, if it was passed, the enrolled person. */
async function checkIn(request) {
  if (!(Number(request.headers['content-length']) <= bodyBytesMax)) throw new Error('too large')
  const form = await new Response(request, { headers: request.headers }).formData()
  const frames = form.getAll('frame')
  try {
    const livenessSessionId = form.get('sessionId')
    const { live, reasons, challenge } = await facegate.sendLivenessFrames(
      livenessSessionId,
      frames,
    )
    if (!live) return { live, reasons, causes: challenge.causes }
    // The session takes the place of the image: its reference frame shows the person who passed it.
    const search = { livenessSessionId, groups: [GROUP] }
    const { results } = await facegate.execute('svc.identify', search)
    const { bestMatch } = results[0].value
    if (bestMatch) console.log(new Date().toISOString(), bestMatch.externalId)
    return { live, reasons, name: bestMatch && (bestMatch.displayName ?? bestMatch.externalId) }
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
