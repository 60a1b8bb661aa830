// Serves the kiosk: a person passes a liveness session and is then identified.
//   FACEGATE_KEY=fsk_live_... node server.mjs
import { createClient } from 'facegate-client'
import { readSetting, servePage } from '../serve-page.mjs'

const service = readSetting('FACEGATE_URL', 'http://127.0.0.1:8080')
const group = readSetting('GROUP', 'visitors')
// The API key stays in this process. The page in the browser has the token of one session.
const facegate = createClient({ baseUrl: service, apiKey: readSetting('FACEGATE_KEY') })

const routes = {
  'POST /session': () => facegate.livenessSessions.create(),
  // The session takes the place of the image: its reference frame shows the person who passed it. A
  // session that was not passed, or was used before, is an error.
  'POST /check-in': async (query) => {
    const search = { livenessSessionId: query.get('session'), groups: [group] }
    const { results } = await facegate.execute('svc.identify', search)
    const { bestMatch } = results[0].value
    if (bestMatch) console.log(new Date().toISOString(), bestMatch.externalId)
    return { name: bestMatch && (bestMatch.displayName ?? bestMatch.externalId) }
  },
}
servePage({ folder: import.meta.url, service, routes })
