// Creates liveness sessions for the page and reads their results. The API key stays here.
//   FACEGATE_URL=http://127.0.0.1:8080 FACEGATE_KEY=fsk_live_... node server.mjs
import { createClient } from 'facegate-client'
import { readSetting, servePage } from '../serve-page.mjs'

const service = readSetting('FACEGATE_URL', 'http://127.0.0.1:8080')
const apiKey = readSetting('FACEGATE_KEY')
const { livenessSessions } = createClient({ baseUrl: service, apiKey })

const routes = {
  'POST /session': () => livenessSessions.create(),
  // Everyone can change a page: the server reads the result from the service.
  'POST /entrance': async (query) => {
    const { state } = await livenessSessions.get(query.get('session'))
    return { text: state === 'passed' ? 'Welcome.' : 'The check was not passed.' }
  },
}
servePage({ folder: import.meta.url, service, routes })
