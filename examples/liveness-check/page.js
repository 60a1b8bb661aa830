import { runLivenessCheck } from '/liveness/index.js'

const post = async (url, init, signal) => {
  const response = await fetch(url, { ...init, method: 'POST', signal })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return response.json()
}

const outcome = await runLivenessCheck({
  container: document.querySelector('#check'),
  createSession: (signal) => post('/session', {}, signal),
  submitFrames: (session, frames, signal) => {
    const body = new FormData()
    body.set('sessionId', session.sessionId)
    for (const frame of frames) body.append('frame', frame, 'frame.jpg')
    return post('/check', { body }, signal)
  },
  onProblem: (error) => console.warn(error.problem, error.cause),
})
document.querySelector('#result').textContent =
  outcome.status === 'passed' ? 'Welcome.' : 'The check was closed.'
